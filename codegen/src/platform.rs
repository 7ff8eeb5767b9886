//! The runtime's own resources, as far as YAML may refer to them, and the names that they take.

use crate::model::{Field, Filters, Kind, Name, Resource, Sorts};
use crate::names;
use crate::source::{Span, Spanned};
use crate::syntax::resource::KeySpans;

/// A field that YAML may name, and what it holds.
type PlatformField = (&'static str, fn() -> Kind);

const STRING: fn() -> Kind = || Kind::String { max: 255 };
const FLAG: fn() -> Kind = || Kind::Boolean;
const TEXT: fn() -> Kind = || Kind::Text;
const USER: fn() -> Kind = || Kind::Ref(nowhere("user"));

/// What may stand in `ref(...)`, and which of its fields in `from` and `include`.
const RESOURCES: &[(&str, &[PlatformField])] = &[
    ("user", &[("name", STRING), ("email", STRING), ("is_active", FLAG), ("is_admin", FLAG)]),
    ("role", &[("name", STRING), ("description", TEXT)]),
    ("token", &[("name", STRING), ("user_id", USER)]),
    ("custom_field", &[("entity_type", STRING), ("name", STRING), ("label", STRING), ("field_type", STRING)]),
    ("custom_view", &[("name", STRING), ("entity_type", STRING), ("visibility", STRING), ("user_id", USER)]),
];

/// Names that the runtime serves itself, although nothing may refer to them.
const SERVED: &[&str] = &["attachment", "audit_entry", "event", "webhook", "webhook_log"];

/// Its tables. A test of the migrations holds the list to theirs.
pub const TABLES: &[&str] = &[
    "attachment_leftovers",
    "attachments",
    "audit_entries",
    "custom_fields",
    "custom_views",
    "events",
    "idempotency_keys",
    "record_blocks",
    "record_changes",
    "record_recent",
    "record_stretches",
    "record_totals",
    "roles",
    "seaql_migrations",
    "tokens",
    "user_invitations",
    "user_passwords",
    "user_sessions",
    "users",
    "webhook_deliveries",
    "webhook_logs",
    "webhooks",
];

/// Its paths at the top of the API.
pub const PATHS: &[&str] =
    &["attachments", "audit_entries", "custom_fields", "custom_views", "roles", "tokens", "users", "webhooks"];

/// What stands at the top beside the API: pages, files, and what monitors ask for.
pub const PAGES: &[&str] = &["api", "docs", "files", "health", "panel"];

/// How tables begin that are somebody else's, and which those are.
pub const PREFIXES: &[(&str, &str)] =
    &[("pg_", "those of PostgreSQL"), ("record_", "those by which the server counts"), ("sqlite_", "those of SQLite")];

/// Whether a resource of that name is the runtime's.
pub fn is_served(name: &str) -> bool {
    SERVED.contains(&name) || RESOURCES.iter().any(|(known, _)| *known == name)
}

/// The platform's resources in the same form as those of the files.
pub fn resources() -> Vec<Resource> {
    RESOURCES.iter().map(|(name, fields)| resource(name, fields)).collect()
}

fn nowhere(text: &str) -> Name {
    Spanned::new(text.to_owned(), Span::NOWHERE)
}

fn resource(name: &str, fields: &[PlatformField]) -> Resource {
    let plural = nowhere(&names::plural(name));
    let id = Field::new(nowhere("id"), Kind::BigInt);
    let fields = fields.iter().map(|(name, kind)| Field::new(nowhere(name), kind()));
    Resource {
        name: nowhere(name),
        label: nowhere(&names::label(name)),
        description: None,
        type_name: names::upper_camel(name),
        table: plural.clone(),
        path: plural.clone(),
        ability: plural.clone(),
        plural,
        under: None,
        read_permission: None,
        write_permission: None,
        owner: None,
        renamed_from: None,
        operations: Vec::new(),
        singleton: false,
        soft_delete: false,
        custom_fields: false,
        attachments: false,
        events: false,
        fields: std::iter::once(id).chain(fields).collect(),
        unique: Vec::new(),
        indexes: Vec::new(),
        search: Vec::new(),
        ordered: Vec::new(),
        unindexed: Vec::new(),
        found_by: Vec::new(),
        filters: Filters::Shown,
        deprecated: Vec::new(),
        sorts: Sorts::Shown,
        includes: Vec::new(),
        actions: Vec::new(),
        hooks: Vec::new(),
        seed: None,
        key_spans: KeySpans::default(),
        file: None,
        stem: String::new(),
        behaviour_place: None,
    }
}
