//! The service with rollups: books with loans and reviews, invoices with embedded lines, folders in folders.

use charter_migrations::prelude::*;
use charter_runtime::Result;
use charter_runtime::generated::{Decimal, Resource};
use charter_runtime::ops::{Context, Draft, Route};
use sea_orm::ActiveValue::Set;
use sea_orm::entity::prelude::DateTimeUtc;

use crate::support::{nothing, own_fixture, record_columns};

pub mod book {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "book", events, ordered("loans", "last_on", "rank", "twofold"))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub name: String,
        #[field(default = "0", rollup(function = "count", of = "loan", by = "book_id", where = "returned_on is null"))]
        pub loans: i64,
        #[field(default = "0", rollup(function = "count", of = "loan", by = "spare_book_id"))]
        pub spares: i64,
        #[field(decimal(18, 2), default = "0", rollup(function = "sum", of = "loan", by = "book_id", field = "fee"))]
        pub fees: Decimal<2>,
        #[field(default = "0", rollup(function = "sum", of = "loan", by = "book_id", field = "points"))]
        pub points: i64,
        #[field(rollup(function = "min", of = "loan", by = "book_id", field = "lent_on"))]
        pub first_on: Option<chrono::NaiveDate>,
        #[field(rollup(
            function = "max",
            of = "loan",
            by = "book_id",
            field = "lent_on",
            where = "returned_on is null"
        ))]
        pub last_on: Option<chrono::NaiveDate>,
        #[field(default = "0", rollup(function = "count", of = "review", by = "book_id"))]
        pub reviews: i64,
        #[field(rollup(function = "max", of = "review", by = "book_id", field = "stars"))]
        pub best: Option<i32>,
        #[field(default = "0", min = "0", max = "1000")]
        pub rank: i32,
        #[field(value = "rank * 2")]
        pub twofold: i32,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }

    pub fn route() -> Route {
        charter_runtime::route!(Entity, Behaviour, hooks(before_save), actions())
    }

    trait Behaviour {
        fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> impl Future<Output = Result<()>> + Send;
    }

    impl Behaviour for Entity {
        /// A hook cannot set a rollup.
        async fn before_save(_: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
            if draft.model.name.try_as_ref().is_some_and(|name| name == "Lent") {
                draft.model.loans = Set(99);
                draft.model.last_on = Set(chrono::NaiveDate::from_ymd_opt(2026, 1, 1));
            }
            Ok(())
        }
    }
}

pub mod loan {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "loan", events, soft_delete, index("book_id", "lent_on"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("book"), on_delete = "clear")]
        #[derived("book_loans", from = "book_id.loans")]
        pub book_id: Option<i64>,
        #[field(reference("book"), on_delete = "clear")]
        pub spare_book_id: Option<i64>,
        #[field(required)]
        pub lent_on: chrono::NaiveDate,
        pub returned_on: Option<chrono::NaiveDate>,
        #[field(decimal(8, 2), default = "0")]
        pub fee: Decimal<2>,
        pub points: Option<i32>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        pub deleted_at: Option<DateTimeUtc>,
    }
}

pub mod review {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "review", under(resource = "book", field = "book_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("book"), required, immutable)]
        pub book_id: i64,
        #[field(required)]
        pub stars: i32,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

pub mod invoice {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "invoice", events)]
    #[resource(read_rule = "weight < 5000 or caller.can(invoices.all)")]
    #[resource(write_rule = "weight > 0 and weight < 1000 or caller.can(invoices.all)")]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        #[embedded("lines", resource = "invoice_line", by = "invoice_id")]
        pub name: String,
        #[field(
            decimal(6, 2),
            default = "0",
            rollup(function = "sum", of = "invoice_line", by = "invoice_id", field = "total")
        )]
        pub total: Decimal<2>,
        #[field(default = "0", rollup(function = "sum", of = "invoice_line", by = "invoice_id", field = "weight"))]
        pub weight: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

pub mod invoice_line {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "invoice_line", operations())]
    pub struct Model {
        pub id: i64,
        #[field(reference("invoice"), required)]
        pub invoice_id: i64,
        #[field(required, min = "-100", max = "100")]
        pub quantity: i32,
        #[field(decimal(6, 2), required)]
        pub price: Decimal<2>,
        #[field(decimal(8, 2), value = "quantity * price")]
        pub total: Decimal<2>,
        #[field(default = "0")]
        pub weight: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

pub mod folder {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "folder")]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub name: String,
        #[field(reference("folder"))]
        pub parent_id: Option<i64>,
        #[field(default = "0", rollup(function = "count", of = "folder", by = "parent_id"))]
        pub folders: i64,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

fn routes() -> Vec<Route> {
    vec![
        book::route(),
        Route::of::<loan::Entity>(),
        Route::of::<review::Entity>(),
        Route::of::<invoice::Entity>(),
        Route::of::<invoice_line::Entity>(),
        Route::of::<folder::Entity>(),
    ]
}

own_fixture! {
    /// The service with rollups.
    Library, "library", routes(), nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let books = [
            string("name", 80),
            bigint("loans").default(0),
            bigint("spares").default(0),
            decimal("fees", 18, 2).default(0),
            bigint("points").default(0),
            date("first_on").nullable(),
            date("last_on").nullable(),
            bigint("reviews").default(0),
            integer("best").nullable(),
            integer("rank").default(0),
            integer("twofold"),
        ];
        let on_books = Table::on(manager, "books");
        on_books.create(record_columns(books)).await?;
        on_books.order(by("loans")).await?;
        on_books.order(by("last_on").nullable()).await?;
        on_books.order(by("rank")).await?;
        on_books.order(by("twofold")).await?;
        let loans = [
            reference("book_id", "books").nullable(),
            reference("spare_book_id", "books").nullable(),
            date("lent_on"),
            date("returned_on").nullable(),
            decimal("fee", 8, 2).default(0),
            integer("points").nullable(),
            timestamp("deleted_at").nullable(),
        ];
        let on_loans = Table::on(manager, "loans");
        on_loans.create(record_columns(loans)).await?;
        on_loans.index_live(&["book_id", "lent_on"]).await?;
        let reviews = [reference("book_id", "books").cascade(), integer("stars")];
        Table::on(manager, "reviews").create(record_columns(reviews)).await?;
        let invoices = [string("name", 80), decimal("total", 6, 2).default(0), bigint("weight").default(0)];
        Table::on(manager, "invoices").create(record_columns(invoices)).await?;
        let lines = [
            reference("invoice_id", "invoices").cascade(),
            integer("quantity"),
            decimal("price", 6, 2),
            decimal("total", 8, 2),
            bigint("weight").default(0),
        ];
        Table::on(manager, "invoice_lines").create(record_columns(lines)).await?;
        let folders = [string("name", 80), bigint("folders").default(0)];
        Table::on(manager, "folders").create(record_columns(folders)).await?;
        Table::on(manager, "folders").add(reference("parent_id", "folders").cascade().nullable()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["folders", "invoice_lines", "invoices", "reviews", "loans", "books"] {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}
