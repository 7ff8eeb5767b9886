//! Metadata of a resource as constants, written by `#[derive(Resource)]`.
//!
//! The derive writes one [`ResourceMeta`] per resource. `catalog` links them into a graph when the application starts.
//! The query engine, the writes, the router and the OpenAPI document read that graph.

mod action;
mod action_rule;
mod deprecation;
mod record_rules;
mod rollup;

pub use action::{ActionMeta, ActionOutput, Until};
pub use action_rule::{ActionRule, SetValue, StateChange};
pub use charter_model::rate::Rate;
pub use charter_model::{
    Access, ActionMethod, ActionOn, Deprecated, Numbering, OnDelete, Operation, RollupFunction, Shown, TimestampForm,
    Widget,
};
use charter_model::{Constant, FieldType};
pub use deprecation::DeprecationMeta;
pub use record_rules::{CheckMeta, UniqueMeta};
pub use rollup::RollupMeta;

/// Metadata of one resource: names, fields, indexes, relations and permissions.
#[derive(Debug)]
pub struct ResourceMeta {
    /// Singular name in snake_case: `exchange_rate`. The key of a single record and the prefix of its events.
    pub name: &'static str,
    /// Plural name: `exchange_rates`. The key of a list and the entity type of saved views and custom fields.
    pub plural: &'static str,
    /// The name people read: `Exchange rate`. In a polymorphic reference it is [`ResourceMeta::type_name`].
    pub label: &'static str,
    /// The text that stands for a record, `{name} ({sku})`; empty for the field that names it.
    pub title: &'static str,
    /// Description of a record in the OpenAPI document and the panel; may be empty.
    pub description: &'static str,
    /// Heading in the panel's navigation under which it is listed; empty for none.
    pub menu: &'static str,
    /// Columns of the list in the panel, in their order; empty for those of the panel's choice.
    pub columns: &'static [&'static str],
    /// The value that names this resource in a polymorphic reference: `StockLevel`.
    pub type_name: &'static str,
    /// Name of its table.
    pub table: &'static str,
    /// Last segment of its collection's path: `exchange_rates`.
    pub path: &'static str,
    /// The parent, whose path is the prefix of this one's: `/products/{product_id}/accessories`.
    pub under: Option<Under>,
    /// The prefix of its abilities: `products` gives `products:read` and `products:write`.
    pub ability: &'static str,
    /// Permission that a read requires in addition to the ability.
    pub read_permission: Option<&'static str>,
    /// Permission that a write requires in addition to the ability.
    pub write_permission: Option<&'static str>,
    /// Column with the id of the user who owns a record. Only that user and administrators see the record.
    pub owner: Option<&'static str>,
    /// The rights of callers without a token.
    pub public: Option<PublicMeta>,
    /// Condition for the records that a caller may read; administrators read all.
    pub read_rule: Option<&'static str>,
    /// Condition for the records that a caller may change, of those that it may read.
    pub write_rule: Option<&'static str>,
    /// Those of list, show, create, update and delete that the API serves.
    pub operations: &'static [Operation],
    /// The resource has one record, without an id, at `/<path>`: the settings.
    pub singleton: bool,
    /// Deleting sets `deleted_at`. Lists, shows, includes and references exclude deleted records.
    pub soft_delete: bool,
    /// Records carry a `custom_fields` object, checked against the definitions of this entity type.
    pub custom_fields: bool,
    /// Files can be attached to its records: they are listed at `/<path>/{id}/attachments`, under its abilities.
    pub attachments: bool,
    /// Writes emit the events `<name>.created`, `.updated` and `.deleted`, and those of its actions.
    pub events: bool,
    /// Events that only the application's code emits: `overdue`, of `loan.overdue`.
    pub extra_events: &'static [&'static str],
    /// Every field in the order of the single record; [`FieldMeta::shown`] says where it appears.
    pub fields: &'static [FieldMeta],
    /// Sets of fields whose values must be unique together, among the records that are not deleted.
    pub unique: &'static [UniqueMeta],
    /// Conditions that each record must meet.
    pub checks: &'static [CheckMeta],
    /// The condition under which no field of a record changes any more, and nobody deletes it.
    pub frozen: Option<&'static str>,
    /// Declared indexes: the columns of each, in order.
    pub indexes: &'static [&'static [&'static str]],
    /// Fields with a trigram index for substring predicates.
    pub search: &'static [&'static str],
    /// Fields with an index for sorting, with the id as tie-breaker: text without regard to case, on PostgreSQL only.
    pub ordered: &'static [&'static str],
    /// The order of a list without `sort`, as keys of `sort`; by id if it is empty.
    pub order: &'static [&'static str],
    /// Related records that a client can include.
    pub includes: &'static [IncludeMeta],
    /// Operations in addition to list, show, create, update and delete.
    pub actions: &'static [ActionMeta],
    /// Secrets that only the response to a create contains: name and description of each.
    pub reveals: &'static [(&'static str, &'static str)],
    /// Deprecated parts. Responses that use one have the headers `Deprecation` and `Sunset`.
    pub deprecated: &'static [DeprecationMeta],
}

impl ResourceMeta {
    /// True if deleted records can be listed and restored.
    pub fn keeps_deleted(&self) -> bool {
        self.soft_delete && !self.singleton && self.operations.contains(&Operation::Delete)
    }

    /// The sets of fields whose values are unique, those of one field included.
    pub fn unique_sets(&self) -> impl Iterator<Item = UniqueMeta> + use<> {
        let alone = self.fields.iter().filter(|field| field.rules.contains(&Rule::Unique));
        alone.map(|field| UniqueMeta::plain(std::slice::from_ref(&field.name))).chain(self.unique.iter().copied())
    }
}

/// An open door: callers without a token create records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicMeta {
    /// The fields that they may send.
    pub create: &'static [&'static str],
    /// How many records a client address may create.
    pub limit: Rate,
}

/// The parent in a nested path.
#[derive(Debug, Clone, Copy)]
pub struct Under {
    /// Singular name of the parent resource.
    pub resource: &'static str,
    /// Field that references the parent.
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
    /// Required in a create.
    pub required: bool,
    /// Value if a create omits the field.
    pub default: DefaultValue,
    pub access: Access,
    pub shown: Shown,
    /// Validation rules, in addition to those of the kind.
    pub rules: &'static [Rule],
    /// Predicates that `q` accepts for it.
    pub filter: Filter,
    /// True if `sort` accepts it.
    pub sortable: bool,
    /// Label in the panel; if empty, it is derived from the name.
    pub label: &'static str,
    /// Help text in forms; if empty, the description.
    pub help: &'static str,
    /// The text that its empty input shows; empty for none.
    pub placeholder: &'static str,
    /// Heading of its group in forms; empty for none.
    pub group: &'static str,
    /// Input of the panel, if the kind has several.
    pub widget: Option<Widget>,
    /// Description in the OpenAPI document; if empty, it is derived from name, kind and rules.
    pub description: &'static str,
    /// Value for examples, as text; if empty, any valid value.
    pub example: &'static str,
    /// The permission or ability that reading the field needs; empty for none. See [`Principal::has_right`].
    ///
    /// [`Principal::has_right`]: crate::principal::Principal::has_right
    pub read: &'static str,
    /// The permission or ability that setting the field needs; if empty, that of `read`.
    pub write: &'static str,
    /// The effect of the deletion of the record that a reference refers to; `None` for that of the foreign key, which
    /// refuses it and does not see a soft deletion.
    pub on_delete: Option<OnDelete>,
    /// The format of the number that the server assigns on create; empty for none. See [`SequenceFormat`].
    ///
    /// [`SequenceFormat`]: charter_model::sequence::SequenceFormat
    pub sequence: &'static str,
    /// How that number is taken.
    pub numbering: Numbering,
    /// The expression over other fields of the record that computes it at each write; empty for none.
    pub value: &'static str,
    /// The records of another resource from which the database has its value.
    pub rollup: Option<RollupMeta>,
    /// The condition over the referenced record that a new value of a reference must meet; empty for none.
    pub choices: &'static str,
    /// JSON Schema of a JSON value, if `kind` does not define it.
    pub schema: Option<fn() -> serde_json::Value>,
}

impl FieldMeta {
    /// A writable, shown field without rules, from which the derive starts.
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
            read: "",
            write: "",
            on_delete: None,
            sequence: "",
            numbering: Numbering::Fast,
            value: "",
            rollup: None,
            choices: "",
            schema: None,
        }
    }

    /// True if the table has a column for it.
    pub const fn is_column(&self) -> bool {
        self.kind.is_column()
    }
}

/// The type of a field, as a constant.
pub type Kind = FieldType<Constant>;

/// A validation rule, as a constant.
pub type Rule = charter_model::Rule<Constant>;

/// Value of a field that a create omits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultValue {
    /// Null if the field is nullable, `[]` or `{}` if it is a list or object; otherwise the client or a hook must set
    /// the field.
    None,
    /// The text of the value, read like a query parameter: `true`, `0`, `rental`.
    Literal(&'static str),
    /// The time of the request.
    Now,
    /// The id of the calling user.
    Caller,
    /// The hook `check` or `before_save` sets it.
    Hook,
    /// The value of this expression over the other fields. See [`charter_model::expression`].
    Expression(&'static str),
}

/// Predicates that a field accepts in `q`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Every predicate that fits its kind.
    Fitting,
    /// These only, by name: `["eq", "cont"]`.
    Only(&'static [&'static str]),
    Off,
}

/// Related records that `include` loads.
#[derive(Debug, Clone, Copy)]
pub struct IncludeMeta {
    /// Public name, such as `productGroup`. Requests may also use snake_case; responses always do.
    pub name: &'static str,
    pub target: IncludeTarget,
    /// Fields of each related record in the response; if empty, all those of a list item.
    pub fields: &'static [&'static str],
}

/// Where an include's records come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncludeTarget {
    /// The record that this reference field, possibly polymorphic, references.
    One { via: &'static str },
    /// All records of `resource` whose field `by` is this record's id.
    Many { resource: &'static str, by: &'static str },
    /// The records whose ids this field of [`Kind::Links`] has.
    Links { field: &'static str },
    /// The definitions and values of the record's custom fields.
    CustomFieldValues,
    /// The transitions of the record, and which of them the caller may run.
    AllowedActions,
}
