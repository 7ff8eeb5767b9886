//! Unique sets of a snapshot, with the condition of their index in SQL.

use charter_model::expression::{self, Database};
use serde::{Deserialize, Serialize};

use super::columns;
use crate::check::Names;
use crate::model;

/// Fields whose values are unique together. In a file it is the list of its fields, unless it has more.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct UniqueSet {
    pub fields: Vec<String>,
    pub rows: Option<Rows>,
    pub ignore_case: bool,
}

/// The rows that count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// The condition as in YAML.
    pub condition: String,
    /// The condition in SQL. It is stored because the rules of the fields, which it may depend on, are not.
    pub sqlite: String,
    pub postgres: String,
}

/// The forms of a set in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Fields(Vec<String>),
    Set {
        fields: Vec<String>,
        #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
        rows: Option<Rows>,
        #[serde(default, skip_serializing_if = "super::is_default")]
        ignore_case: bool,
    },
}

impl From<Written> for UniqueSet {
    fn from(written: Written) -> UniqueSet {
        match written {
            Written::Fields(fields) => UniqueSet { fields, rows: None, ignore_case: false },
            Written::Set { fields, rows, ignore_case } => UniqueSet { fields, rows, ignore_case },
        }
    }
}

impl From<UniqueSet> for Written {
    fn from(set: UniqueSet) -> Written {
        let UniqueSet { fields, rows, ignore_case } = set;
        if rows.is_none() && !ignore_case {
            Written::Fields(fields)
        } else {
            Written::Set { fields, rows, ignore_case }
        }
    }
}

impl UniqueSet {
    /// `` `email` without regard to case where `left_at is null` ``
    pub fn described(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(|name| format!("`{name}`")).collect();
        let case = if self.ignore_case { " without regard to case" } else { "" };
        let rows = self.rows.as_ref().map(|rows| format!(" where `{}`", rows.condition)).unwrap_or_default();
        format!("{}{case}{rows}", fields.join(", "))
    }
}

/// The unique sets of a checked resource, sorted.
pub fn capture(resource: &model::Resource) -> Vec<UniqueSet> {
    let set = |set: &model::UniqueSet| UniqueSet {
        fields: set.fields.value.iter().map(|name| name.value.clone()).collect(),
        rows: set.rows.as_ref().and_then(|condition| rows(resource, condition.as_str())),
        ignore_case: set.ignore_case,
    };
    let mut sets: Vec<UniqueSet> = resource.unique.iter().map(set).collect();
    sets.sort();
    sets
}

/// A condition that the check has accepted, in the SQL of both databases.
fn rows(resource: &model::Resource, condition: &str) -> Option<Rows> {
    let names = Names::without_request(resource);
    let node = expression::check(condition, &names).ok()?;
    let (sqlite, postgres) = (columns::sql(&node, Database::Sqlite), columns::sql(&node, Database::Postgres));
    Some(Rows { condition: condition.to_owned(), sqlite, postgres })
}
