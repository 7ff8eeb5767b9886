//! Seed rows and the records embedded in them: whether a client could create each.

use std::collections::BTreeMap;

use charter_model::field_type::list;
use charter_model::naming::upper_camel;
use charter_model::{Misfit, Number};

use super::record_rules;
use super::seed_state::{SeedState, value_in_row};
use crate::check::fields::cross_field;
use crate::check::fields::defaults::own_rules;
use crate::diagnostic::{Code, Diagnostic, Problems, nearest};
use crate::model::{Access, Default, Field, Kind, Resource, Rule, Type};
use crate::source::Span;
use crate::syntax::mapping::torn_at_comma;
use crate::syntax::tree::{Entry, Node, Value};

/// The rows of a seed file, or the embedded records of one row.
pub struct Rows<'a> {
    pub resource: &'a Resource,
    /// The field that identifies a row of a file.
    pub key: Option<&'a Field>,
    /// The field of embedded records that refers to the row that holds them. The seed does not give it.
    pub by: Option<&'a str>,
}

impl<'a> Rows<'a> {
    /// Checks all rows in order. `state` is the state before the first row.
    pub fn check(&self, items: &'a [Node], sown: SeedState<'a>, problems: &mut Problems) {
        let mut known: BTreeMap<String, Span> = BTreeMap::new();
        let sets = self.unique_sets();
        let mut taken: BTreeMap<(usize, Vec<String>), Span> = BTreeMap::new();
        for (place, item) in items.iter().enumerate() {
            let Value::Map(entries) = &item.value else {
                let message = format!("a row must be a mapping from fields to values, not {}", item.described());
                let problem = Diagnostic::new(Code::Seed, item.span, message, "expected a mapping");
                problems.push(match (self.key, item.scalar()) {
                    (Some(key), Some(text)) => {
                        problem.help(format!("write `{{ {}: {}, … }}`", key.name.value, text.value))
                    }
                    _ => problem,
                });
                continue;
            };
            let sown = if self.by.is_none() { sown.with(&items[..place]) } else { sown };
            self.row(item, entries, sown, problems);
            let named = self.key.and_then(|key| entries.iter().find(|entry| entry.key.value == key.name.value));
            let text = named.and_then(|entry| entry.value.scalar());
            if let (Some(key), Some(text)) = (self.key, text)
                && let Some(first) = known.insert(text.value.to_lowercase(), text.span)
            {
                let message = format!("two rows have the `{}` `{}`, which identifies rows", key.name.value, text.value);
                problems.push(Diagnostic::new(Code::Seed, text.span, message, "again").related(first, "first here"));
            }
            for (index, set) in sets.iter().enumerate() {
                let values =
                    set.iter().map(|name| value_in_row(self.resource, entries, name)).collect::<Option<Vec<_>>>();
                let Some(values) = values else { continue };
                let (span, shown) = (item.span, values.join("`, `"));
                if let Some(first) = taken.insert((index, values), span) {
                    let message = format!("two rows have the `{}` `{shown}`, which must be unique", set.join("`, `"));
                    problems.push(Diagnostic::new(Code::Seed, span, message, "again").related(first, "first here"));
                }
            }
        }
    }

    /// The unique fields and sets of fields, without the key of the rows. Embedded records of one row share that row.
    fn unique_sets(&self) -> Vec<Vec<&'a str>> {
        let fields = self.resource.fields.iter();
        let alone = fields.filter(|field| field.rules.iter().any(|rule| rule.value == Rule::Unique));
        let alone = alone.filter(|field| self.key.is_none_or(|key| key.name.value != field.name.value));
        let alone = alone.map(|field| vec![field.name.as_str()]);
        // The server checks the others when it stores the rows.
        let together = self.resource.unique.iter().filter(|set| set.rows.is_none());
        let together = together.map(|set| set.fields.value.iter().map(|name| name.as_str()).collect::<Vec<_>>());
        let others = |set: Vec<&'a str>| set.into_iter().filter(|name| Some(*name) != self.by).collect::<Vec<_>>();
        alone.chain(together).map(others).filter(|set| !set.is_empty()).collect()
    }

    /// Checks one row: its fields exist and are writable, its values fit, and nothing is missing.
    fn row(&self, item: &Node, entries: &'a [Entry], sown: SeedState<'a>, problems: &mut Problems) {
        // Fields that an unknown one may stand for, so that they are not reported as missing.
        let mut misspelt: Vec<&str> = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            let name = entry.key.as_str();
            let Some(field) = self.resource.field(name) else {
                let message = format!("`{}` has no field `{name}`", self.resource.name.value);
                let known = || self.writable_fields().map(|field| field.name.as_str());
                let problem = Diagnostic::new(Code::Seed, entry.key.span, message, "unknown field");
                let before = place.checked_sub(1).map(|before| &entries[before]);
                problems.push(match before.and_then(|before| torn_at_comma(before, entry)) {
                    Some(help) => problem.help(help),
                    None => {
                        misspelt.extend(nearest(name, known()));
                        problem.did_you_mean(name, known())
                    }
                });
                continue;
            };
            if field.kind == Kind::Known(Type::CustomFields) {
                let message = "custom fields are not yet defined when seed data is inserted";
                let problem = Diagnostic::new(Code::Seed, entry.key.span, message, "not yet defined");
                problems.push(problem.help("remove `custom_fields`, or declare a field of the resource"));
            } else if !self.accepts(field) {
                let message = format!("`{name}` cannot be set in seed data");
                problems
                    .push(Diagnostic::new(Code::Seed, entry.key.span, message, "not writable").help("leave it out"));
            } else if let Some(problem) = unfit(field, &entry.value) {
                problems.push(problem);
            } else if let Value::List(items) = &entry.value.value {
                match field.kind.embedded() {
                    Some((resource, by)) => {
                        self.embedded(resource.as_str(), by.as_str(), items, sown, problems);
                    }
                    None => elements(field, items, entry.value.span, problems),
                }
            } else if let Some(text) = entry.value.scalar().filter(|text| !text.value.is_empty()) {
                own_rules(field, "value", &text.value, text.span, problems);
            }
        }
        self.cross_field_rules(entries, problems);
        record_rules::check(self.resource, item, entries, |field| self.accepts(field), problems);
        for field in self.writable_fields() {
            if !misspelt.contains(&field.name.as_str()) {
                self.missing(field, item, entries, problems);
            }
            self.missing_values(field, item, entries, sown, problems);
            self.missing_references(field, entries, sown, problems);
        }
    }

    /// Checks the embedded records of a row.
    fn embedded(&self, name: &str, by: &'a str, items: &'a [Node], sown: SeedState<'a>, problems: &mut Problems) {
        if let Some(resource) = sown.schema.find(name) {
            Rows { resource, key: None, by: Some(by) }.check(items, sown, problems);
        }
    }

    fn missing(&self, field: &Field, item: &Node, entries: &[Entry], problems: &mut Problems) {
        let given = entries.iter().find(|entry| entry.key.value == field.name.value);
        let is_needed = field.required && field.default == Default::None;
        // Seeding has no calling user.
        let no_caller = field.default == Default::Caller && !field.nullable;
        let is_key = self.key.is_some_and(|key| key.name.value == field.name.value);
        if (is_needed || no_caller || is_key) && given.is_none_or(|entry| entry.value.is_null()) {
            let name = &field.name.value;
            let message = match no_caller {
                true => format!("the row has no `{name}`, and seeding has no caller"),
                false if is_key => format!("the row has no `{name}`, which identifies rows"),
                false => format!("the row has no `{name}`, which is required"),
            };
            problems.push(Diagnostic::new(Code::Seed, item.span, message, format!("`{name}` is missing")));
        }
    }

    /// Reports a value that `exists` asks for and that no earlier row has.
    fn missing_values(
        &self,
        field: &Field,
        item: &Node,
        entries: &[Entry],
        sown: SeedState<'_>,
        problems: &mut Problems,
    ) {
        let Some(text) = value_in_row(self.resource, entries, field.name.as_str()) else { return };
        let Some(path) = sown.missing_value(field, &text) else { return };
        let given = entries.iter().find(|entry| entry.key.value == field.name.value).filter(|e| !e.value.is_null());
        let (name, span) = (&field.name.value, given.map_or(item.span, |entry| entry.value.span));
        let message = match given {
            Some(_) => format!("no earlier row has the `{path}` `{text}`"),
            None => format!("no earlier row has the `{path}` `{text}`, the default of `{name}`"),
        };
        let problem = Diagnostic::new(Code::Seed, span, message, "does not exist yet");
        let target = path.split('.').next().unwrap_or_default();
        let help = platforms(sown, target, field).unwrap_or_else(|| format!("add a row that has it to `{target}`"));
        problems.push(problem.help(help));
    }

    /// Reports references to records that do not exist yet.
    fn missing_references(&self, field: &Field, entries: &[Entry], sown: SeedState<'_>, problems: &mut Problems) {
        let Some(given) = entries.iter().find(|entry| entry.key.value == field.name.value) else { return };
        let target = match &field.kind {
            Kind::Known(Type::Ref { resource } | Type::RefList { resource } | Type::Links { resource, .. }) => {
                Some(resource.as_str())
            }
            Kind::Known(Type::PolymorphicRef { type_field }) => {
                let word = value_in_row(self.resource, entries, type_field.as_str());
                let is_it =
                    |known: &&Resource| word.as_ref().is_some_and(|word| *word == upper_camel(known.name.as_str()));
                sown.schema.resources.iter().find(is_it).map(|known| known.name.as_str())
            }
            _ => None,
        };
        let Some(target) = target else { return };
        let ids: &[Node] = match &given.value.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(&given.value),
        };
        for id in ids.iter().filter_map(Node::scalar) {
            let Some(rows) = sown.missing_row(target, id.as_str()) else { continue };
            let message = match rows {
                0 => format!("no `{target}` exists before this row, so none has the id `{}`", id.value),
                1 => format!("one row of `{target}` exists before this row, so none has the id `{}`", id.value),
                _ => format!("{rows} rows of `{target}` exist before this row, so none has the id `{}`", id.value),
            };
            let name = &field.name.value;
            let help = platforms(sown, target, field)
                .unwrap_or_else(|| format!("ids start at 1: add the row of `{target}` first, or remove `{name}`"));
            problems.push(Diagnostic::new(Code::Seed, id.span, message, "does not exist yet").help(help));
        }
    }

    /// Checks the rules between two fields of a row.
    fn cross_field_rules(&self, entries: &[Entry], problems: &mut Problems) {
        for entry in entries {
            let Some(field) = self.resource.field(entry.key.as_str()).filter(|field| self.accepts(field)) else {
                continue;
            };
            let Some(own) = entry.value.scalar().filter(|text| !text.value.is_empty() && !entry.value.is_null()) else {
                continue;
            };
            for rule in &field.rules {
                let Some(other) = rule.value.other_field() else { continue };
                let Some(value) = value_in_row(self.resource, entries, other) else { continue };
                if !cross_field::satisfies(&rule.value, &field.kind, &own.value, &value) {
                    let (name, key) = (&field.declared, rule.value.key());
                    let message = format!("the value of `{name}` breaks its rule `{key}`: `{other}` is `{value}`");
                    let problem = Diagnostic::new(Code::Seed, own.span, message, "breaks the rule");
                    problems.push(problem.related(rule.span, "by this rule"));
                }
            }
        }
    }

    /// The fields that a row may set.
    fn writable_fields(&self) -> impl Iterator<Item = &'a Field> {
        self.resource.fields.iter().filter(|field| self.accepts(field))
    }

    fn accepts(&self, field: &Field) -> bool {
        is_writable(field) && Some(field.name.as_str()) != self.by
    }
}

/// True if a row may set a field: those that a client may set in a create.
pub fn is_writable(field: &Field) -> bool {
    let is_written = !matches!(field.kind, Kind::Known(Type::Derived { .. } | Type::CustomFields));
    is_written && field.access != Access::ReadOnly
}

/// The help for a reference to a platform record, which no seed creates.
fn platforms(sown: SeedState<'_>, target: &str, field: &Field) -> Option<String> {
    sown.schema.find(target).filter(|target| target.is_platform())?;
    let left = if field.nullable { "" } else { ", and add `nullable: true` to the field" };
    Some(format!("no `{target}` exists before all seed data is inserted: remove `{}`{left}", field.name.value))
}

/// Checks the elements of a list and their number.
fn elements(field: &Field, items: &[Node], span: Span, problems: &mut Problems) {
    let kind: Kind = match &field.kind {
        Kind::Known(Type::StringList { max }) => Type::String { max: *max }.into(),
        Kind::Known(Type::RefList { resource } | Type::Links { resource, .. }) => {
            Type::Ref { resource: resource.clone() }.into()
        }
        _ => return,
    };
    for item in items {
        let name = &field.name.value;
        if let Some(problem) = read_otherwise(&kind, &format!("an element of `{name}`"), item) {
            problems.push(problem);
            continue;
        }
        let refused = match (item.scalar(), kind.max_length()) {
            (Some(text), Some(max)) => list::string(max, &text.value).err(),
            (Some(text), None) => kind.value(&text.value).err(),
            (None, _) => Some(Misfit::new(format!("an element is {}", kind.described()), "write single values")),
        };
        if let Some(Misfit { reason, help }) = refused {
            let message = format!("an element does not fit `{name}`: {reason}");
            problems.push(Diagnostic::new(Code::Seed, item.span, message, "does not fit").help(help));
        }
    }
    for rule in &field.rules {
        let is_satisfied = match &rule.value {
            Rule::MinLength(least) => items.len() >= *least as usize,
            Rule::MaxLength(most) => items.len() <= *most as usize,
            _ => true,
        };
        if !is_satisfied {
            let message = format!("the value of `{}` breaks its rule `{}`", field.declared, rule.value.key());
            let problem = Diagnostic::new(Code::Seed, span, message, "breaks the rule");
            problems.push(problem.related(rule.span, "by this rule"));
        }
    }
}

fn unfit(field: &Field, node: &Node) -> Option<Diagnostic> {
    let name = &field.name.value;
    let problem = |message: String, label: &str| Diagnostic::new(Code::Seed, node.span, message, label);
    let (is_embedded, is_json) = (field.kind.is_embedded(), field.kind == Kind::Known(Type::Json));
    let holds_many = field.kind.is_list() || is_json || is_embedded || field.kind.is_unknown();
    match &node.value {
        // A null is the same as a key that is left out.
        _ if node.is_null() => None,
        // An empty text clears embedded records.
        Value::Scalar { text, .. } if text.is_empty() && is_embedded => None,
        Value::Map(_) | Value::Scalar { .. } if is_embedded => {
            let message = format!("`{name}` takes a list of records, not {}", node.described());
            Some(problem(message, "expected a list"))
        }
        Value::Scalar { .. } if field.kind.is_list() || is_json => {
            let wanted = if field.kind.is_list() { "a list" } else { "an object or a list" };
            let message = format!("`{name}` is {} and takes {wanted}, not a single value", field.kind.described());
            Some(problem(message, &format!("expected {wanted}")))
        }
        _ if holds_many => None,
        Value::Scalar { text, .. } => {
            if text.is_empty() {
                let message = format!("`{name}` cannot be empty");
                return (!field.nullable).then(|| problem(message, "empty"));
            }
            if field.required && text.trim().is_empty() {
                return Some(problem(format!("`{name}` is required and cannot be blank"), "blank"));
            }
            if let Some(problem) = read_otherwise(&field.kind, &format!("`{name}`"), node) {
                return Some(problem);
            }
            let Misfit { reason, help } = field.kind.value(text).err()?;
            Some(problem(format!("the value does not fit `{name}`: {reason}"), "does not fit").help(help))
        }
        other => {
            let many = if matches!(other, Value::List(_)) { "a list" } else { "a mapping" };
            let message = format!("`{name}` is {} and takes a single value, not {many}", field.kind.described());
            Some(problem(message, "expected a single value"))
        }
    }
}

/// Reports an unquoted value that YAML reads as something else.
fn read_otherwise(kind: &Kind, what: &str, node: &Node) -> Option<Diagnostic> {
    let Value::Scalar { text, plain: true } = &node.value else { return None };
    let (message, label) = match kind {
        kind if kind.is_text() && is_typed(text) => {
            (format!("{what} is text, but YAML reads `{text}` as another type"), "not text")
        }
        Kind::Known(Type::Decimal { .. }) => {
            // YAML has no decimals: it reads such a number as a 64-bit float.
            let read = text.contains('.').then(|| text.parse::<f64>().ok()).flatten()?.to_string();
            if Number::read(text).is_none_or(|number| Number::read(&read) == Some(number)) {
                return None;
            }
            (format!("YAML reads `{text}` as `{read}`, a different number"), "too many digits")
        }
        _ => return None,
    };
    let problem = Diagnostic::new(Code::Seed, node.span, message, label);
    Some(problem.help(format!("put it in quotes: \"{text}\"")))
}

/// True if YAML reads an unquoted text as a number or a boolean.
fn is_typed(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && (digits.parse::<f64>().is_ok() || ["0x", "0o", "0b"].iter().any(|base| digits.starts_with(base)));
    let is_none = matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    // YAML reads `007` as text.
    let leads_with_zero =
        digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_truth = matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE");
    is_truth || is_none || is_number && !leads_with_zero
}
