//! What is there when a row is sown: the rows of the files before it, and those above it in its own.

use crate::model::{Default, Field, Path, Resource, Rule, Schema};
use crate::syntax::tree::{Entry, Node, Value};
use crate::words::Hook;

/// The moment at which a record is made.
#[derive(Clone, Copy)]
pub struct Sown<'a> {
    pub schema: &'a Schema,
    /// The resource whose file is being sown, and its rows that are there already; none once all files are.
    pub file: Option<(&'a Resource, &'a [Node])>,
}

impl<'a> Sown<'a> {
    /// The moment after these rows of the same file.
    pub fn with(self, rows: &'a [Node]) -> Sown<'a> {
        Sown { file: self.file.map(|(resource, _)| (resource, rows)), ..self }
    }

    /// What a field must name and what no record has then: `currency.code`.
    pub fn lacks(self, field: &Field, text: &str) -> Option<String> {
        let paths = field.rules.iter().filter_map(|rule| match &rule.value {
            Rule::Exists(path) => Some(path),
            _ => None,
        });
        let mut lacking = paths.filter(|path| !text.is_empty() && !self.has(path, text));
        lacking.next().map(|path| format!("{}.{}", path.head.value, path.tail.value))
    }

    /// Whether a record may have the value: also where what is there cannot be told from the files.
    fn has(self, path: &Path, text: &str) -> bool {
        let name = path.head.as_str();
        let Some(target) = self.schema.find(name).filter(|target| !target.is_platform()) else { return true };
        // That it has no such field is told where it is named.
        if target.field(path.tail.as_str()).is_none() {
            return true;
        }
        // Hooks may set it, and records may come with others.
        let by_hook =
            target.has_hook(Hook::BeforeSave) || self.schema.declared().any(|one| one.has_hook(Hook::AfterSave));
        if by_hook || target.singleton || self.schema.is_embedded(name) {
            return true;
        }
        let rows: &[Node] = match self.file {
            Some((resource, rows)) if resource.name.value == name => rows,
            // A circle has no right order: who comes later is not there yet.
            Some((resource, _)) if self.is_later(target, resource) => &[],
            _ => match target.seed.as_ref().map(|seed| &seed.rows) {
                Some(Some(Node { value: Value::List(rows), .. })) => rows,
                Some(_) => return true,
                None => &[],
            },
        };
        rows.iter().any(|row| match &row.value {
            Value::Map(entries) => stands(target, entries, path.tail.as_str()).is_some_and(|value| value == text),
            _ => true,
        })
    }

    fn is_later(self, target: &Resource, resource: &Resource) -> bool {
        let order = self.schema.seeded();
        let place = |wanted: &Resource| order.iter().position(|(one, _)| one.name.value == wanted.name.value);
        place(target).is_some() && place(target) > place(resource)
    }
}

/// What a row has in a field: the value as it is written, or the default of one that it leaves out. Numbers are written in one way.
pub fn stands(resource: &Resource, entries: &[Entry], name: &str) -> Option<String> {
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
