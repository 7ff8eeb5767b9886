//! Snapshot of the resources, resolved and in a canonical form, so that two can be compared.
//!
//! A snapshot is taken of a checked schema. The parts that tables depend on are stored as one small YAML file for each
//! resource, which says what the last migration reached. Everything is sorted by name, so that branches with different
//! changes merge.

mod capture;
mod columns;
mod folder;
mod kind;
mod row_rules;
mod unique;

use std::collections::BTreeMap;

use charter_model::naming;
use serde::{Deserialize, Serialize};

pub use charter_model::{Access, Shown};
pub use kind::{Kind, text as kind_text};
pub use row_rules::RowRule;
pub use unique::{Rows, UniqueSet};

/// All resources of an application.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub resources: BTreeMap<String, Resource>,
}

/// One resource. Skipped parts are not stored, because no table depends on them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    #[serde(skip)]
    pub name: String,
    /// `resources/product.yaml:2:11`, the place in the YAML.
    #[serde(skip)]
    pub place: Option<String>,
    /// The former name, if the YAML declares one.
    #[serde(skip)]
    pub renamed_from: Option<String>,
    #[serde(skip)]
    pub plural: String,
    #[serde(skip)]
    pub label: String,
    pub table: String,
    /// `products`, or `products/{product_id}/accessories`.
    #[serde(skip)]
    pub path: String,
    #[serde(skip)]
    pub ability: String,
    #[serde(skip)]
    pub read_permission: Option<String>,
    #[serde(skip)]
    pub write_permission: Option<String>,
    #[serde(skip)]
    pub owner: Option<String>,
    /// The fields that anybody may send to create a record, and the limit.
    #[serde(skip)]
    pub public: Option<(Vec<String>, String)>,
    #[serde(skip)]
    pub read_rule: Option<String>,
    #[serde(skip)]
    pub write_rule: Option<String>,
    #[serde(skip)]
    pub operations: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub singleton: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub soft_delete: bool,
    #[serde(skip)]
    pub attachments: bool,
    #[serde(skip)]
    pub events: bool,
    /// Events that only code emits.
    #[serde(skip)]
    pub emits: Vec<String>,
    #[serde(skip)]
    pub timestamps: String,
    pub fields: BTreeMap<String, Field>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub unique: Vec<UniqueSet>,
    /// The checks by condition, each with its field and its message. A file has the conditions alone.
    #[serde(default, skip_serializing_if = "is_default", with = "row_rules::conditions")]
    pub checks: BTreeMap<String, (Option<String>, Option<String>)>,
    /// The rules of `checks` and of fields over existing rows; none in a stored snapshot.
    #[serde(skip)]
    pub row_rules: Vec<RowRule>,
    #[serde(skip)]
    pub frozen: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub indexes: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub search: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub ordered: Vec<String>,
    /// The title of a record: `{name} ({sku})`.
    #[serde(skip)]
    pub title: Option<String>,
    /// The order of a list without `sort`: `-created_at`.
    #[serde(skip)]
    pub order: Vec<String>,
    #[serde(skip)]
    pub includes: BTreeMap<String, Include>,
    #[serde(skip)]
    pub actions: BTreeMap<String, Action>,
    /// Deprecations by place: `fields.weight`, `filters.name_cont`, `actions.close`.
    #[serde(skip)]
    pub deprecated: BTreeMap<String, Deprecation>,
    #[serde(skip)]
    pub hooks: Vec<String>,
    #[serde(skip)]
    pub seed: Option<String>,
}

/// A field of a record, a parameter of an action or a field of its output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    #[serde(skip)]
    pub name: String,
    /// `resources/product.yaml:2:11`, the place in the YAML.
    #[serde(skip)]
    pub place: Option<String>,
    /// The former name, if the YAML declares one.
    #[serde(skip)]
    pub renamed_from: Option<String>,
    /// The value for existing rows, if the YAML declares one.
    #[serde(skip)]
    pub backfill: Option<Default>,
    /// The position in the declaration.
    #[serde(skip)]
    pub position: usize,
    #[serde(rename = "type", with = "kind")]
    pub kind: Kind,
    /// The words of an enum.
    #[serde(skip)]
    pub values: Vec<String>,
    /// The numbers of a code with their labels.
    #[serde(skip)]
    pub codes: BTreeMap<i32, String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub nullable: bool,
    #[serde(skip)]
    pub required: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub default: Default,
    #[serde(skip)]
    pub access: Access,
    #[serde(skip)]
    pub shown: Shown,
    /// The rules by key, as written: `min: 0`, `unique: true`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: BTreeMap<String, String>,
    /// The expression of a computed field.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: Option<String>,
    /// The records from which the database has its value: `count loan by book_id where returned_on is null`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rollup: Option<String>,
    /// The expression for a migration; none in a stored snapshot.
    #[serde(skip)]
    pub computation: Option<Computation>,
    /// The expression of the default for a migration; none in a stored snapshot, and for one that depends on the request.
    #[serde(skip)]
    pub initial: Option<Computation>,
    /// The predicates that `q` accepts.
    #[serde(skip)]
    pub predicates: Vec<String>,
    #[serde(skip)]
    pub sorts: bool,
    /// The path of a derived field: `product_group_id.name`.
    #[serde(skip)]
    pub from: Option<String>,
    /// The effect of the deletion of the record that a reference refers to.
    #[serde(skip)]
    pub on_delete: Option<String>,
    /// The condition over the records that a reference can get.
    #[serde(default, rename = "where", skip_serializing_if = "is_default")]
    pub choices: Option<String>,
    /// The format of the number that the server assigns.
    #[serde(skip)]
    pub sequence: Option<String>,
    /// How that number is taken.
    #[serde(skip)]
    pub numbering: Option<String>,
}

/// The expression of a field as SQL of each database.
#[derive(Debug, Clone, PartialEq)]
pub struct Computation {
    pub sqlite: String,
    pub postgres: String,
    /// The fields that it names.
    pub fields: Vec<String>,
}

/// The value of a field that create does not give.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Default {
    #[default]
    None,
    Now,
    Caller,
    Hook,
    Expression {
        value: String,
    },
    #[serde(untagged)]
    Literal {
        value: String,
    },
}

/// An include with the fields that it writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Include {
    /// `product_group_id`, `stock_level.product_id` or `custom_fields`.
    pub loads: String,
    /// Empty for the fields of the list item.
    pub fields: Vec<String>,
}

/// A named operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub on: String,
    pub method: String,
    /// The name of its event, in place of `updated`.
    pub event: Option<String>,
    pub input: BTreeMap<String, Field>,
    /// The key of its output, or `the new record`; none if it returns the record.
    pub answer: Option<String>,
    pub output: BTreeMap<String, Field>,
    /// The change of the state, if it is a transition.
    pub transition: Option<Transition>,
    pub guard: Option<String>,
    pub permission: Option<String>,
    /// The fields that it sets, with their values as written.
    pub set: BTreeMap<String, String>,
}

/// A transition as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The field of the state.
    pub field: String,
    /// Sorted.
    pub from: Vec<String>,
    pub to: String,
}

/// A deprecation as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Deprecation {
    pub since: String,
    pub sunset: Option<String>,
    pub instead: Option<String>,
}

impl Snapshot {
    /// The table of a resource. That of a platform resource follows from its name.
    pub fn table_of(&self, resource: &str) -> String {
        self.resources.get(resource).map_or_else(|| naming::plural(resource), |resource| resource.table.clone())
    }
}

impl Resource {
    /// The fields in the order of the declaration. A stored snapshot has them sorted by name, with the key first.
    pub fn ordered(&self) -> Vec<&Field> {
        let mut fields: Vec<&Field> = self.fields.values().collect();
        fields.sort_by_key(|field| (field.name != "id", field.position));
        fields
    }
}

impl Field {
    /// True if the table has a column for it.
    pub fn is_column(&self) -> bool {
        self.from.is_none() && self.kind.is_column()
    }

    /// True if a table depends on it. An embedded field, and links, decide whether rows of another table are deleted.
    pub fn is_stored(&self) -> bool {
        self.is_column() || self.kind.dependents().is_some()
    }

    /// True if clients read it.
    pub fn is_shown(&self) -> bool {
        self.shown != Shown::Never && self.access != Access::Secret
    }

    /// True if clients write it at least once.
    pub fn is_writable(&self) -> bool {
        self.from.is_none() && self.access != Access::ReadOnly
    }
}

fn is_default<T: std::default::Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
