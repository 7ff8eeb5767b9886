//! Fields as written.

use charter_model::{
    AccessWord, FieldOption, Format, Keyword, Numbering, OnDelete, OptionFacts, OptionTakes, RuleArgument, RuleFacts,
    RuleTakes, Widget,
};

use super::keys::{self, Table};
use super::mapping::{Mapping, in_brackets, misshapen, scalar};
use super::rollup::{self, RollupSyntax};
use super::tree::{Entry, Node, Value};
use super::type_word::{self, TypeSyntax};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::notation::Rule;
use crate::source::{Span, Spanned};

/// A field of a record, a parameter or a field of an output.
#[derive(Debug, Clone)]
pub struct FieldSyntax {
    pub name: Spanned<String>,
    /// The whole declaration after the name.
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
    /// Keys next to `from` or `many`, which allow none.
    pub others: Vec<Spanned<&'static str>>,
    /// Something in it could not be read, which may be what seems to be missing.
    pub incomplete: bool,
}

/// The display options of a field: text first, then words.
#[derive(Debug, Clone, Default)]
pub struct Described(Vec<(FieldOption, Spanned<String>)>);

impl Described {
    fn read(table: &Table, mapping: &mut Mapping<'_, '_>) -> Described {
        let is_word = |option: &FieldOption| {
            matches!(option.facts().takes, OptionTakes::Widget | OptionTakes::OnDelete | OptionTakes::Numbering)
        };
        fn word<T: Keyword + 'static>(option: FieldOption, mapping: &mut Mapping<'_, '_>) -> Option<Spanned<String>> {
            let word = mapping.word::<T>(option.key())?;
            Some(Spanned::new(word.value.word().to_owned(), word.span))
        }
        let (words, texts): (Vec<_>, Vec<_>) = FieldOption::ALL.iter().copied().partition(is_word);
        let known = texts.into_iter().chain(words).filter(|option| table.key(option.key()).is_some());
        let options = known.filter_map(|option| {
            let text = match option.facts().takes {
                OptionTakes::Text
                | OptionTakes::Literal
                | OptionTakes::Right
                | OptionTakes::Sequence
                | OptionTakes::Expression => mapping.text(option.key()),
                OptionTakes::Widget => word::<Widget>(option, mapping),
                OptionTakes::OnDelete => word::<OnDelete>(option, mapping),
                OptionTakes::Numbering => word::<Numbering>(option, mapping),
            };
            Some((option, text?))
        });
        Described(options.collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = &(FieldOption, Spanned<String>)> {
        self.0.iter()
    }

    pub fn get(&self, option: FieldOption) -> Option<&Spanned<String>> {
        self.0.iter().find(|(given, _)| *given == option).map(|(_, text)| text)
    }

    /// These options and another one.
    pub fn with(mut self, option: FieldOption, text: Spanned<String>) -> Described {
        self.0.push((option, text));
        self
    }

    /// All options but one.
    pub fn without(&self, option: FieldOption) -> Described {
        Described(self.0.iter().filter(|(given, _)| *given != option).cloned().collect())
    }
}

/// `deprecated:`, of a field, filter or action.
#[derive(Debug, Clone)]
pub struct DeprecatedSyntax {
    pub since: Spanned<String>,
    pub sunset: Option<Spanned<String>>,
    pub instead: Option<Spanned<String>>,
}

impl DeprecatedSyntax {
    /// Reads one. `since` is required.
    pub fn read(node: &Node, problems: &mut Problems) -> Option<DeprecatedSyntax> {
        let mut mapping = Mapping::open(&keys::DEPRECATED, node, problems);
        mapping.require("since");
        let (since, sunset, instead) = (mapping.text("since"), mapping.text("sunset"), mapping.text("use"));
        mapping.close();
        Some(DeprecatedSyntax { since: since?, sunset, instead })
    }

    /// Reads the value of the key `deprecated`.
    pub fn of(mapping: &mut Mapping<'_, '_>) -> Option<DeprecatedSyntax> {
        let node = mapping.node("deprecated")?;
        DeprecatedSyntax::read(node, mapping.problems)
    }
}

/// The source of a field's value.
#[derive(Debug, Clone)]
pub enum SourceSyntax {
    Type(TypeSyntax),
    From(PathSyntax),
    Many {
        resource: Spanned<String>,
        by: Option<Spanned<String>>,
    },
    /// A value from the records that refer to this one.
    Rollup(Box<RollupSyntax>),
    /// `many` with `through`: links to records of a resource, stored in a table of pairs.
    Links {
        resource: Spanned<String>,
        through: Spanned<String>,
    },
    /// The source could not be read, which is reported.
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
    /// It has no quotes, so that `now` is the keyword and not the text.
    pub plain: bool,
    /// It is the `value` of a mapping, and so an expression.
    pub is_expression: bool,
}

/// Reads a field.
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
        // The short form: just the type.
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
        field.default = mapping.node("default").and_then(|node| match &node.value {
            Value::Map(_) if has("access") => default_expression(node, mapping.problems),
            _ => default("default", node, mapping.problems),
        });
        let is_rollup = matches!(field.source, SourceSyntax::Rollup(_));
        field.rules = if is_rollup { Vec::new() } else { read_rules(table, &mut mapping) };
    }
    if has("access") {
        field.access = mapping.word("access");
        field.renamed_from = mapping.text("renamed_from");
        field.backfill = mapping.node("backfill").and_then(|node| default("backfill", node, mapping.problems));
        field.deprecated = DeprecatedSyntax::of(&mut mapping);
    }
    field.described = Described::read(table, &mut mapping);
    if matches!(field.source, SourceSyntax::Rollup(_)) {
        // The rollup has it as the condition of its records.
        field.described = field.described.without(FieldOption::Where);
    }
    let (own, has): (&[&str], fn(OptionFacts) -> bool) = match field.source {
        SourceSyntax::From(_) => (&["from", "deprecated"], |option| option.of_derived),
        SourceSyntax::Many { .. } => (&["many", "by", "deprecated"], |option| option.of_embedded),
        SourceSyntax::Rollup(ref rollup) => (rollup.own_keys(), |option| option.of_derived),
        SourceSyntax::Links { .. } => (&["many", "through", "deprecated"], |option| option.of_embedded),
        SourceSyntax::Type(_) | SourceSyntax::Unreadable => (&[], |_| true),
    };
    if !own.is_empty() {
        let is_own =
            |name: &&str| own.contains(name) || FieldOption::read(name).is_some_and(|option| has(option.facts()));
        let others = table.keys.iter().map(|key| key.name).filter(|name| !is_own(name));
        field.others = others.filter_map(|name| Some(Spanned::new(name, mapping.key_span(name)?))).collect();
    }
    mapping.close();
    field.incomplete = problems.count() > before;
    field
}

fn source(mapping: &mut Mapping<'_, '_>, of_record: bool, name: &Spanned<String>) -> SourceSyntax {
    if let Some(found) = of_record.then(|| rollup::read(mapping)).flatten() {
        return found.map_or(SourceSyntax::Unreadable, |rollup| SourceSyntax::Rollup(Box::new(rollup)));
    }
    let written = mapping.text("type");
    let (from, many, by, through) = match of_record {
        true => (mapping.text("from"), mapping.text("many"), mapping.text("by"), mapping.text("through")),
        false => (None, None, None, None),
    };
    for (key, part) in [("by", &by), ("through", &through)] {
        if let (None, None, Some(part)) = (&from, &many, part) {
            let message = format!("`{key}` needs `many`");
            mapping.problems.push(Diagnostic::new(Code::Contradiction, part.span, message, "`many` is missing"));
        }
    }
    // A key with an unreadable value is reported already.
    let keys: &[&str] = if of_record { &["type", "from", "many", "count", "sum"] } else { &["type"] };
    let may_lack_type = keys.iter().all(|key| mapping.may_lack(key) && mapping.node(key).is_none());
    let problems = &mut *mapping.problems;
    match (from, many, written) {
        (Some(text), ..) => path("from", &text, problems).map_or(SourceSyntax::Unreadable, SourceSyntax::From),
        (None, Some(resource), _) => match through {
            Some(through) => SourceSyntax::Links { resource, through },
            None => SourceSyntax::Many { resource, by },
        },
        (None, None, Some(text)) => {
            type_word::read(&text, problems).map_or(SourceSyntax::Unreadable, SourceSyntax::Type)
        }
        (None, None, None) if !may_lack_type => SourceSyntax::Unreadable,
        (None, None, None) => {
            let missing = if of_record { "one of `type`, `from`, `many` and `count`" } else { "`type`" };
            let message = format!("`{}` needs {missing}", name.value);
            let problem = Diagnostic::new(Code::MissingKey, name.span, message, "no type")
                .help("for example `type: string(255)`");
            problems.push(problem);
            SourceSyntax::Unreadable
        }
    }
}

fn true_flag(mapping: &mut Mapping<'_, '_>, name: &str) -> Option<Span> {
    mapping.flag(name).filter(|flag| flag.value).map(|flag| flag.span)
}

/// The rules whose keys a table has, flags last.
fn read_rules(table: &Table, mapping: &mut Mapping<'_, '_>) -> Vec<Spanned<Rule>> {
    let known = RuleFacts::ALL.iter().filter(|facts| table.key(facts.key).is_some());
    let (flags, others): (Vec<_>, Vec<_>) = known.partition(|facts| facts.takes == RuleTakes::Flag);
    others.into_iter().chain(flags).filter_map(|facts| read_rule(facts, mapping)).collect()
}

fn read_rule(facts: &RuleFacts, mapping: &mut Mapping<'_, '_>) -> Option<Spanned<Rule>> {
    let key = facts.key;
    let (attribute, argument, span) = match facts.takes {
        RuleTakes::Number | RuleTakes::Text | RuleTakes::Field | RuleTakes::Condition => {
            let text = mapping.text(key)?;
            let span = text.span;
            (key, RuleArgument::Text(text), span)
        }
        RuleTakes::Count => {
            let count = mapping.count(key)?;
            (key, RuleArgument::Count(count.value), count.span)
        }
        RuleTakes::Format => {
            let format = mapping.word::<Format>(key)?;
            (format.value.word(), RuleArgument::Flag, format.span)
        }
        RuleTakes::Flag => (key, RuleArgument::Flag, true_flag(mapping, key)?),
        RuleTakes::Path => {
            let text = mapping.text(key)?;
            let PathSyntax { head, tail, span } = path(key, &text, mapping.problems)?;
            (key, RuleArgument::Path { resource: head, field: tail }, span)
        }
    };
    Rule::read(attribute, argument).map(|rule| Spanned::new(rule, span))
}

fn default(key: &str, node: &Node, problems: &mut Problems) -> Option<Spanned<DefaultSyntax>> {
    match &node.value {
        Value::Scalar { .. } if node.is_null_word() => {
            let problem = Diagnostic::new(Code::WrongShape, node.span, format!("a {key} cannot be null"), "null")
                .help("with `nullable: true`, a field without a value is null");
            problems.push(problem);
            None
        }
        Value::Scalar { text, plain } => {
            let text = DefaultSyntax { text: text.clone(), plain: *plain, is_expression: false };
            Some(Spanned::new(text, node.span))
        }
        _ => {
            problems.push(misshapen(node, &format!("`{key}`"), "a single value"));
            None
        }
    }
}

/// `default: { value: customer.address }`
fn default_expression(node: &Node, problems: &mut Problems) -> Option<Spanned<DefaultSyntax>> {
    let mut mapping = Mapping::open(&keys::DEFAULT_EXPRESSION, node, problems);
    mapping.require("value");
    let text = mapping.text("value");
    mapping.close();
    let text = text?;
    Some(Spanned::new(DefaultSyntax { text: text.value, plain: true, is_expression: true }, text.span))
}

/// All items, or none if one could not be read. Each is read, so that each is reported.
fn all<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    items.collect::<Vec<_>>().into_iter().collect()
}

/// One of the values. A null is refused.
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
            let words = items.iter().map(|item| word(item, "a list of words", problems));
            ValuesSyntax::Words(all(words)?)
        }
        Value::Map(entries) => {
            let codes = entries.iter().map(|entry| {
                let label = word(&entry.value, "a mapping from numbers to labels", problems)?;
                Some((entry.key.clone(), label))
            });
            ValuesSyntax::Codes(all(codes)?)
        }
        _ => {
            let problem = misshapen(node, "`values`", "a list of words, or numbers with labels");
            problems.push(match node.is_null() {
                true => {
                    problem.help("add at least one: `values: [draft, sent]`, or `values: { 1: Bulk, 2: Serialised }`")
                }
                false => in_brackets(problem, node, |text| format!("values: [{text}]")),
            });
            return None;
        }
    };
    Some(Spanned::new(values, node.span))
}

/// Reads two names with a point between them.
pub(super) fn path(key: &str, text: &Spanned<String>, problems: &mut Problems) -> Option<PathSyntax> {
    let parts = text.value.split_once('.').filter(|(head, tail)| !head.is_empty() && !tail.is_empty());
    let Some((head, tail)) = parts.filter(|(_, tail)| !tail.contains('.')) else {
        let message = format!("`{key}` must be two names with a dot between them, not `{}`", text.value);
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
