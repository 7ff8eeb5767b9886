//! A service with articles, which have links to labels and to topics, embedded lines, and remarks that refer to them.

use charter_migrations::prelude::*;
use charter_runtime::generated::{Decimal, Resource};
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::DateTimeUtc;

use crate::support::{nothing, own_fixture, record_columns};

/// A word for articles. Only some callers see those that are not public.
pub mod label {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "label", read_rule = "is_public = true or caller.can(labels.all)")]
    pub struct Model {
        pub id: i64,
        #[field(string(40), required)]
        pub name: String,
        #[field(default = "true")]
        pub is_public: bool,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// A subject that goes to the trash when it is deleted.
pub mod topic {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "topic", soft_delete)]
    pub struct Model {
        pub id: i64,
        #[field(string(40), required)]
        pub name: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        #[field(internal)]
        pub deleted_at: Option<DateTimeUtc>,
    }
}

pub mod article {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "article", events, frozen = "is_done = true")]
    #[resource(include(name = "labels", links = "label_ids"))]
    #[resource(include(name = "topics", links = "topic_ids"))]
    #[resource(include(name = "remarks", many = "remark", by = "article_id"))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub title: String,
        #[field(default = "false")]
        #[links("label_ids", resource = "label", through = "article_label", by = "article_id", to = "label_id")]
        #[links("topic_ids", resource = "topic", through = "article_topic", by = "article_id", to = "topic_id")]
        #[embedded("lines", resource = "article_line", by = "article_id")]
        pub is_done: bool,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

pub mod article_line {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "article_line", operations())]
    pub struct Model {
        pub id: i64,
        #[field(reference("article"), required, immutable)]
        pub article_id: i64,
        #[field(required)]
        pub quantity: i32,
        #[field(decimal(8, 2), required)]
        pub price: Decimal<2>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// A note about an article. Only some callers see the internal ones.
pub mod remark {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "remark", read_rule = "is_internal = false or caller.can(remarks.all)")]
    pub struct Model {
        pub id: i64,
        #[field(reference("article"), required)]
        pub article_id: i64,
        #[field(string(80), required)]
        pub words: String,
        #[field(string(80), read = "remarks.authors")]
        pub author: Option<String>,
        #[field(default = "false")]
        pub is_internal: bool,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

pub mod article_label {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "article_label", operations())]
    #[resource(unique("article_id", "label_id"), index("label_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("article"), required, immutable)]
        pub article_id: i64,
        #[field(reference("label"), required, immutable, on_delete = "cascade")]
        pub label_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

pub mod article_topic {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "article_topic", operations())]
    #[resource(unique("article_id", "topic_id"), index("topic_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("article"), required, immutable)]
        pub article_id: i64,
        #[field(reference("topic"), required, immutable)]
        pub topic_id: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

fn routes() -> Vec<Route> {
    vec![
        Route::of::<label::Entity>(),
        Route::of::<topic::Entity>(),
        Route::of::<article::Entity>(),
        Route::of::<article_line::Entity>(),
        Route::of::<remark::Entity>(),
        Route::of::<article_label::Entity>(),
        Route::of::<article_topic::Entity>(),
    ]
}

own_fixture! {
    /// The service with articles.
    Articles, "articles", routes(), nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let create =
            async |table: &str, columns: Vec<_>| Table::on(manager, table).create(record_columns(columns)).await;
        create("labels", vec![string("name", 40), boolean("is_public").default(true)]).await?;
        create("topics", vec![string("name", 40), timestamp("deleted_at").nullable()]).await?;
        create("articles", vec![string("title", 80), boolean("is_done").default(false)]).await?;
        let article = || reference("article_id", "articles").cascade();
        create("article_lines", vec![article(), integer("quantity"), decimal("price", 8, 2)]).await?;
        Table::on(manager, "article_lines").index(&["article_id"]).await?;
        let remark = vec![
            reference("article_id", "articles"),
            string("words", 80),
            string("author", 80).nullable(),
            boolean("is_internal").default(false),
        ];
        create("remarks", remark).await?;
        Table::on(manager, "remarks").index(&["article_id"]).await?;
        for (table, to, other) in [("article_labels", "label_id", "labels"), ("article_topics", "topic_id", "topics")] {
            create(table, vec![article(), reference(to, other)]).await?;
            Table::on(manager, table).unique(&["article_id", to]).await?;
            Table::on(manager, table).index(&[to]).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["article_topics", "article_labels", "remarks", "article_lines", "articles", "topics", "labels"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}
