//! Resource metadata: constant data that `#[derive(Resource)]` writes.
//!
//! The derive writes one [`ResourceMeta`] per resource. `catalog` links them at start-up. The query engine, the
//! writes, the router and the OpenAPI document read them.

mod action;
mod deprecation;
mod widget;

pub use action::{ActionMeta, ActionMethod, ActionOn, ActionOutput, Until};
pub use deprecation::{Deprecated, DeprecationMeta};
pub use widget::Widget;

/// One resource: names, fields, relations, operations and access.
#[derive(Debug)]
pub struct ResourceMeta {
    /// Singular name in snake_case: `exchange_rate`. The key of a single record and the prefix of its events.
    pub name: &'static str,
    /// Plural name: `exchange_rates`. The key of a list and the entity type of saved views and custom fields.
    pub plural: &'static str,
    /// Name for people: `Exchange rate`. A polymorphic reference uses [`ResourceMeta::type_name`].
    pub label: &'static str,
    /// Description for people. Empty if the fields explain it.
    pub description: &'static str,
    /// The value that names this resource in a polymorphic reference: `StockLevel`.
    pub type_name: &'static str,
    /// The database table.
    pub table: &'static str,
    /// The last segment of its collection's path: `exchange_rates`.
    pub path: &'static str,
    /// The parent resource in a nested path: `/products/{product_id}/accessories`.
    pub under: Option<Under>,
    /// The prefix of its abilities: `products` gives `products:read` and `products:write`.
    pub ability: &'static str,
    /// The permission that reading needs in addition to the ability.
    pub read_permission: Option<&'static str>,
    /// The permission that writing needs in addition to the ability.
    pub write_permission: Option<&'static str>,
    /// The column with the id of the user that owns the record. Other users do not see it, except administrators.
    pub owner: Option<&'static str>,
    /// The plain operations that are served.
    pub operations: &'static [Operation],
    /// The resource has one record without an id, at `/<path>`: settings.
    pub singleton: bool,
    /// Deleting sets `deleted_at`. Deleted records are hidden from lists, shows, includes and references.
    pub soft_delete: bool,
    /// Records have a `custom_fields` object, validated against the definitions of this entity type.
    pub custom_fields: bool,
    /// Records can have attachments, served at `/<path>/{id}/attachments` under the abilities of the resource.
    pub attachments: bool,
    /// Writes emit `<name>.created`, `.updated` and `.deleted`, and the events that actions name.
    pub events: bool,
    /// Every field, in the order of the single record.
    pub fields: &'static [FieldMeta],
    /// Sets of fields whose values must be unique together among the records that are not deleted.
    pub unique: &'static [&'static [&'static str]],
    /// Declared indexes: the columns of each, in order.
    pub indexes: &'static [&'static [&'static str]],
    /// Fields with an index for substring search.
    pub search: &'static [&'static str],
    /// Fields with an index for sorting, followed by the id. Text is indexed case-insensitively, on PostgreSQL only.
    pub ordered: &'static [&'static str],
    /// Related records that `include` can load.
    pub includes: &'static [IncludeMeta],
    /// Named operations in addition to the plain ones.
    pub actions: &'static [ActionMeta],
    /// Secrets that the response to a create shows once: name and description of each.
    pub reveals: &'static [(&'static str, &'static str)],
    /// Deprecated fields, filters and actions.
    pub deprecated: &'static [DeprecationMeta],
}

impl ResourceMeta {
    /// True if clients can list and restore the records that they deleted.
    pub fn keeps_deleted(&self) -> bool {
        self.soft_delete && !self.singleton && self.operations.contains(&Operation::Delete)
    }

    /// The sets of fields that are unique, of one field or several.
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
    /// The field that references the parent.
    pub field: &'static str,
}

/// One of the five plain operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    List,
    Show,
    Create,
    Update,
    Delete,
}

impl Operation {
    /// All five, in the order of the documentation.
    pub const ALL: &'static [Operation] =
        &[Operation::List, Operation::Show, Operation::Create, Operation::Update, Operation::Delete];
}

/// One field of a record, or one parameter of an action.
#[derive(Debug, Clone, Copy)]
pub struct FieldMeta {
    /// Its name in YAML, in the table, in JSON and in `q`.
    pub name: &'static str,
    pub kind: Kind,
    /// The value may be null; `""` clears it.
    pub nullable: bool,
    /// Create requires it.
    pub required: bool,
    /// Value if create does not give it.
    pub default: DefaultValue,
    pub access: Access,
    pub shown: Shown,
    /// Validation rules in addition to the kind.
    pub rules: &'static [Rule],
    /// Predicates that `q` accepts for it.
    pub filter: Filter,
    /// True if `sort` accepts it.
    pub sortable: bool,
    /// Name for people. Empty if it follows from `name`.
    pub label: &'static str,
    /// Help text of the input. Empty if it is the description.
    pub help: &'static str,
    /// Heading of the group in forms. Empty for none.
    pub group: &'static str,
    /// Form input, if the kind has several.
    pub widget: Option<Widget>,
    /// Description for people. Empty if name, kind and rules explain it.
    pub description: &'static str,
    /// Example value, as text. Empty if any valid value serves.
    pub example: &'static str,
    /// JSON Schema of a JSON value, if `kind` does not describe it.
    pub schema: Option<fn() -> serde_json::Value>,
}

impl FieldMeta {
    /// A writable, shown field without rules. The derive starts from it.
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

    /// True if the table has a column for it.
    pub const fn is_column(&self) -> bool {
        !matches!(self.kind, Kind::Derived { .. } | Kind::Embedded { .. } | Kind::Computed { .. })
    }
}

/// Type of a field's values.
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
    /// An exact number with `places` decimal places and at most `precision` digits (at most 18).
    Decimal {
        precision: u8,
        places: u8,
    },
    Timestamp {
        form: TimestampForm,
    },
    /// A calendar date, `2026-03-21`.
    Date,
    /// One of the words, compared case-insensitively.
    Enum {
        values: &'static [&'static str],
    },
    /// One of the numbers, each with a label.
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
    /// Any JSON object or list. The default is `{}` if it is not nullable.
    Json,
    Uuid,
    /// The id of a record of another resource.
    Ref {
        resource: &'static str,
    },
    /// The id in a polymorphic reference. `type_field` is the column with the type name.
    PolymorphicRef {
        type_field: &'static str,
    },
    /// The type name in a polymorphic reference, such as `StockLevel`.
    PolymorphicType {
        type_names: &'static [&'static str],
    },
    /// The values of the custom fields, by name.
    CustomFields,
    /// Read-only: the field `field` of the record that `via` references, or the label of the code `via` if `field` is
    /// `label`.
    Derived {
        via: &'static str,
        field: &'static str,
    },
    /// The records of `resource` whose `by` is this record's id, read and written with it.
    Embedded {
        resource: &'static str,
        by: &'static str,
    },
    /// Read-only text that the resource's code computes from these columns for each response.
    Computed {
        from: &'static [&'static str],
    },
}

/// Output format of a timestamp. Input is RFC 3339 with any offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampForm {
    /// `2026-03-21T10:00:00Z`
    Seconds,
    /// `2026-03-21T10:00:00.000Z`
    Millis,
    /// `2026-03-21T10:00:00+00:00`
    Offset,
}

/// Value of a field that create does not give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultValue {
    /// Null if the field is nullable, an empty list or object if the field is one. Otherwise the client or a hook
    /// must set it.
    None,
    /// Text of the value, read like a query parameter: `true`, `0`, `rental`.
    Literal(&'static str),
    /// The time of the request.
    Now,
    /// The id of the calling user.
    Caller,
}

/// Write access to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Writable,
    /// Ignored when a client sends it.
    ReadOnly,
    /// Set on create. A different value on update is 422.
    Immutable,
    /// Written by the client and never shown or filtered, but not secret: the audit log has it.
    WriteOnly,
    /// Written by the client, never shown, logged or filtered.
    Secret,
    /// Neither written nor shown: a column of the server.
    Internal,
}

/// Responses that contain a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In a list and in the single record.
    Always,
    /// In the single record only.
    Detail,
    Never,
}

/// Predicates that `q` accepts for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Every predicate that the kind supports.
    Fitting,
    /// These only, by name: `["eq", "cont"]`.
    Only(&'static [&'static str]),
    Off,
}

/// Validation rule. Numbers are decimal text to be exact.
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
    /// At least this many characters, or elements of a list.
    MinLength(u32),
    /// At most this many elements of a list.
    MaxLength(u32),
    /// The whole value matches the regular expression.
    Pattern(&'static str),
    /// An absolute http or https URL.
    Url,
    Email,
    /// No other record that is not deleted has this value.
    Unique,
    /// A record of `resource` has this value in `field`.
    Exists {
        resource: &'static str,
        field: &'static str,
    },
    /// Not equal to another field of the record.
    DiffersFrom(&'static str),
    /// Later or greater than another field of the record, if both are set.
    After(&'static str),
    /// Not earlier or less than another field of the record, if both are set.
    NotBefore(&'static str),
}

/// Related records that `include` loads.
#[derive(Debug, Clone, Copy)]
pub struct IncludeMeta {
    /// The public name, `productGroup`. Its snake_case is accepted too, and is the key in responses.
    pub name: &'static str,
    pub target: IncludeTarget,
    /// The fields of the related records in the response. Empty for the whole list item.
    pub fields: &'static [&'static str],
}

/// Origin of an include's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncludeTarget {
    /// The record that this reference field, polymorphic or not, points to.
    One { via: &'static str },
    /// All records of `resource` whose field `by` is this record's id.
    Many { resource: &'static str, by: &'static str },
    /// The definitions and values of the record's custom fields.
    CustomFieldValues,
}
