//! The records that exist when a seed row is inserted: rows of earlier files and earlier rows of the same file.

use charter_model::Hook;

use crate::model::{Default, Field, Resource, Rule, Schema};
use crate::syntax::tree::{Entry, Node, Value};

/// The state of the database when a row is inserted.
#[derive(Clone, Copy)]
pub struct SeedState<'a> {
    pub schema: &'a Schema,
    /// The resource whose file is being read, and its rows so far; none after the last file.
    pub file: Option<(&'a Resource, &'a [Node])>,
    /// The resources whose files come later. In a cycle no order is right.
    pub later: &'a [&'a str],
}

impl<'a> SeedState<'a> {
    /// The state after these rows of the same file.
    pub fn with(self, rows: &'a [Node]) -> SeedState<'a> {
        SeedState { file: self.file.map(|(resource, _)| (resource, rows)), ..self }
    }

    /// The path of a value that a field asks for with `exists` and that no record has: `currency.code`.
    pub fn missing_value(self, field: &Field, text: &str) -> Option<String> {
        let paths = field.rules.iter().filter_map(|rule| match &rule.value {
            Rule::Exists { resource, field } => Some((resource.as_str(), field.as_str())),
            _ => None,
        });
        let mut missing_values = paths.filter(|(resource, field)| !text.is_empty() && !self.has(resource, field, text));
        missing_values.next().map(|(resource, field)| format!("{resource}.{field}"))
    }

    /// The number of records of a resource, if that is too few for one with this id. Ids count from 1.
    pub fn missing_row(self, target: &str, id: &str) -> Option<usize> {
        let (target, id) = (self.schema.find(target)?, id.parse::<i64>().ok()?);
        let rows = self.rows(target)?.len();
        let may_be = usize::try_from(id).is_ok_and(|id| (1..=rows).contains(&id));
        (!may_be && !self.may_come_otherwise(target)).then_some(rows)
    }

    /// True if a record may have a value; true where the files do not tell.
    fn has(self, resource: &str, field: &str, text: &str) -> bool {
        let Some(target) = self.schema.find(resource) else { return true };
        // An unknown field is reported where it is named.
        if target.field(field).is_none() {
            return true;
        }
        let Some(rows) = self.rows(target) else { return true };
        let is_sown = rows.iter().any(|row| match &row.value {
            Value::Map(entries) => value_in_row(target, entries, field).is_some_and(|value| value == text),
            _ => true,
        });
        is_sown || self.may_come_otherwise(target)
    }

    /// The rows of a resource so far. Platform resources have none: the first user is created after all seeds. None if
    /// the file could not be read.
    fn rows(self, target: &'a Resource) -> Option<&'a [Node]> {
        let name = target.name.as_str();
        match self.file {
            Some((resource, rows)) if resource.name.value == name => Some(rows),
            Some(_) if self.later.contains(&name) => Some(&[]),
            _ => match target.seed.as_ref().map(|seed| &seed.rows) {
                Some(Some(Node { value: Value::List(rows), .. })) => Some(rows),
                Some(_) => None,
                None => Some(&[]),
            },
        }
    }

    /// True if hooks or other records may create records that no seed row declares.
    fn may_come_otherwise(self, target: &Resource) -> bool {
        target.singleton
            || target.has_hook(Hook::BeforeSave)
            || self.schema.declared().any(|resource| resource.has_hook(Hook::AfterSave))
            || self.schema.is_embedded(target.name.as_str())
    }
}

/// The resources that are seeded after another.
pub fn later<'s>(schema: &'s Schema, resource: &Resource) -> Vec<&'s str> {
    let order = schema.seeded().into_iter().map(|(resource, _)| resource.name.as_str());
    order.skip_while(|name| *name != resource.name.value).skip(1).collect()
}

/// The value of a field in a row, or its default if the row leaves it out. Numbers are normalised.
pub fn value_in_row(resource: &Resource, entries: &[Entry], name: &str) -> Option<String> {
    let field = resource.field(name)?;
    let given = entries.iter().find(|entry| entry.key.value == name).filter(|entry| !entry.value.is_null());
    let text = match (given, &field.default) {
        (Some(entry), _) => entry.value.scalar().map(|text| text.value).filter(|text| !text.is_empty())?,
        (None, Default::Literal(text)) => text.clone(),
        (None, _) => return None,
    };
    let is_decimal = field.kind.is_number() && text.contains('.');
    Some(if is_decimal { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text })
}
