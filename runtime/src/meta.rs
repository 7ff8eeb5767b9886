//! Metadata of resources, as constants that `#[derive(Resource)]` generates.
//!
//! The derive writes one [`ResourceMeta`] per resource. `catalog` links them into a graph when the application starts, which queries,
//! writes, router and OpenAPI document use.

mod action;
mod deprecation;
mod widget;

pub use action::{ActionMeta, ActionMethod, ActionOn, ActionOutput, Until};
pub use deprecation::{Deprecated, DeprecationMeta};
pub use widget::Widget;

/// A resource.
#[derive(Debug)]
pub struct ResourceMeta {
    /// Singular name in snake_case: `exchange_rate`. The key of a single record and the prefix of its events.
    pub name: &'static str,
    /// Plural name: `exchange_rates`. The key of a list and the entity type of saved views and custom fields.
    pub plural: &'static str,
    /// The display name: `Exchange rate`.
    pub label: &'static str,
    /// The description for people; empty if there is none.
    pub description: &'static str,
    /// The value that names this resource in a polymorphic reference: `StockLevel`.
    pub type_name: &'static str,
    /// The table.
    pub table: &'static str,
    /// The last segment of its collection's path: `exchange_rates`.
    pub path: &'static str,
    /// The parent in the path: `/products/{product_id}/accessories`.
    pub under: Option<Under>,
    /// The prefix of its abilities: `products` gives `products:read` and `products:write`.
    pub ability: &'static str,
    /// The permission for reading, in addition to the ability.
    pub read_permission: Option<&'static str>,
    /// The permission for writing, in addition to the ability.
    pub write_permission: Option<&'static str>,
    /// The column with the id of the owner. Other users than the owner and administrators do not see the record.
    pub owner: Option<&'static str>,
    /// The served operations.
    pub operations: &'static [Operation],
    /// Has a single record without an id, at `/<path>`, such as the settings.
    pub singleton: bool,
    /// Deleting sets `deleted_at`. Deleted records do not appear in lists, includes and references.
    pub soft_delete: bool,
    /// Records have an object `custom_fields`, validated by the definitions of this entity type.
    pub custom_fields: bool,
    /// Files can be attached to its records. They are listed at `/<path>/{id}/attachments`, with its abilities.
    pub attachments: bool,
    /// Writes emit `<name>.created`, `.updated` and `.deleted`, and the events of its actions.
    pub events: bool,
    /// All fields, in the order of a single record.
    pub fields: &'static [FieldMeta],
    /// Sets of fields whose combined values are unique among the records that are not deleted.
    pub unique: &'static [&'static [&'static str]],
    /// Declared indexes: the columns of each, in order.
    pub indexes: &'static [&'static [&'static str]],
    /// Fields with a substring index.
    pub search: &'static [&'static str],
    /// Fields with an index for sorting, followed by the id. Text is sorted case-insensitively, and indexed on PostgreSQL only.
    pub ordered: &'static [&'static str],
    /// Related records for `include`.
    pub includes: &'static [IncludeMeta],
    /// Additional named operations.
    pub actions: &'static [ActionMeta],
    /// Secrets that only the response to a create shows: names and descriptions.
    pub reveals: &'static [(&'static str, &'static str)],
    /// Deprecated fields, filters and actions.
    pub deprecated: &'static [DeprecationMeta],
}

impl ResourceMeta {
    /// True if clients can list and restore deleted records.
    pub fn keeps_deleted(&self) -> bool {
        self.soft_delete && !self.singleton && self.operations.contains(&Operation::Delete)
    }

    /// All unique fields and sets of fields.
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

/// A standard operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    List,
    Show,
    Create,
    Update,
    Delete,
}

impl Operation {
    /// All operations, in the order of the documentation.
    pub const ALL: &'static [Operation] =
        &[Operation::List, Operation::Show, Operation::Create, Operation::Update, Operation::Delete];
}

/// A field of a record, or a parameter of an action.
#[derive(Debug, Clone, Copy)]
pub struct FieldMeta {
    /// The name in YAML, in the table, in JSON and in `q`.
    pub name: &'static str,
    pub kind: Kind,
    /// The value may be null; `""` sets it to null.
    pub nullable: bool,
    /// Required on create.
    pub required: bool,
    /// The value if a create does not give one.
    pub default: DefaultValue,
    pub access: Access,
    pub shown: Shown,
    /// Validation rules.
    pub rules: &'static [Rule],
    /// The accepted predicates in `q`.
    pub filter: Filter,
    /// Accepted in `sort`.
    pub sortable: bool,
    /// The label; empty for one from the name.
    pub label: &'static str,
    /// The help text of the input; empty for the description.
    pub help: &'static str,
    /// The heading of its group; empty for none.
    pub group: &'static str,
    /// The input, if it is not that of the kind.
    pub widget: Option<Widget>,
    /// The description for people; empty if there is none.
    pub description: &'static str,
    /// An example as text; empty for a generated one.
    pub example: &'static str,
    /// The JSON Schema of a JSON value.
    pub schema: Option<fn() -> serde_json::Value>,
}

impl FieldMeta {
    /// A writable, shown field without rules.
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
            group: "",
            widget: None,
            description: "",
            example: "",
            schema: None,
        }
    }

    /// True if the field is a column of the table.
    pub const fn is_column(&self) -> bool {
        !matches!(self.kind, Kind::Derived { .. } | Kind::Embedded { .. } | Kind::Computed { .. })
    }
}

/// The type of a field's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// One line of text of at most `max` characters (Unicode scalar values).
    String {
        max: u32,
    },
    /// Text of any length.
    Text,
    /// 32 bits.
    Integer,
    /// 64 bits. The kind of `id`.
    BigInt,
    Boolean,
    /// An exact number with `places` digits after the point and at most `precision` digits in all (at most 18).
    Decimal {
        precision: u8,
        places: u8,
    },
    Timestamp {
        form: TimestampForm,
    },
    /// A calendar day, `2026-03-21`.
    Date,
    /// One of these words, compared case-insensitively.
    Enum {
        values: &'static [&'static str],
    },
    /// One of these numbers, each with a label.
    Code {
        values: &'static [(i32, &'static str)],
    },
    /// A list of strings of at most `max` characters each, stored as JSON.
    StringList {
        max: u32,
    },
    /// A list of ids of another resource, stored as JSON.
    RefList {
        resource: &'static str,
    },
    /// Any JSON object or list. The default of a column that is not nullable is `{}`.
    Json,
    Uuid,
    /// The id of a record of another resource.
    Ref {
        resource: &'static str,
    },
    /// The id of a polymorphic reference. The column `type_field` has the type name.
    PolymorphicRef {
        type_field: &'static str,
    },
    /// The type name of a polymorphic reference: `StockLevel`.
    PolymorphicType {
        type_names: &'static [&'static str],
    },
    /// Values of custom fields by name.
    CustomFields,
    /// Read-only: the field `field` of the record that `via` references, or the label of the code `via` if `field` is `label`.
    Derived {
        via: &'static str,
        field: &'static str,
    },
    /// The records of `resource` whose field `by` is this record's id, read and written with this record.
    Embedded {
        resource: &'static str,
        by: &'static str,
    },
    /// Read-only text that the resource's code computes from these columns when the record is shown.
    Computed {
        from: &'static [&'static str],
    },
}

/// Output format of a timestamp. The input is RFC 3339 with any offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampForm {
    /// `2026-03-21T10:00:00Z`
    Seconds,
    /// `2026-03-21T10:00:00.000Z`
    Millis,
    /// `2026-03-21T10:00:00+00:00`
    Offset,
}

/// The value of a field that is missing on create.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultValue {
    /// Null for a nullable field, or an empty list or object. Other fields must be set by the client or a hook.
    None,
    /// The value as text, parsed like a query parameter: `true`, `0`, `rental`.
    Literal(&'static str),
    /// The time of the request.
    Now,
    /// The id of the calling user.
    Caller,
}

/// Write access of clients to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Writable,
    /// Ignored in requests.
    ReadOnly,
    /// Set on create. Another value on update is 422.
    Immutable,
    /// Never shown or filtered, but recorded in the audit log.
    WriteOnly,
    /// Never shown, logged or filtered.
    Secret,
    /// Columns of the server that clients neither write nor see.
    Internal,
}

/// The responses in which a field appears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In a list and in the single record.
    Always,
    /// In the single record only.
    Detail,
    Never,
}

/// The predicates that a field accepts in `q`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// All predicates that fit its kind.
    Fitting,
    /// These by name: `["eq", "cont"]`.
    Only(&'static [&'static str]),
    Off,
}

/// A validation rule. Numbers are decimal text, so that they are exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// At least.
    Min(&'static str),
    /// At most.
    Max(&'static str),
    /// More than.
    Above(&'static str),
    /// Less than.
    Below(&'static str),
    /// Minimum number of characters, or of elements of a list.
    MinLength(u32),
    /// Maximum number of elements of a list.
    MaxLength(u32),
    /// The whole value matches this regular expression.
    Pattern(&'static str),
    /// An absolute http or https URL.
    Url,
    Email,
    /// Unique among the records that are not deleted.
    Unique,
    /// A record of `resource` has this value in `field`.
    Exists {
        resource: &'static str,
        field: &'static str,
    },
    /// Different from another field.
    DiffersFrom(&'static str),
    /// Later or greater than another field, if both are set.
    After(&'static str),
    /// Not earlier or less than another field, if both are set.
    NotBefore(&'static str),
}

/// Related records for `include`.
#[derive(Debug, Clone, Copy)]
pub struct IncludeMeta {
    /// The public name, `productGroup`. snake_case is also accepted, and is used in responses.
    pub name: &'static str,
    pub target: IncludeTarget,
    /// The returned fields of each related record; empty for those of its list item.
    pub fields: &'static [&'static str],
}

/// The source of an include.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncludeTarget {
    /// The record that this reference, possibly polymorphic, refers to.
    One { via: &'static str },
    /// All records of `resource` whose field `by` is this record's id.
    Many { resource: &'static str, by: &'static str },
    /// The definitions and values of the record's custom fields.
    CustomFieldValues,
}
