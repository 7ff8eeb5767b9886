//! What a model promises and stores, resolved and in one canonical form, so that two of them can be compared.
//!
//! A snapshot is taken of a checked schema. Kept as one small YAML file for each resource, it says what the last
//! migration reached. Everything stands in the order of its name, so that two branches that change different things
//! merge.

mod capture;
mod folder;
mod kind;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use kind::Kind;

use crate::names;

/// A whole application.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    pub resources: BTreeMap<String, Resource>,
}

/// One resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    #[serde(skip)]
    pub name: String,
    /// Its name before, where the YAML says so; a snapshot that is kept has none.
    #[serde(skip)]
    pub renamed_from: Option<String>,
    pub plural: String,
    pub label: String,
    pub table: String,
    /// `products`, or `products/{product_id}/accessories`.
    pub path: String,
    pub ability: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_permission: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_permission: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub owner: Option<String>,
    pub operations: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub singleton: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub soft_delete: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub events: bool,
    pub timestamps: String,
    pub fields: BTreeMap<String, Field>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub unique: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub indexes: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub search: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub includes: BTreeMap<String, Include>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub actions: BTreeMap<String, Action>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub seed: Option<String>,
}

/// A field of a record, a parameter of an action or a field of its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    #[serde(skip)]
    pub name: String,
    /// Its name before, where the YAML says so; a snapshot that is kept has none.
    #[serde(skip)]
    pub renamed_from: Option<String>,
    /// What rows that are there get, where the YAML says so; a snapshot that is kept has none.
    #[serde(skip)]
    pub backfill: Option<Default>,
    /// Its place among the fields of the declaration; a snapshot that is kept does not tell.
    #[serde(skip)]
    pub position: usize,
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The words of an enum.
    #[serde(default, skip_serializing_if = "is_default")]
    pub values: Vec<String>,
    /// The numbers of a code with their labels.
    #[serde(default, skip_serializing_if = "is_default")]
    pub codes: BTreeMap<i32, String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub nullable: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub required: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub default: Default,
    #[serde(default, skip_serializing_if = "is_default")]
    pub access: Access,
    #[serde(default, skip_serializing_if = "is_default")]
    pub shown: Shown,
    /// By key, as they are written: `min: 0`, `unique: true`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: BTreeMap<String, String>,
    /// What `q` can ask of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub predicates: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub sorts: bool,
    /// Whose value it shows: `product_group_id.name`.
    #[serde(default, skip_serializing_if = "is_default")]
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

/// Who writes a field, and when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    #[default]
    Writable,
    ReadOnly,
    Immutable,
    Secret,
}

/// In which answers a field appears.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    #[default]
    Always,
    Detail,
    Never,
}

/// What an include loads, and which fields of it are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Include {
    /// `product_group_id`, `stock_level.product_id` or `custom_fields`.
    pub loads: String,
    /// Empty for those of the list item.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fields: Vec<String>,
}

/// A named operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    pub on: String,
    pub method: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub input: BTreeMap<String, Field>,
    /// The key of its answer, or `the new record`; none where it answers the record.
    #[serde(default, skip_serializing_if = "is_default")]
    pub answer: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: BTreeMap<String, Field>,
}

impl Snapshot {
    /// The table of a resource; that of one of the platform's follows from its name.
    pub fn table_of(&self, resource: &str) -> String {
        self.resources.get(resource).map_or_else(|| names::plural(resource), |resource| resource.table.clone())
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
        self.from.is_none() && !matches!(self.kind, Kind::Embedded { .. })
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
