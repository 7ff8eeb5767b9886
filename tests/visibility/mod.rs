//! Visibility of child records follows that of their parents, in the API and the panel, for the owner of a folder,
//! another user and an administrator.

mod access;
mod events;
mod lists;

use serde_json::{Value, json};

use crate::support::{Client, Folders};

/// Another one's note, and what refers to it; a client for each of those who ask.
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

/// The text by which the hidden note is known.
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

    /// Those who ask, with whether they see the note.
    pub fn callers(&self) -> [(&'static str, &Client, bool); 3] {
        [("owner", &self.owner, true), ("stranger", &self.stranger, false), ("administrator", &self.admin, true)]
    }

    pub fn path(&self) -> String {
        format!("/folders/{}/notes/{}", self.folder["id"], self.note["id"])
    }
}

/// Uploads a small file that is to hang on the note.
pub async fn attach(client: &Client, note: &Value) -> crate::support::Answer {
    let form = crate::routes::attachments::Form::default();
    let form = form.field("attachable_type", "Note").field("attachable_id", &note["id"]);
    form.file("plan.txt", b"left of the door").send(client).await
}
