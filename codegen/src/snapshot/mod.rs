//! What a model promises and stores, resolved and in one canonical form, so that two of them can be compared.
//!
//! A snapshot is taken of a checked schema. What tables depend on is kept as one small YAML file for each resource, and
//! says what the last migration reached. Everything stands in the order of its name, so that two branches that change
//! different things merge.

mod capture;
mod folder;
mod kind;

use std::collections::BTreeMap;

use charter_model::naming;
use serde::{Deserialize, Serialize};

pub use charter_model::{Access, Shown};
pub use kind::{Kind, text as kind_text};

/// A whole application.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub resources: BTreeMap<String, Resource>,
}

/// One resource. What is not read and written is not kept, as no table depends on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    #[serde(skip)]
    pub name: String,
    /// `resources/product.yaml:2:11`, where the YAML declares it.
    #[serde(skip)]
    pub place: Option<String>,
    /// Its name before, where the YAML says so.
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
    #[serde(skip)]
    pub timestamps: String,
    pub fields: BTreeMap<String, Field>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub unique: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub indexes: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub search: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub ordered: Vec<String>,
    #[serde(skip)]
    pub includes: BTreeMap<String, Include>,
    #[serde(skip)]
    pub actions: BTreeMap<String, Action>,
    /// What is to go, by its place: `fields.weight`, `filters.name_cont`, `actions.close`.
    #[serde(skip)]
    pub deprecated: BTreeMap<String, Deprecation>,
    #[serde(skip)]
    pub hooks: Vec<String>,
    #[serde(skip)]
    pub seed: Option<String>,
}

/// A field of a record, a parameter of an action or a field of its answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    #[serde(skip)]
    pub name: String,
    /// `resources/product.yaml:2:11`, where the YAML declares it.
    #[serde(skip)]
    pub place: Option<String>,
    /// Its name before, where the YAML says so.
    #[serde(skip)]
    pub renamed_from: Option<String>,
    /// What rows that are there get, where the YAML says so.
    #[serde(skip)]
    pub backfill: Option<Default>,
    /// Its place among the fields of the declaration.
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
    /// By key, as they are written: `min: 0`, `unique: true`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: BTreeMap<String, String>,
    /// What `q` can ask of it.
    #[serde(skip)]
    pub predicates: Vec<String>,
    #[serde(skip)]
    pub sorts: bool,
    /// Whose value it shows: `product_group_id.name`.
    #[serde(skip)]
    pub from: Option<String>,
}

/// What a field is when create does not give it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Default {
    #[default]
    None,
    Now,
    Caller,
    Hook,
    #[serde(untagged)]
    Literal {
        value: String,
    },
}

/// What an include loads, and which fields of it are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Include {
    /// `product_group_id`, `stock_level.product_id` or `custom_fields`.
    pub loads: String,
    /// Empty for those of the list item.
    pub fields: Vec<String>,
}

/// A named operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    pub on: String,
    pub method: String,
    /// What its event is called in place of `updated`.
    pub event: Option<String>,
    pub input: BTreeMap<String, Field>,
    /// The key of its answer, or `the new record`; none where it answers the record.
    pub answer: Option<String>,
    pub output: BTreeMap<String, Field>,
}

/// What clients were told of something that is to go.
#[derive(Debug, Clone, PartialEq)]
pub struct Deprecation {
    pub since: String,
    pub sunset: Option<String>,
    pub instead: Option<String>,
}

impl Snapshot {
    /// The table of a resource; that of one of the platform's follows from its name.
    pub fn table_of(&self, resource: &str) -> String {
        self.resources.get(resource).map_or_else(|| naming::plural(resource), |resource| resource.table.clone())
    }
}

impl Resource {
    /// The fields in the order of the declaration; those of a snapshot that was kept in the order of their names, the
    /// key first.
    pub fn ordered(&self) -> Vec<&Field> {
        let mut fields: Vec<&Field> = self.fields.values().collect();
        fields.sort_by_key(|field| (field.name != "id", field.position));
        fields
    }
}

impl Field {
    /// Whether the table has a column for it.
    pub fn is_column(&self) -> bool {
        self.from.is_none() && self.kind.is_column()
    }

    /// Whether a table depends on it: also on what makes the rows of another go with its own.
    pub fn is_stored(&self) -> bool {
        self.is_column() || matches!(self.kind, Kind::Embedded { .. })
    }

    /// Whether clients see it in an answer.
    pub fn is_shown(&self) -> bool {
        self.shown != Shown::Never && self.access != Access::Secret
    }

    /// Whether clients give it, at least once.
    pub fn is_given(&self) -> bool {
        self.from.is_none() && self.access != Access::ReadOnly
    }
}

fn is_default<T: std::default::Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
