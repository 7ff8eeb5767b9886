//! What a resource is, as constant data: filled in by `#[derive(Resource)]`, read by every part of the runtime.
//!
//! Nothing here decides anything. The derive writes one [`ResourceMeta`] per resource; `catalog` links them into a
//! graph when the application starts; the query engine, the writes, the router and the OpenAPI description read that.

mod action;
mod deprecation;

pub use action::{ActionMeta, ActionOutput, Until};
pub use charter_model::{Access, ActionMethod, ActionOn, Deprecated, Operation, Shown, TimestampForm, Widget};
use charter_model::{Constant, FieldType};
pub use deprecation::DeprecationMeta;

/// One resource: its names, its fields, how it is found, what hangs on it, who may.
#[derive(Debug)]
pub struct ResourceMeta {
    /// Singular name in snake_case: `exchange_rate`. The key of a single record and the prefix of its events.
    pub name: &'static str,
    /// Plural name: `exchange_rates`. The key of a list and the entity type of saved views and custom fields.
    pub plural: &'static str,
    /// The name people read: `Exchange rate`. In a polymorphic reference it is [`ResourceMeta::type_name`].
    pub label: &'static str,
    /// What a record is, for people; empty where its fields say it.
    pub description: &'static str,
    /// The value that names this resource in a polymorphic reference: `StockLevel`.
    pub type_name: &'static str,
    /// The table that holds it.
    pub table: &'static str,
    /// The last segment of its collection's path: `exchange_rates`.
    pub path: &'static str,
    /// The resource whose path stands before this one's: `/products/{product_id}/accessories`.
    pub under: Option<Under>,
    /// The prefix of its abilities: `products` gives `products:read` and `products:write`.
    pub ability: &'static str,
    /// The permission that reading needs beside the ability.
    pub read_permission: Option<&'static str>,
    /// The permission that writing needs beside the ability.
    pub write_permission: Option<&'static str>,
    /// The column that holds the id of the user a record belongs to; others, unless administrators, do not see it.
    pub owner: Option<&'static str>,
    /// Which of the five plain operations are served.
    pub operations: &'static [Operation],
    /// There is one record only, without an id, at `/<path>`: the settings.
    pub singleton: bool,
    /// Deleting sets `deleted_at`; deleted records vanish from every list, show, include and reference.
    pub soft_delete: bool,
    /// Records carry a `custom_fields` object, checked against the definitions of this entity type.
    pub custom_fields: bool,
    /// Files can be attached to its records: they are listed at `/<path>/{id}/attachments`, under its abilities.
    pub attachments: bool,
    /// Writing emits `<name>.created`, `.updated` and `.deleted`, and what its actions name.
    pub events: bool,
    /// Every field in the order of the single record; [`FieldMeta::shown`] says where it appears.
    pub fields: &'static [FieldMeta],
    /// Sets of fields whose values must be unique together, among the records that are not deleted.
    pub unique: &'static [&'static [&'static str]],
    /// Declared indexes: the columns of each, in order.
    pub indexes: &'static [&'static [&'static str]],
    /// Fields that are searched for substrings and deserve an index for it.
    pub search: &'static [&'static str],
    /// Fields whose order the database keeps, with the id behind it: text without regard to case, and on PostgreSQL alone.
    pub ordered: &'static [&'static str],
    /// Related records that a client may ask for.
    pub includes: &'static [IncludeMeta],
    /// Named operations beside the five plain ones.
    pub actions: &'static [ActionMeta],
    /// Secrets that the answer to a create shows this once: the name of each, and what it is.
    pub reveals: &'static [(&'static str, &'static str)],
    /// What is to go: clients that use it are told.
    pub deprecated: &'static [DeprecationMeta],
}

impl ResourceMeta {
    /// Whether what clients delete of it is kept, so that they can ask for it and restore it.
    pub fn keeps_deleted(&self) -> bool {
        self.soft_delete && !self.singleton && self.operations.contains(&Operation::Delete)
    }

    /// The fields whose values no two records share, one alone or several together.
    pub fn unique_sets(&self) -> impl Iterator<Item = &'static [&'static str]> + use<> {
        let alone = self.fields.iter().filter(|field| field.rules.contains(&Rule::Unique));
        alone.map(|field| std::slice::from_ref(&field.name)).chain(self.unique.iter().copied())
    }
}

/// The parent in a nested path.
#[derive(Debug, Clone, Copy)]
pub struct Under {
    /// Singular name of the parent resource.
    pub resource: &'static str,
    /// The field that refers to it.
    pub field: &'static str,
}

/// One field of a record, or one parameter of an action.
#[derive(Debug, Clone, Copy)]
pub struct FieldMeta {
    /// Its name everywhere: in YAML, in the table, in JSON and in `q`.
    pub name: &'static str,
    pub kind: Kind,
    /// The value may be null; `""` clears it.
    pub nullable: bool,
    /// Create must give it.
    pub required: bool,
    /// What it is when create does not give it.
    pub default: DefaultValue,
    pub access: Access,
    pub shown: Shown,
    /// What a value must satisfy beside its kind.
    pub rules: &'static [Rule],
    /// Which predicates `q` accepts for it.
    pub filter: Filter,
    /// Whether `sort` accepts it.
    pub sortable: bool,
    /// What people call it; empty where its name says it.
    pub label: &'static str,
    /// What those read who fill it in; empty where that is its description.
    pub help: &'static str,
    /// The text that its empty input shows; empty for none.
    pub placeholder: &'static str,
    /// The heading under which it stands; empty for none.
    pub group: &'static str,
    /// How people type it, where its kind leaves a choice.
    pub widget: Option<Widget>,
    /// What it is, for people; empty where its name, kind and rules say it.
    pub description: &'static str,
    /// A value for examples, as text; empty where any value that fits will do.
    pub example: &'static str,
    /// What a JSON value holds, as a JSON Schema, where `kind` does not say it.
    pub schema: Option<fn() -> serde_json::Value>,
}

impl FieldMeta {
    /// A plain, writable, shown field without rules: what the derive starts from.
    pub const fn new(name: &'static str, kind: Kind) -> FieldMeta {
        FieldMeta {
            name,
            kind,
            nullable: false,
            required: false,
            default: DefaultValue::None,
            access: Access::Writable,
            shown: Shown::Always,
            rules: &[],
            filter: Filter::Fitting,
            sortable: true,
            label: "",
            help: "",
            placeholder: "",
            group: "",
            widget: None,
            description: "",
            example: "",
            schema: None,
        }
    }

    /// Whether the table has a column for it.
    pub const fn is_column(&self) -> bool {
        self.kind.is_column()
    }
}

/// The type of a field, as a constant.
pub type Kind = FieldType<Constant>;

/// What a value must satisfy beside its kind, as a constant.
pub type Rule = charter_model::Rule<Constant>;

/// The value of a field that create does not give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultValue {
    /// Null where the field is nullable, an empty list or object where it is one; otherwise the field must be given
    /// by the client or by a hook.
    None,
    /// The text of the value, read like a query parameter: `true`, `0`, `rental`.
    Literal(&'static str),
    /// The time of the request.
    Now,
    /// The id of the calling user.
    Caller,
}

/// Which predicates a field accepts in `q`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Every predicate that fits its kind.
    Fitting,
    /// These only, by name: `["eq", "cont"]`.
    Only(&'static [&'static str]),
    Off,
}

/// A related record, or records, that `include` loads.
#[derive(Debug, Clone, Copy)]
pub struct IncludeMeta {
    /// The public name, `productGroup`; it is also accepted, and always written, in snake_case.
    pub name: &'static str,
    pub target: IncludeTarget,
    /// The fields of each related record that are written; empty for all of its list item.
    pub fields: &'static [&'static str],
}

/// Where an include's records come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncludeTarget {
    /// The one record that this (possibly polymorphic) reference field names.
    One { via: &'static str },
    /// All records of `resource` whose field `by` is this record's id.
    Many { resource: &'static str, by: &'static str },
    /// The definitions and values of the record's custom fields.
    CustomFieldValues,
}
