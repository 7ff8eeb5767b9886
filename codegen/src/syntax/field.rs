//! Fields as they are written.

use super::keys::{self, Table};
use super::mapping::{Mapping, in_brackets, misshapen, scalar};
use super::tree::{Entry, Node, Value};
use super::type_word::{self, TypeSyntax};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::source::{Span, Spanned};
use crate::words::{AccessWord, Format, Widget};

/// A field of a record, a parameter or a field of an answer.
#[derive(Debug, Clone)]
pub struct FieldSyntax {
    pub name: Spanned<String>,
    /// The whole declaration behind the name.
    pub span: Span,
    pub source: SourceSyntax,
    pub values: Option<Spanned<ValuesSyntax>>,
    pub nullable: Option<Span>,
    pub required: Option<Span>,
    pub default: Option<Spanned<DefaultSyntax>>,
    pub access: Option<Spanned<AccessWord>>,
    pub rules: Vec<Spanned<Rule>>,
    pub renamed_from: Option<Spanned<String>>,
    pub backfill: Option<Spanned<DefaultSyntax>>,
    pub deprecated: Option<DeprecatedSyntax>,
    pub described: Described,
    /// Keys beside `from` or `many`, which allow none.
    pub others: Vec<Spanned<&'static str>>,
    /// Something in it could not be read, so that what it lacks may be what was meant there.
    pub incomplete: bool,
}

/// What people read of a field, and how they type it.
#[derive(Debug, Clone, Default)]
pub struct Described {
    pub label: Option<Spanned<String>>,
    pub help: Option<Spanned<String>>,
    pub group: Option<Spanned<String>>,
    pub widget: Option<Spanned<Widget>>,
    pub description: Option<Spanned<String>>,
    pub example: Option<Spanned<String>>,
}

impl Described {
    fn read(table: &Table, mapping: &mut Mapping<'_, '_>) -> Described {
        let mut text = |name: &str| if table.key(name).is_some() { mapping.text(name) } else { None };
        let (label, help, group) = (text("label"), text("help"), text("group"));
        let (description, example) = (text("description"), text("example"));
        let widget = if table.key("widget").is_some() { mapping.word("widget") } else { None };
        Described { label, help, group, widget, description, example }
    }
}

/// `deprecated:`, of anything that can be.
#[derive(Debug, Clone)]
pub struct DeprecatedSyntax {
    pub since: Spanned<String>,
    pub sunset: Option<Spanned<String>>,
    pub instead: Option<Spanned<String>>,
}

impl DeprecatedSyntax {
    /// Reads one, whose `since` must be there.
    pub fn read(node: &Node, problems: &mut Problems) -> Option<DeprecatedSyntax> {
        let mut mapping = Mapping::open(&keys::DEPRECATED, node, problems);
        mapping.require("since");
        let (since, sunset, instead) = (mapping.text("since"), mapping.text("sunset"), mapping.text("use"));
        mapping.close();
        Some(DeprecatedSyntax { since: since?, sunset, instead })
    }

    /// What stands under the key of a mapping.
    pub fn of(mapping: &mut Mapping<'_, '_>) -> Option<DeprecatedSyntax> {
        let node = mapping.node("deprecated")?;
        DeprecatedSyntax::read(node, mapping.problems)
    }
}

/// Where a field's value comes from.
#[derive(Debug, Clone)]
pub enum SourceSyntax {
    Type(TypeSyntax),
    From(PathSyntax),
    Many {
        resource: Spanned<String>,
        by: Option<Spanned<String>>,
    },
    /// Reported already.
    Unreadable,
}

/// `product_group_id.name`
#[derive(Debug, Clone, PartialEq)]
pub struct PathSyntax {
    pub head: Spanned<String>,
    pub tail: Spanned<String>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum ValuesSyntax {
    Words(Vec<Spanned<String>>),
    Codes(Vec<(Spanned<String>, Spanned<String>)>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct DefaultSyntax {
    pub text: String,
    /// It stands without quotes, so that `now` is the word and not the text.
    pub plain: bool,
}

/// What a value must satisfy beside its type. Numbers stay as they are written, so that they are exact.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    Min(String),
    Max(String),
    Above(String),
    Below(String),
    MinLength(u32),
    MaxLength(u32),
    Pattern(String),
    Format(Format),
    Unique,
    Exists(PathSyntax),
    DiffersFrom(String),
    After(String),
    NotBefore(String),
}

impl Rule {
    /// The key that says it.
    pub fn key(&self) -> &'static str {
        match self {
            Rule::Min(_) => "min",
            Rule::Max(_) => "max",
            Rule::Above(_) => "above",
            Rule::Below(_) => "below",
            Rule::MinLength(_) => "min_length",
            Rule::MaxLength(_) => "max_length",
            Rule::Pattern(_) => "pattern",
            Rule::Format(_) => "format",
            Rule::Unique => "unique",
            Rule::Exists(_) => "exists",
            Rule::DiffersFrom(_) => "differs_from",
            Rule::After(_) => "after",
            Rule::NotBefore(_) => "not_before",
        }
    }
}

/// Reads a field under its name.
pub fn read(table: &'static Table, entry: &Entry, problems: &mut Problems) -> FieldSyntax {
    let mut field = FieldSyntax {
        name: entry.key.clone(),
        span: entry.value.span,
        source: SourceSyntax::Unreadable,
        values: None,
        nullable: None,
        required: None,
        default: None,
        access: None,
        rules: Vec::new(),
        renamed_from: None,
        backfill: None,
        deprecated: None,
        described: Described::default(),
        others: Vec::new(),
        incomplete: false,
    };
    let before = problems.count();
    if let Some(text) = entry.value.scalar() {
        // Just the type, because nothing else is to be said.
        if let Some(found) = type_word::read(&text, problems) {
            field.source = SourceSyntax::Type(found);
        }
        return field;
    }
    let mut mapping = Mapping::open(table, &entry.value, problems);
    let has = |name: &str| table.key(name).is_some();
    field.source = source(&mut mapping, has("from"), &entry.key);
    field.values = mapping.node("values").and_then(|node| values(node, mapping.problems));
    field.nullable = true_flag(&mut mapping, "nullable");
    if has("required") {
        field.required = true_flag(&mut mapping, "required");
        field.default = mapping.node("default").and_then(|node| default("default", node, mapping.problems));
        read_rules(&mut mapping, &mut field.rules);
    }
    if has("access") {
        field.access = mapping.word("access");
        field.rules.extend(true_flag(&mut mapping, "unique").map(|span| Spanned::new(Rule::Unique, span)));
        field.renamed_from = mapping.text("renamed_from");
        field.backfill = mapping.node("backfill").and_then(|node| default("backfill", node, mapping.problems));
        field.deprecated = DeprecatedSyntax::of(&mut mapping);
    }
    field.described = Described::read(table, &mut mapping);
    let own: &[&str] = match field.source {
        SourceSyntax::From(_) => &["from", "deprecated", "label", "group", "description", "example"],
        SourceSyntax::Many { .. } => &["many", "by", "deprecated", "label", "description"],
        SourceSyntax::Type(_) | SourceSyntax::Unreadable => &[],
    };
    if !own.is_empty() {
        let others = table.keys.iter().map(|key| key.name).filter(|name| !own.contains(name));
        field.others = others.filter_map(|name| Some(Spanned::new(name, mapping.key_span(name)?))).collect();
    }
    mapping.close();
    field.incomplete = problems.count() > before;
    field
}

fn source(mapping: &mut Mapping<'_, '_>, of_record: bool, name: &Spanned<String>) -> SourceSyntax {
    let written = mapping.text("type");
    let (from, many, by) = match of_record {
        true => (mapping.text("from"), mapping.text("many"), mapping.text("by")),
        false => (None, None, None),
    };
    if let (None, None, Some(by)) = (&from, &many, &by) {
        let message = "`by` belongs to `many`";
        mapping.problems.push(Diagnostic::new(Code::Contradiction, by.span, message, "there is no `many` here"));
    }
    // One that is written and cannot be read is reported already.
    let keys: &[&str] = if of_record { &["type", "from", "many"] } else { &["type"] };
    let may_lack_type = keys.iter().all(|key| mapping.may_lack(key) && mapping.node(key).is_none());
    let problems = &mut *mapping.problems;
    match (from, many, written) {
        (Some(text), ..) => path("from", &text, problems).map_or(SourceSyntax::Unreadable, SourceSyntax::From),
        (None, Some(resource), _) => SourceSyntax::Many { resource, by },
        (None, None, Some(text)) => {
            type_word::read(&text, problems).map_or(SourceSyntax::Unreadable, SourceSyntax::Type)
        }
        (None, None, None) if !may_lack_type => SourceSyntax::Unreadable,
        (None, None, None) => {
            let missing = if of_record { "one of `type`, `from` and `many`" } else { "`type`" };
            let message = format!("`{}` needs {missing}", name.value);
            let problem = Diagnostic::new(Code::MissingKey, name.span, message, "has no type")
                .help("for example `type: string(255)`");
            problems.push(problem);
            SourceSyntax::Unreadable
        }
    }
}

fn true_flag(mapping: &mut Mapping<'_, '_>, name: &str) -> Option<Span> {
    mapping.flag(name).filter(|flag| flag.value).map(|flag| flag.span)
}

/// Makes a rule of what stands under its key.
type MakeRule<T> = fn(T) -> Rule;

fn read_rules(mapping: &mut Mapping<'_, '_>, rules: &mut Vec<Spanned<Rule>>) {
    let numbers: [(&str, MakeRule<String>); 4] =
        [("min", Rule::Min), ("max", Rule::Max), ("above", Rule::Above), ("below", Rule::Below)];
    for (name, rule) in numbers {
        rules.extend(mapping.text(name).map(|text| Spanned::new(rule(text.value), text.span)));
    }
    let lengths: [(&str, MakeRule<u32>); 2] = [("min_length", Rule::MinLength), ("max_length", Rule::MaxLength)];
    for (name, rule) in lengths {
        rules.extend(mapping.count(name).map(|count| Spanned::new(rule(count.value), count.span)));
    }
    rules.extend(mapping.text("pattern").map(|text| Spanned::new(Rule::Pattern(text.value), text.span)));
    rules.extend(mapping.word("format").map(|word| Spanned::new(Rule::Format(word.value), word.span)));
    let exists = mapping.text("exists").and_then(|text| path("exists", &text, mapping.problems));
    rules.extend(exists.map(|path| Spanned::new(Rule::Exists(path.clone()), path.span)));
    let others: [(&str, MakeRule<String>); 3] =
        [("differs_from", Rule::DiffersFrom), ("after", Rule::After), ("not_before", Rule::NotBefore)];
    for (name, rule) in others {
        rules.extend(mapping.text(name).map(|text| Spanned::new(rule(text.value), text.span)));
    }
}

fn default(key: &str, node: &Node, problems: &mut Problems) -> Option<Spanned<DefaultSyntax>> {
    match &node.value {
        Value::Scalar { .. } if node.is_null_word() => {
            let problem = Diagnostic::new(Code::WrongShape, node.span, format!("null is not a {key}"), "says nothing")
                .help("a field with `nullable: true` is null when nothing else is given");
            problems.push(problem);
            None
        }
        Value::Scalar { text, plain } => {
            Some(Spanned::new(DefaultSyntax { text: text.clone(), plain: *plain }, node.span))
        }
        _ => {
            problems.push(misshapen(node, &format!("`{key}`"), "a single value"));
            None
        }
    }
}

/// All of them, or none where one could not be read; each is read, so that each is reported.
fn all<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    items.collect::<Vec<_>>().into_iter().collect()
}

/// One of the values. A null is none.
fn word(node: &Node, what: &str, problems: &mut Problems) -> Option<Spanned<String>> {
    if let (true, Some(word)) = (node.is_null_word(), node.scalar()) {
        let help = format!("put the word in quotes: `\"{}\"`", word.value);
        problems.push(misshapen(node, "`values`", what).help(help));
        return None;
    }
    scalar(node, "values", what, problems)
}

fn values(node: &Node, problems: &mut Problems) -> Option<Spanned<ValuesSyntax>> {
    let values = match &node.value {
        Value::List(items) => {
            let words = items.iter().map(|item| word(item, "a word in each place", problems));
            ValuesSyntax::Words(all(words)?)
        }
        Value::Map(entries) => {
            let codes = entries.iter().map(|entry| {
                let label = word(&entry.value, "a label behind each number", problems)?;
                Some((entry.key.clone(), label))
            });
            ValuesSyntax::Codes(all(codes)?)
        }
        _ => {
            let problem = misshapen(node, "`values`", "a list of words, or numbers with labels");
            problems.push(match node.is_null() {
                true => {
                    problem.help("name at least one: `values: [draft, sent]`, or `values: { 1: Bulk, 2: Serialised }`")
                }
                false => in_brackets(problem, node, |text| format!("values: [{text}]")),
            });
            return None;
        }
    };
    Some(Spanned::new(values, node.span))
}

/// Two names with a point between them.
fn path(key: &str, text: &Spanned<String>, problems: &mut Problems) -> Option<PathSyntax> {
    let parts = text.value.split_once('.').filter(|(head, tail)| !head.is_empty() && !tail.is_empty());
    let Some((head, tail)) = parts.filter(|(_, tail)| !tail.contains('.')) else {
        let message = format!("`{key}` is two names with a point between them, not `{}`", text.value);
        problems.push(Diagnostic::new(Code::WrongShape, text.span, message, "for example `currency.code`"));
        return None;
    };
    let quote = usize::from(text.span.end - text.span.start == text.value.len() + 2);
    let start = text.span.start + quote;
    let split = start + head.len();
    let head = Spanned::new(head.to_owned(), Span { start, end: split, ..text.span });
    let tail = Spanned::new(tail.to_owned(), Span { start: split + 1, end: split + 1 + tail.len(), ..text.span });
    Some(PathSyntax { head, tail, span: text.span })
}
