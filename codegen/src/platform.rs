//! Resources of the platform: the fields that YAML may refer to, and the names that no resource may have.

use charter_model::{FieldOption, naming};

use crate::model::{Field, Filters, Name, Resource, Sorts, Type};
use crate::source::{Span, Spanned};
use crate::syntax::resource::KeySpans;

/// A field that YAML may refer to, with its type.
type PlatformField = (&'static str, fn() -> Type);

const STRING: fn() -> Type = || Type::String { max: 255 };
const FLAG: fn() -> Type = || Type::Boolean;
const TEXT: fn() -> Type = || Type::Text;
const USER: fn() -> Type = || Type::Ref { resource: nowhere("user") };

/// The resources that `ref(...)` may name, with the fields that `from` and `includes` may name.
const RESOURCES: &[(&str, &[PlatformField])] = &[
    ("user", &[("name", STRING), ("email", STRING), ("is_active", FLAG), ("is_admin", FLAG)]),
    ("role", &[("name", STRING), ("description", TEXT)]),
    ("token", &[("name", STRING), ("user_id", USER)]),
    ("custom_field", &[("entity_type", STRING), ("name", STRING), ("label", STRING), ("field_type", STRING)]),
    ("custom_view", &[("name", STRING), ("entity_type", STRING), ("visibility", STRING), ("user_id", USER)]),
];

/// The rights that reading a field of these needs.
const RIGHTS: &[(&str, &str, &str)] = &[("user", "email", "users:read")];

/// Resources that nothing may refer to.
const SERVED: &[&str] =
    &["attachment", "audit_entry", "background_job", "event", "import", "import_row", "webhook", "webhook_log"];

/// The platform's tables. A test in `migrations` compares them.
pub const TABLES: &[&str] = &[
    "attachment_pending_deletions",
    "attachments",
    "audit_entries",
    "background_jobs",
    "custom_fields",
    "custom_views",
    "events",
    "idempotency_keys",
    "import_rows",
    "imports",
    "record_blocks",
    "record_changes",
    "record_numbers",
    "record_totals",
    "roles",
    "seaql_migrations",
    "tokens",
    "user_identities",
    "user_invitations",
    "user_networks",
    "user_passkeys",
    "user_passwords",
    "user_preferences",
    "user_recovery_codes",
    "user_second_factors",
    "user_sessions",
    "users",
    "webhook_deliveries",
    "webhook_logs",
    "webhooks",
];

/// The plurals of the platform's resources: keys of lists, and entity types.
pub const PLURALS: &[&str] = &[
    "attachments",
    "audit_entries",
    "background_jobs",
    "custom_fields",
    "custom_views",
    "import_rows",
    "imports",
    "logs",
    "roles",
    "tokens",
    "users",
    "webhooks",
];

/// The names of the platform in the OpenAPI document, which `tests/sound.rs` compares: schemas, then the ids of
/// operations and events, then tags.
pub const SCHEMAS: &[&str] = &[
    "Error",
    "Meta",
    "Plan",
    "ListSummary",
    "BooleanWord",
    "CustomFieldValue",
    "OnlyId",
    "User",
    "UserFields",
    "UserCreate",
    "UserUpdate",
    "UserInviteAnswer",
    "Role",
    "RoleFields",
    "RoleCreate",
    "RoleUpdate",
    "Token",
    "TokenFields",
    "TokenCreated",
    "TokenCreate",
    "TokenUpdate",
    "CustomField",
    "CustomFieldFields",
    "CustomFieldCreate",
    "CustomFieldUpdate",
    "CustomView",
    "CustomViewFields",
    "CustomViewCreate",
    "CustomViewUpdate",
    "Webhook",
    "WebhookFields",
    "WebhookCreated",
    "WebhookCreate",
    "WebhookUpdate",
    "WebhookTestAnswer",
    "WebhookRecoverAnswer",
    "WebhookRotateSecretAnswer",
    "WebhookLog",
    "WebhookLogFields",
    "WebhookLogResendAnswer",
    "WebhookLogRequestAnswer",
    "Attachment",
    "AttachmentFields",
    "AuditEntry",
    "AuditEntryFields",
    "Import",
    "ImportFields",
    "ImportUpdate",
    "ImportRow",
    "ImportRowFields",
    "BackgroundJob",
    "BackgroundJobFields",
];

/// See [`SCHEMAS`].
pub const OPERATIONS: &[&str] = &[
    "deactivate_user",
    "invite_user",
    "erase_user",
    "remove_second_factor_user",
    "unlink_identity_user",
    "bulk_users",
    "summarize_users",
    "list_users",
    "create_user",
    "show_user",
    "update_user",
    "patch_user",
    "delete_user",
    "bulk_roles",
    "summarize_roles",
    "list_roles",
    "create_role",
    "show_role",
    "update_role",
    "patch_role",
    "delete_role",
    "bulk_tokens",
    "summarize_tokens",
    "list_tokens",
    "create_token",
    "show_token",
    "update_token",
    "patch_token",
    "delete_token",
    "bulk_custom_fields",
    "summarize_custom_fields",
    "list_custom_fields",
    "create_custom_field",
    "show_custom_field",
    "update_custom_field",
    "patch_custom_field",
    "delete_custom_field",
    "clone_custom_view",
    "bulk_custom_views",
    "summarize_custom_views",
    "list_custom_views",
    "create_custom_view",
    "show_custom_view",
    "update_custom_view",
    "patch_custom_view",
    "delete_custom_view",
    "test_webhook",
    "recover_webhook",
    "rotate_secret_webhook",
    "bulk_webhooks",
    "summarize_webhooks",
    "list_webhooks",
    "create_webhook",
    "show_webhook",
    "update_webhook",
    "patch_webhook",
    "delete_webhook",
    "resend_webhook_log",
    "request_webhook_log",
    "summarize_logs",
    "list_logs",
    "show_webhook_log",
    "create_attachment",
    "show_attachment",
    "delete_attachment",
    "summarize_audit_entries",
    "list_audit_entries",
    "show_audit_entry",
    "rehearse_import",
    "run_import",
    "cancel_import",
    "undo_import",
    "summarize_imports",
    "list_imports",
    "create_import",
    "show_import",
    "update_import",
    "patch_import",
    "delete_import",
    "summarize_import_rows",
    "list_import_rows",
    "show_import_row",
    "run_background_job",
    "summarize_background_jobs",
    "list_background_jobs",
    "show_background_job",
    "describe_api",
    "health_live",
    "health_ready",
    "health_metrics",
    "read_file",
    "search",
    "on_user_created",
    "on_user_updated",
    "on_user_deleted",
    "on_user_deactivated",
    "on_role_created",
    "on_role_updated",
    "on_role_deleted",
    "on_attachment_created",
    "on_attachment_deleted",
    "on_webhook_test",
];

/// See [`SCHEMAS`].
pub const TAGS: &[&str] = &[
    "Users",
    "Roles",
    "Tokens",
    "Custom fields",
    "Custom views",
    "Webhooks",
    "Logs",
    "Attachments",
    "Audit entries",
    "Imports",
    "Import rows",
    "Background jobs",
    "Service",
];

/// The platform's first path segments.
pub const PATHS: &[&str] = &[
    "attachments",
    "audit_entries",
    "background_jobs",
    "custom_fields",
    "custom_views",
    "imports",
    "roles",
    "tokens",
    "users",
    "webhooks",
];

/// Prefixes of tables that belong to others, with the owner.
pub const PREFIXES: &[(&str, &str)] = &[
    ("pg_", "the tables of PostgreSQL"),
    ("record_", "the tables of record counts"),
    ("sqlite_", "the tables of SQLite"),
];

/// True if the platform has a resource of this name.
pub fn is_served(name: &str) -> bool {
    SERVED.contains(&name) || RESOURCES.iter().any(|(known, _)| *known == name)
}

/// The platform resource whose type name clients may write like this one.
pub fn of_type(type_name: &str) -> Option<&'static str> {
    let mut all = RESOURCES.iter().map(|(name, _)| *name).chain(SERVED.iter().copied());
    all.find(|name| naming::same_type(&naming::upper_camel(name), type_name))
}

/// True if the platform has this plural or table. A plural is the default name of the table.
pub fn has_plural(name: &str) -> bool {
    PLURALS.contains(&name) || TABLES.contains(&name)
}

/// The platform's resources in the form of declared ones.
pub fn resources() -> Vec<Resource> {
    RESOURCES.iter().map(|(name, fields)| resource(name, fields)).collect()
}

fn nowhere(text: &str) -> Name {
    Spanned::new(text.to_owned(), Span::NOWHERE)
}

fn resource(name: &str, fields: &[PlatformField]) -> Resource {
    let plural = nowhere(&naming::plural(name));
    let id = Field::new(nowhere("id"), Type::BigInt);
    let fields = fields.iter().map(|(field, kind)| {
        let plain = Field::new(nowhere(field), kind());
        match RIGHTS.iter().find(|(of, named, _)| (of, named) == (&name, field)) {
            Some((.., right)) => {
                Field { described: plain.described.clone().with(FieldOption::Read, nowhere(right)), ..plain }
            }
            None => plain,
        }
    });
    Resource {
        name: nowhere(name),
        label: nowhere(&naming::label(name)),
        title: None,
        description: None,
        menu: None,
        columns: Vec::new(),
        type_name: naming::upper_camel(name),
        table: plural.clone(),
        path: plural.clone(),
        ability: plural.clone(),
        plural,
        under: None,
        read_permission: None,
        write_permission: None,
        owner: None,
        public: None,
        read_rule: None,
        write_rule: None,
        renamed_from: None,
        operations: Vec::new(),
        singleton: false,
        soft_delete: false,
        custom_fields: false,
        attachments: false,
        events: false,
        emits: Vec::new(),
        fields: std::iter::once(id).chain(fields).collect(),
        unique: Vec::new(),
        checks: Vec::new(),
        frozen: None,
        indexes: Vec::new(),
        search: Vec::new(),
        order: Vec::new(),
        ordered: Vec::new(),
        unindexed: Vec::new(),
        found_by: Vec::new(),
        rolled_up: Vec::new(),
        filters: Filters::Shown,
        deprecated: Vec::new(),
        sorts: Sorts::Shown,
        includes: Vec::new(),
        actions: Vec::new(),
        state_field: None,
        hooks: Vec::new(),
        jobs: Vec::new(),
        seed: None,
        key_spans: KeySpans::default(),
        file: None,
        stem: String::new(),
        is_join: false,
        behaviour_place: None,
    }
}
