//! Fixture of resources whose visibility depends on others: folders with an owner, notes in them, links to notes and
//! pins.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::{DateTimeUtc, Json};

use super::custom_app::own_fixture;
use super::server::nothing;

/// Visible to its owner and administrators only.
pub mod folder {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "folder", owner = "user_id", events, soft_delete)]
    pub struct Model {
        pub id: i64,
        #[field(string(255), required)]
        pub name: String,
        #[field(reference("user"), default_caller)]
        pub user_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        #[field(internal)]
        pub deleted_at: Option<DateTimeUtc>,
    }
}

/// A note in a folder.
pub mod note {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "note", ability = "folders", attachments, events)]
    #[resource(under(resource = "folder", field = "folder_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("folder"), required)]
        pub folder_id: i64,
        #[field(text, required)]
        #[embedded("marks", resource = "mark", by = "note_id")]
        pub body: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// Embedded in a note, without a path of its own.
pub mod mark {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "mark", operations())]
    pub struct Model {
        pub id: i64,
        #[field(reference("note"), required)]
        pub note_id: i64,
        #[field(string(255), required)]
        pub word: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// Visible to everybody, with a reference to a note.
pub mod link {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "link", include(name = "note", via = "note_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("note"), required)]
        pub note_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// References notes in every other way, and their links and embedded records.
pub mod pin {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "pin", include(name = "subject", via = "subject_id"), include(name = "file", via = "file_id"))]
    #[resource(include(name = "mark", via = "mark_id"))]
    pub struct Model {
        pub id: i64,
        #[field(polymorphic_type("note", "link"))]
        pub subject_type: Option<String>,
        #[field(polymorphic_id(type_field = "subject_type"))]
        pub subject_id: Option<i64>,
        #[field(ref_list("note"))]
        pub note_ids: Option<Json>,
        #[field(reference("attachment"))]
        pub file_id: Option<i64>,
        #[field(reference("mark"))]
        pub mark_id: Option<i64>,
        #[field(text, exists = "note.body")]
        pub quote: Option<String>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with these resources.
    Folders, "folders", routes(Route::of::<folder::Entity>()), nothing
}

/// Folders of one kind, and what is in them.
fn routes(folders: Route) -> [Route; 5] {
    let (notes, marks) = (Route::of::<note::Entity>(), Route::of::<mark::Entity>());
    [folders, notes, marks, Route::of::<link::Entity>(), Route::of::<pin::Entity>()]
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let times = || [timestamp("created_at"), timestamp("updated_at")];
        let make = async |table: &str, columns: Vec<Column>| {
            Table::on(manager, table).create([id()].into_iter().chain(columns).chain(times())).await
        };
        let deleted = timestamp("deleted_at").nullable();
        make("folders", vec![string("name", 255), reference("user_id", "users"), deleted]).await?;
        make("notes", vec![reference("folder_id", "folders"), text("body")]).await?;
        make("marks", vec![reference("note_id", "notes").cascade(), string("word", 255)]).await?;
        make("links", vec![reference("note_id", "notes")]).await?;
        let pins = vec![
            enumeration("subject_type").nullable(),
            bigint("subject_id").nullable(),
            json("note_ids").nullable(),
            reference("file_id", "attachments").nullable(),
            reference("mark_id", "marks").nullable(),
            text("quote").nullable(),
        ];
        make("pins", pins).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["pins", "links", "marks", "notes", "folders"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}

/// The same resources, whose folders have a row rule instead of an owner.
pub mod ruled {
    use super::*;

    pub mod folder {
        use super::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "folder", read_rule = "user_id = caller.id", events, soft_delete)]
        pub struct Model {
            pub id: i64,
            #[field(string(255), required)]
            pub name: String,
            #[field(reference("user"), default_caller)]
            pub user_id: i64,
            #[field(read_only)]
            pub created_at: DateTimeUtc,
            #[field(read_only)]
            pub updated_at: DateTimeUtc,
            #[field(internal)]
            pub deleted_at: Option<DateTimeUtc>,
        }
    }

    own_fixture! {
        /// The service with these resources.
        RuledFolders, "folders", routes(Route::of::<folder::Entity>()), nothing
    }

    #[async_trait::async_trait]
    impl MigrationTrait for Migration {
        async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            super::Migration.up(manager).await
        }

        async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
            super::Migration.down(manager).await
        }
    }

    impl From<RuledFolders> for Folders {
        fn from(ruled: RuledFolders) -> Folders {
            Folders(ruled.0)
        }
    }
}
