//! Seeds: whether the file is there, whether its rows can be recognised again, and whether each could be created.

use std::collections::BTreeMap;

use super::beside;
use super::defaults::own_rules;
use super::examples::value;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Default, Field, Kind, Resource, Rule, Schema};
use crate::source::{SEED_SUFFIX, Span};
use crate::syntax::tree::{Entry, Node, Value};

pub fn check(_: &Schema, resource: &Resource, problems: &mut Problems) {
    let Some(seed) = &resource.seed else { return };
    let name = &seed.name.value;
    let wanted = format!("{}{SEED_SUFFIX}", resource.name.value);
    if !name.ends_with(SEED_SUFFIX) {
        let message = format!("`{name}` is not the name of a seed file");
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "not a seed file")
            .help(format!("its name ends in `{SEED_SUFFIX}`: `{wanted}`"));
        problems.push(problem);
    } else if !seed.exists {
        let message = format!("there is no file `{name}` beside this one");
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "missing file")
            .help("write it: a list of rows, each a mapping from fields to values");
        problems.push(problem);
    }
    let key = resource.fields.iter().find(|field| tells_apart(field));
    if key.is_none() {
        let message = format!("rows of `{}` could not be recognised when they are seeded again", resource.name.value);
        let problem = Diagnostic::new(Code::Seed, seed.name.span, message, "nothing tells the rows apart")
            .help("mark the string field that does with `unique: true`; each row gives it, so it is not `nullable`");
        problems.push(problem);
    }
    if let Some(root) = &seed.rows {
        let mut found = Problems::default();
        rows(resource, key, root, &mut found);
        once_each(found, problems);
    }
}

/// Whether a field can tell rows apart at every start: a unique text that each record has, as its row gave it. The server
/// takes the first of these as well.
fn tells_apart(field: &Field) -> bool {
    let is_unique = field.rules.iter().any(|rule| rule.value == Rule::Unique);
    let is_text = matches!(field.kind, Kind::String { .. } | Kind::Text);
    is_unique && is_text && !field.nullable && is_given(field)
}

/// A mistake of a whole file, as a column that is called otherwise, is told at the first of the rows that have it.
fn once_each(found: Problems, problems: &mut Problems) {
    let mut told: Vec<(Diagnostic, usize)> = Vec::new();
    for problem in found.into_all() {
        match told.iter_mut().find(|(first, _)| first.code == problem.code && first.message == problem.message) {
            Some((_, rows)) => *rows += 1,
            None => told.push((problem, 1)),
        }
    }
    for (mut problem, rows) in told {
        if rows > 1 {
            problem.message.push_str(&format!(" (in {rows} rows)"));
        }
        problems.push(problem);
    }
}

fn rows(resource: &Resource, key: Option<&Field>, root: &Node, problems: &mut Problems) {
    let Value::List(items) = &root.value else {
        let message = format!("a seed file is a list of rows, not {}", root.described());
        let problem = Diagnostic::new(Code::Seed, root.span, message, "expected a list");
        problems.push(problem.help("each row begins with `- ` and is a mapping from fields to values"));
        return;
    };
    let mut known: BTreeMap<String, Span> = BTreeMap::new();
    let sets = unique_sets(resource, key);
    let mut taken: BTreeMap<(usize, Vec<String>), Span> = BTreeMap::new();
    for item in items {
        let Value::Map(entries) = &item.value else {
            let message = format!("a row is a mapping from fields to values, not {}", item.described());
            problems.push(Diagnostic::new(Code::Seed, item.span, message, "expected a mapping"));
            continue;
        };
        row(resource, key, item, entries, problems);
        let named = key.and_then(|key| entries.iter().find(|entry| entry.key.value == key.name.value));
        let text = named.and_then(|entry| entry.value.scalar());
        if let (Some(key), Some(text)) = (key, text)
            && let Some(first) = known.insert(text.value.to_lowercase(), text.span)
        {
            let message = format!("two rows have the `{}` `{}`, which tells rows apart", key.name.value, text.value);
            problems.push(Diagnostic::new(Code::Seed, text.span, message, "again").related(first, "first here"));
        }
        for (index, set) in sets.iter().enumerate() {
            let values = set.iter().map(|name| stands(resource, entries, name)).collect::<Option<Vec<_>>>();
            let Some(values) = values else { continue };
            let (span, said) = (item.span, values.join("`, `"));
            if let Some(first) = taken.insert((index, values), span) {
                let message = format!("two rows have the `{}` `{said}`, which is unique", set.join("`, `"));
                problems.push(Diagnostic::new(Code::Seed, span, message, "again").related(first, "first here"));
            }
        }
    }
}

/// The fields, and the sets of them, of which no two rows have the same values; but for the one that tells rows apart.
fn unique_sets<'r>(resource: &'r Resource, key: Option<&Field>) -> Vec<Vec<&'r str>> {
    let alone = resource.fields.iter().filter(|field| field.rules.iter().any(|rule| rule.value == Rule::Unique));
    let alone = alone.filter(|field| key.is_none_or(|key| key.name.value != field.name.value));
    let alone = alone.map(|field| vec![field.name.as_str()]);
    alone.chain(resource.unique.iter().map(|set| set.value.iter().map(|name| name.as_str()).collect())).collect()
}

/// What a row has in a field: the value as it is written, or the default of one that it leaves out. Numbers are written in one way.
fn stands(resource: &Resource, entries: &[Entry], name: &str) -> Option<String> {
    let field = resource.field(name)?;
    let given = entries.iter().find(|entry| entry.key.value == name).filter(|entry| !entry.value.is_null());
    let text = match (given, &field.default) {
        (Some(entry), _) => entry.value.scalar().map(|text| text.value.clone()).filter(|text| !text.is_empty())?,
        (None, Default::Literal(text)) => text.clone(),
        (None, _) => return None,
    };
    let is_decimal = field.kind.is_number() && text.contains('.');
    Some(if is_decimal { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text })
}

/// The rules between two fields of a row.
fn beside_others(resource: &Resource, entries: &[Entry], problems: &mut Problems) {
    for entry in entries {
        let Some(field) = resource.field(entry.key.as_str()).filter(|field| is_given(field)) else { continue };
        let Some(own) = entry.value.scalar().filter(|text| !text.value.is_empty() && !entry.value.is_null()) else {
            continue;
        };
        for rule in &field.rules {
            let Some(other) = beside::other(&rule.value) else { continue };
            let Some(value) = stands(resource, entries, other) else { continue };
            if !beside::keeps(&rule.value, &field.kind, &own.value, &value) {
                let (name, key) = (&field.declared, rule.value.key());
                let message = format!("the value of `{name}` breaks its own rule `{key}`: `{other}` is `{value}`");
                let problem = Diagnostic::new(Code::Seed, own.span, message, "not allowed");
                problems.push(problem.related(rule.span, "by this rule"));
            }
        }
    }
}

/// The elements of a list, and how many they are.
fn elements(field: &Field, items: &[Node], span: Span, problems: &mut Problems) {
    let kind = match &field.kind {
        Kind::StringList { max } => Kind::String { max: *max },
        Kind::RefList(target) => Kind::Ref(target.clone()),
        _ => return,
    };
    for item in items {
        let name = &field.name.value;
        let refused = match item.scalar() {
            Some(text) => value(&kind, &text.value).err(),
            None => Some((format!("an element is {}", kind.described()), "write single values".to_owned())),
        };
        if let Some((reason, help)) = refused {
            let message = format!("an element does not fit `{name}`: {reason}");
            problems.push(Diagnostic::new(Code::Seed, item.span, message, "does not fit").help(help));
        }
    }
    for rule in &field.rules {
        let kept = match &rule.value {
            Rule::MinLength(least) => items.len() >= *least as usize,
            Rule::MaxLength(most) => items.len() <= *most as usize,
            _ => true,
        };
        if !kept {
            let message = format!("the value of `{}` breaks its own rule `{}`", field.declared, rule.value.key());
            let problem = Diagnostic::new(Code::Seed, span, message, "not allowed");
            problems.push(problem.related(rule.span, "by this rule"));
        }
    }
}

/// One row: its fields are there and can be written, its values fit, and nothing is missing.
fn row(resource: &Resource, key: Option<&Field>, item: &Node, entries: &[Entry], problems: &mut Problems) {
    for entry in entries {
        let name = entry.key.as_str();
        let Some(field) = resource.field(name) else {
            let message = format!("`{}` has no field `{name}`", resource.name.value);
            let known = resource.fields.iter().filter(|field| is_given(field)).map(|field| field.name.as_str());
            let problem = Diagnostic::new(Code::Seed, entry.key.span, message, "unknown field");
            problems.push(problem.did_you_mean(name, known));
            continue;
        };
        if !is_given(field) {
            let message = format!("`{name}` is not written by a row, and would be passed over");
            problems.push(Diagnostic::new(Code::Seed, entry.key.span, message, "not written").help("leave it out"));
        } else if let Some(problem) = unfit(field, &entry.value) {
            problems.push(problem);
        } else if let Value::List(items) = &entry.value.value {
            elements(field, items, entry.value.span, problems);
        } else if let Some(text) = entry.value.scalar().filter(|text| !text.value.is_empty()) {
            own_rules(field, "value", &text.value, text.span, problems);
        }
    }
    beside_others(resource, entries, problems);
    for field in resource.fields.iter().filter(|field| is_given(field)) {
        let given = entries.iter().find(|entry| entry.key.value == field.name.value);
        let is_needed = field.required && field.default == Default::None;
        // Rows are sown at the start, when nobody calls.
        let no_caller = field.default == Default::Caller && !field.nullable;
        let is_key = key.is_some_and(|key| key.name.value == field.name.value);
        if (is_needed || no_caller || is_key) && given.is_none_or(|entry| entry.value.is_null()) {
            let message = match no_caller {
                true => format!("this row has no `{}`, and nobody calls who could be it", field.name.value),
                false if is_key => format!("this row has no `{}`, which tells rows apart", field.name.value),
                false => format!("this row has no `{}`, which must be given", field.name.value),
            };
            problems.push(Diagnostic::new(
                Code::Seed,
                item.span,
                message,
                format!("`{}` is missing", field.name.value),
            ));
        }
    }
}

/// Whether a row may give a field: what a client may create.
fn is_given(field: &Field) -> bool {
    !matches!(field.kind, Kind::Derived(_)) && field.access != Access::ReadOnly
}

fn unfit(field: &Field, node: &Node) -> Option<Diagnostic> {
    let name = &field.name.value;
    let problem = |message: String, label: &str| Diagnostic::new(Code::Seed, node.span, message, label);
    let holds_many = field.kind.is_list()
        || matches!(field.kind, Kind::Json | Kind::CustomFields | Kind::Embedded { .. } | Kind::Unknown);
    match &node.value {
        // As if it were not given.
        _ if node.is_null() => None,
        Value::Scalar { .. } if field.kind.is_list() || field.kind == Kind::Json => {
            let wanted = if field.kind.is_list() { "a list" } else { "an object or a list" };
            let message = format!("`{name}` is {}, and takes {wanted}, not a single value", field.kind.described());
            Some(problem(message, &format!("expected {wanted}")))
        }
        _ if holds_many => None,
        Value::Scalar { text, plain } => {
            if text.is_empty() {
                let message = format!("`{name}` is empty, and may not be");
                return (!field.nullable).then(|| problem(message, "empty"));
            }
            if field.required && text.trim().is_empty() {
                return Some(problem(format!("`{name}` is blank, and must be given"), "blank"));
            }
            if field.kind.is_text() && *plain && is_typed(text) {
                let message = format!("`{name}` is a text, and YAML reads `{text}` as something else");
                return Some(problem(message, "not a text").help(format!("put it in quotes: \"{text}\"")));
            }
            let (reason, help) = value(&field.kind, text).err()?;
            Some(problem(format!("the value does not fit `{name}`: {reason}"), "does not fit").help(help))
        }
        other => {
            let many = if matches!(other, Value::List(_)) { "a list" } else { "a mapping" };
            let message = format!("`{name}` is {}, and takes a single value, not {many}", field.kind.described());
            Some(problem(message, "expected a single value"))
        }
    }
}

/// Whether YAML reads a text without quotes as a number or a truth.
fn is_typed(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && (digits.parse::<f64>().is_ok() || digits.starts_with("0x") || digits.starts_with("0o"));
    // `007` is a text.
    let leads_with_zero =
        digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") || is_number && !leads_with_zero
}
