//! Rules that a migration verifies in existing rows, with the SQL of the rows that break them.

use charter_model::FieldOption;
use charter_model::expression::{self, Database, Node};

use super::columns;
use crate::check::Names;
use crate::model::{Field, Resource, Rule, Schema};

/// The keys of rules over the values of a row, which a stored snapshot has besides `unique`.
pub const VERIFIED_RULES: &[&str] = &[
    "min",
    "max",
    "above",
    "below",
    "min_length",
    "differs_from",
    "matches_field",
    "after",
    "not_before",
    "required_when",
];

/// A rule of `checks`, of a field, or of the choices of a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct RowRule {
    /// The field that has the rule; none for a rule of `checks`.
    pub field: Option<String>,
    /// `min`, `where`, `checks`
    pub key: &'static str,
    /// The value of the key as in YAML; the condition of a check.
    pub value: String,
    /// The condition of the rows that break it. Deleted rows do not count.
    pub sqlite: String,
    pub postgres: String,
}

impl RowRule {
    /// `due_on not_before: lent_on`, `checks: due_on > lent_on`
    pub fn described(&self) -> String {
        let field = self.field.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
        format!("{field}{}: {}", self.key, self.value)
    }
}

/// The rules of a checked resource that SQL can verify.
pub fn capture(schema: &Schema, resource: &Resource) -> Vec<RowRule> {
    let checks = resource.checks.iter().filter_map(|check| {
        let (sqlite, postgres) = broken(resource, check.that.as_str())?;
        Some(RowRule { field: None, key: "checks", value: check.that.value.clone(), sqlite, postgres })
    });
    let columns = resource.fields.iter().filter(|field| field.is_column());
    let fields = columns.flat_map(|field| {
        let rules = field.rules.iter().filter_map(|rule| of_field(resource, field, &rule.value));
        rules.chain(choices(schema, resource, field)).collect::<Vec<_>>()
    });
    checks.chain(fields).collect()
}

fn of_field(resource: &Resource, field: &Field, rule: &Rule) -> Option<RowRule> {
    let (sqlite, postgres) = broken(resource, &condition(field.name.as_str(), rule)?)?;
    Some(RowRule { field: Some(field.name.value.clone()), key: rule.key(), value: rule.written(), sqlite, postgres })
}

/// A rule as a condition that holds if it is true or NULL.
fn condition(name: &str, rule: &Rule) -> Option<String> {
    let value = rule.written();
    Some(match rule {
        Rule::Min(_) | Rule::NotBefore(_) => format!("{name} >= {value}"),
        Rule::Max(_) => format!("{name} <= {value}"),
        Rule::Above(_) | Rule::After(_) => format!("{name} > {value}"),
        Rule::Below(_) => format!("{name} < {value}"),
        Rule::MinLength(_) => format!("length({name}) >= {value}"),
        Rule::DiffersFrom(_) => format!("{name} != {value}"),
        Rule::MatchesField(_) => format!("{name} is null or {value} is not null and {name} = {value}"),
        // A blank text counts as a value here: SQL trims fewer characters than the server.
        Rule::RequiredWhen(_) => format!("{name} is not null or not ({value})"),
        Rule::MaxLength(_) | Rule::Pattern(_) | Rule::Url | Rule::Email | Rule::Unique | Rule::Exists { .. } => {
            return None;
        }
    })
}

/// The condition of the rows that break a condition, in the SQL of both databases. None for one that the language does not
/// have, such as the number of elements of a list.
fn broken(resource: &Resource, condition: &str) -> Option<(String, String)> {
    let names = Names::without_request(resource);
    let node = Node::Not(Box::new(expression::check(condition, &names).ok()?));
    let sql = |database| format!("{}{}", columns::sql(&node, database), is_live(resource));
    Some((sql(Database::Sqlite), sql(Database::Postgres)))
}

/// The rule of the records that a reference can get. A record for which the condition is NULL is no choice.
fn choices(schema: &Schema, resource: &Resource, field: &Field) -> Option<RowRule> {
    let (text, target) = (field.described.get(FieldOption::Where)?, field.kind.target()?);
    let other = schema.find(target.as_str())?;
    let names = Names::without_request(other);
    let node = expression::check(text.as_str(), &names).ok()?;
    let (name, table, others) = (field.name.as_str(), resource.table.as_str(), other.table.as_str());
    let sql = |database| {
        let chosen = columns::sql(&node, database);
        format!(
            "\"{name}\" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \"{others}\" AS x WHERE x.\"id\" = \"{table}\".\"{name}\" AND {chosen}){}",
            is_live(resource)
        )
    };
    let (sqlite, postgres) = (sql(Database::Sqlite), sql(Database::Postgres));
    Some(RowRule { field: Some(name.to_owned()), key: "where", value: text.value.clone(), sqlite, postgres })
}

fn is_live(resource: &Resource) -> &'static str {
    if resource.soft_delete { " AND \"deleted_at\" IS NULL" } else { "" }
}

/// The form of checks in a file: the list of their conditions.
pub mod conditions {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    type Checks = BTreeMap<String, (Option<String>, Option<String>)>;

    pub fn serialize<S: Serializer>(checks: &Checks, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(checks.keys())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Checks, D::Error> {
        let conditions = Vec::<String>::deserialize(deserializer)?;
        Ok(conditions.into_iter().map(|condition| (condition, (None, None))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Span, Spanned};

    #[test]
    fn stored_snapshots_have_each_rule_that_is_verified() {
        let name = || Spanned::new("other".to_owned(), Span::NOWHERE);
        let rules = [
            Rule::Min(name()),
            Rule::Max(name()),
            Rule::Above(name()),
            Rule::Below(name()),
            Rule::MinLength(1),
            Rule::MaxLength(1),
            Rule::Pattern(name()),
            Rule::Url,
            Rule::Email,
            Rule::Unique,
            Rule::Exists { resource: name(), field: name() },
            Rule::DiffersFrom(name()),
            Rule::MatchesField(name()),
            Rule::After(name()),
            Rule::NotBefore(name()),
            Rule::RequiredWhen(name()),
        ];
        let verified = rules.iter().filter(|rule| condition("own", rule).is_some()).map(Rule::key);
        assert_eq!(verified.collect::<Vec<_>>(), VERIFIED_RULES);
    }
}
