//! The service of the matrix: the application's resources, most of whose fields need a right, and resources of which each
//! way to hide records hides some.

use std::ops::Deref;
use std::sync::OnceLock;

use charter_migrations::prelude::*;
use charter_runtime::generated::{Decimal, Resource};
use charter_runtime::meta::{FieldMeta, Kind, ResourceMeta, Shown};
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::{DateTimeUtc, Json};

use super::linked::{receipt_vault, room, sheet};
use crate::support::{Database, Fixture, Prepared, Server, nothing, record_columns, with_routes};

/// The permission that reading a hidden field needs.
pub const RIGHT: &str = "vaults.secrets";

/// The condition over the choices of a reference that no new record meets.
pub const UNFIT: &str = "state = closed";

/// Visible to its owner and administrators only. Some of its fields need a right.
pub mod vault {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "vault", owner = "user_id", soft_delete, custom_fields, attachments, events)]
    #[resource(search("name", "memo"), ordered("name"))]
    #[resource(include(name = "receipts", many = "receipt", by = "vault_id"))]
    #[resource(include(name = "customFieldValues", custom_fields))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub name: String,
        #[field(reference("user"), default_caller)]
        pub user_id: i64,
        pub weight: Option<i32>,
        pub opened_on: Option<chrono::NaiveDate>,
        #[field(string(40), unique, read = "vaults.secrets")]
        pub serial: Option<String>,
        #[field(text, read = "vaults.secrets")]
        pub memo: Option<String>,
        #[field(decimal(12, 2), read = "vaults.secrets")]
        pub amount: Option<Decimal<2>>,
        #[field(decimal(14, 2), value = "amount * 2", read = "vaults.secrets")]
        pub doubled: Option<Decimal<2>>,
        #[field(read = "vaults.secrets")]
        pub sealed_on: Option<chrono::NaiveDate>,
        #[field(boolean, default = "false", read = "vaults.secrets")]
        pub insured: bool,
        #[field(enumeration("low", "high"), read = "vaults.secrets")]
        pub grade: Option<String>,
        #[field(
            default = "0",
            read = "vaults.secrets",
            rollup(function = "sum", of = "receipt", by = "vault_id", field = "fee")
        )]
        pub fees: i64,
        pub custom_fields: Json,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
        #[field(internal)]
        pub deleted_at: Option<DateTimeUtc>,
    }
}

/// In a vault, with embedded coins.
pub mod drawer {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "drawer", attachments, events, search("label"))]
    #[resource(under(resource = "vault", field = "vault_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("vault"), required)]
        pub vault_id: i64,
        #[field(string(80), required)]
        #[embedded("coins", resource = "coin", by = "drawer_id")]
        pub label: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// Embedded in a drawer. Its worth needs a right.
pub mod coin {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "coin", operations())]
    pub struct Model {
        pub id: i64,
        #[field(reference("drawer"), required)]
        pub drawer_id: i64,
        #[field(string(80), required)]
        pub motto: String,
        #[field(integer, read = "vaults.secrets")]
        pub worth: Option<i32>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// Its rule hides it from all but its keeper.
pub mod dossier {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "dossier", attachments, events, search("title"))]
    #[resource(read_rule = "keeper_id = caller.id or caller.can(dossiers.all)")]
    #[resource(include(name = "shelf", via = "shelf_id"), include(name = "can", allowed_actions))]
    #[resource(action(
        name = "close",
        on = "record",
        method = "post",
        transition(field = "state", from("open"), to = "closed", guard = "pages > 0")
    ))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        #[embedded("sheets", resource = "sheet", by = "dossier_id")]
        pub title: String,
        #[field(enumeration("open", "closed"), default = "open", read_only)]
        pub state: String,
        #[field(reference("user"), default_caller)]
        pub keeper_id: i64,
        #[field(reference("shelf"))]
        pub shelf_id: Option<i64>,
        #[field(reference("room"))]
        pub room_id: Option<i64>,
        pub pages: Option<i32>,
        pub filed_on: Option<chrono::NaiveDate>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// Visible to everybody, with dossiers that are not.
pub mod shelf {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "shelf", plural = "shelves")]
    #[resource(include(name = "dossiers", many = "dossier", by = "shelf_id"))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub place: String,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// Visible to everybody. It refers to hidden records in every way.
pub mod receipt {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "receipt", events, public(create("text"), limit = "10000/hour"))]
    #[resource(
        include(name = "vault", via = "vault_id"),
        include(name = "dossier", via = "dossier_id", fields("title"))
    )]
    #[resource(include(name = "subject", via = "subject_id"), include(name = "file", via = "file_id"))]
    #[resource(include(name = "coin", via = "coin_id"), include(name = "vaults", links = "vault_ids"))]
    #[resource(action(
        name = "weigh",
        on = "record",
        method = "post",
        rule(set(field = "vault_weight", expression = "vault.weight"))
    ))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        #[links("vault_ids", resource = "vault", through = "receipt_vault", by = "receipt_id", to = "vault_id")]
        pub text: String,
        #[field(reference("vault"))]
        #[derived("vault_name", from = "vault_id.name")]
        #[derived("vault_memo", from = "vault_id.memo")]
        pub vault_id: Option<i64>,
        #[field(integer, default_value = "vault.weight")]
        pub vault_weight: Option<i32>,
        #[field(integer, read = "vaults.secrets")]
        pub fee: Option<i32>,
        #[field(reference("dossier"), where = "state = open")]
        pub dossier_id: Option<i64>,
        #[field(reference("dossier"), where = "state = closed")]
        pub closed_id: Option<i64>,
        #[field(reference("drawer"))]
        pub drawer_id: Option<i64>,
        #[field(polymorphic_type("vault", "dossier"))]
        pub subject_type: Option<String>,
        #[field(polymorphic_id(type_field = "subject_type"))]
        pub subject_id: Option<i64>,
        #[field(ref_list("drawer"))]
        pub drawer_ids: Option<Json>,
        #[field(reference("attachment"))]
        pub file_id: Option<i64>,
        #[field(reference("coin"))]
        pub coin_id: Option<i64>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

/// The service of the matrix.
pub struct Vaults(Server);

impl Deref for Vaults {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

impl Fixture for Vaults {
    async fn start(database: Database) -> Vaults {
        static SQLITE: OnceLock<Prepared> = OnceLock::new();
        static POSTGRES: OnceLock<Prepared> = OnceLock::new();
        let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
        let own = [
            Route::of::<vault::Entity>(),
            Route::of::<drawer::Entity>(),
            Route::of::<coin::Entity>(),
            Route::of::<dossier::Entity>(),
            Route::of::<shelf::Entity>(),
            Route::of::<receipt::Entity>(),
            Route::of::<receipt_vault::Entity>(),
            Route::of::<sheet::Entity>(),
            Route::of::<room::Entity>(),
        ];
        let routes = charter::generated::routes().into_iter().map(guarded).chain(own).collect();
        Vaults(
            Server::open(with_routes::<Migration>(routes), database, template, nothing, |config| config.mcp = true)
                .await,
        )
    }

    fn server(&self) -> &Server {
        &self.0
    }
}

/// A route whose fields need the right, if a record can be without a value. The settings stay as they are, because the
/// panel reads them for everybody.
fn guarded(route: Route) -> Route {
    if route.meta.singleton {
        return route;
    }
    let is_plain = |field: &FieldMeta| {
        !matches!(
            field.kind,
            Kind::Ref { .. } | Kind::PolymorphicRef { .. } | Kind::PolymorphicType { .. } | Kind::Derived { .. }
        )
    };
    let guard = |field: &FieldMeta| {
        let is_hidden = field.nullable && field.shown != Shown::Never && is_plain(field);
        FieldMeta { read: if is_hidden { RIGHT } else { field.read }, ..*field }
    };
    let fields: Vec<FieldMeta> = route.meta.fields.iter().map(guard).collect();
    let meta = ResourceMeta { fields: fields.leak(), ..*route.meta };
    Route { meta: Box::leak(Box::new(meta)), ..route }
}

#[derive(Default)]
struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "vaults"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let make =
            async |table: &str, columns: Vec<Column>| Table::on(manager, table).create(record_columns(columns)).await;
        let vaults = vec![
            string("name", 80),
            reference("user_id", "users"),
            integer("weight").nullable(),
            date("opened_on").nullable(),
            string("serial", 40).nullable(),
            text("memo").nullable(),
            decimal("amount", 12, 2).nullable(),
            decimal("doubled", 14, 2).nullable(),
            date("sealed_on").nullable(),
            boolean("insured").default(false),
            enumeration("grade").nullable(),
            bigint("fees").default(0),
            custom_fields(),
            timestamp("deleted_at").nullable(),
        ];
        make("vaults", vaults).await?;
        Table::on(manager, "vaults").unique_live(&["serial"]).await?;
        make("drawers", vec![reference("vault_id", "vaults"), string("label", 80)]).await?;
        let coins = vec![reference("drawer_id", "drawers").cascade(), string("motto", 80), integer("worth").nullable()];
        make("coins", coins).await?;
        make("shelves", vec![string("place", 80)]).await?;
        make("rooms", room::columns()).await?;
        let dossiers = vec![
            string("title", 80),
            enumeration("state").default("open"),
            reference("keeper_id", "users"),
            reference("shelf_id", "shelves").nullable(),
            reference("room_id", "rooms").nullable(),
            integer("pages").nullable(),
            date("filed_on").nullable(),
        ];
        make("dossiers", dossiers).await?;
        Table::on(manager, "dossiers").index(&["room_id"]).await?;
        make("sheets", sheet::columns()).await?;
        let receipts = vec![
            string("text", 80),
            reference("vault_id", "vaults").nullable(),
            integer("vault_weight").nullable(),
            integer("fee").nullable(),
            reference("dossier_id", "dossiers").nullable(),
            reference("closed_id", "dossiers").nullable(),
            reference("drawer_id", "drawers").nullable(),
            enumeration("subject_type").nullable(),
            bigint("subject_id").nullable(),
            json("drawer_ids").nullable(),
            reference("file_id", "attachments").nullable(),
            reference("coin_id", "coins").nullable(),
        ];
        make("receipts", receipts).await?;
        Table::on(manager, "receipts").index(&["vault_id"]).await?;
        make("receipt_vaults", receipt_vault::columns()).await?;
        Table::on(manager, "receipt_vaults").unique(&["receipt_id", "vault_id"]).await?;
        Table::on(manager, "receipt_vaults").index(&["vault_id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tables =
            ["receipt_vaults", "receipts", "sheets", "dossiers", "rooms", "shelves", "coins", "drawers", "vaults"];
        for table in tables {
            Table::on(manager, table).drop().await?;
        }
        Ok(())
    }
}
