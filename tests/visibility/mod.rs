//! Visibility of child records, which follows their parent: all endpoints of the API and pages of the panel, as owner
//! of a folder, as another user and as administrator.

mod endpoints;
mod lists;
mod row_rules;
mod webhooks;

use serde_json::{Value, json};

use crate::support::{Client, Folders};

/// A note of the owner with everything that refers to it, and a client for each kind of caller.
pub struct World {
    pub server: Folders,
    pub admin: Client,
    pub owner: Client,
    pub stranger: Client,
    pub owner_user: Value,
    pub stranger_user: Value,
    pub folder: Value,
    pub note: Value,
    pub attachment: Value,
    pub link: Value,
    pub pin: Value,
}

/// Text of the hidden note.
pub const SECRET: &str = "The safe is behind the mirror";

impl World {
    pub async fn new(server: Folders) -> World {
        let admin = server.admin();
        let (owner_user, owner) = server.user(&["audit.read"], &["*"]).await;
        let (stranger_user, stranger) = server.user(&["audit.read"], &["*"]).await;
        let folder = owner.post("/folders", json!({ "name": "Private" })).await.created("folder");
        let path = format!("/folders/{}/notes", folder["id"]);
        let note = json!({ "body": SECRET, "marks": [{ "word": "mirror" }] });
        let note = owner.post(&path, note).await.created("note");
        let attachment = attach(&owner, &note).await.created("attachment");
        let link = owner.post("/links", json!({ "note_id": note["id"] })).await.created("link");
        let pin = json!({
            "subject_type": "Note", "subject_id": note["id"], "note_ids": [note["id"]], "file_id": attachment["id"],
            "mark_id": note["marks"][0]["id"], "quote": SECRET,
        });
        let pin = owner.post("/pins", pin).await.created("pin");
        World { server, admin, owner, stranger, owner_user, stranger_user, folder, note, attachment, link, pin }
    }

    /// Callers and whether they see the note.
    pub fn callers(&self) -> [(&'static str, &Client, bool); 3] {
        [("owner", &self.owner, true), ("stranger", &self.stranger, false), ("administrator", &self.admin, true)]
    }

    pub fn path(&self) -> String {
        format!("/folders/{}/notes/{}", self.folder["id"], self.note["id"])
    }
}

/// Uploads a small file to the note.
pub async fn attach(client: &Client, note: &Value) -> crate::support::Answer {
    let form = crate::routes::attachments::Form::default();
    let form = form.field("attachable_type", "Note").field("attachable_id", &note["id"]);
    form.file("plan.txt", b"left of the door").send(client).await
}
