//! Resource as written.

use charter_model::{Hook, Operation, TimestampForm};

use super::field::{self, DeprecatedSyntax, FieldSyntax};
use super::jobs::{self, JobSyntax};
use super::keys::{self, Table};
use super::mapping::{self, Mapping, misshapen};
use super::misplaced_keys::{self, Misplaced};
use super::public::{self, PublicSyntax};
use super::record_rules::{self, CheckSyntax, UniqueSyntax};
use super::relation::{self, ActionSyntax, IncludeSyntax};
use super::states::{self, StatesSyntax};
use super::tree::{Node, Value};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::keywords::Deletion;
use crate::keywords::FilterWord;
use crate::keywords::SortWord;
use crate::source::{FileId, Span, Spanned};

type Name = Spanned<String>;

/// The top level of a file, key by key.
#[derive(Debug, Clone)]
pub struct ResourceSyntax {
    pub file: FileId,
    /// The first line of the file that is no comment.
    pub span: Span,
    pub resource: Option<Name>,
    pub plural: Option<Name>,
    pub label: Option<Name>,
    pub title: Option<Name>,
    pub description: Option<Name>,
    pub menu: Option<Name>,
    pub columns: Vec<Name>,
    pub table: Option<Name>,
    pub path: Option<Name>,
    pub under: Option<Name>,
    pub delete: Option<Spanned<Deletion>>,
    pub custom_fields: Option<Spanned<bool>>,
    pub attachments: Option<Spanned<bool>>,
    pub events: Option<Spanned<bool>>,
    pub emits: Vec<Name>,
    pub timestamps: Option<Spanned<TimestampForm>>,
    pub singleton: Option<Spanned<bool>>,
    pub operations: Option<Vec<Spanned<Operation>>>,
    pub ability: Option<Name>,
    pub read_permission: Option<Name>,
    pub write_permission: Option<Name>,
    pub owner: Option<Name>,
    pub public: Option<PublicSyntax>,
    pub read_rule: Option<Name>,
    pub write_rule: Option<Name>,
    pub renamed_from: Option<Name>,
    pub fields: Vec<FieldSyntax>,
    pub detail: Vec<FieldSyntax>,
    pub unique: Vec<UniqueSyntax>,
    pub checks: Vec<CheckSyntax>,
    pub frozen: Option<Name>,
    pub indexes: Vec<Spanned<Vec<Name>>>,
    pub search: Vec<Name>,
    pub ordered: Vec<Name>,
    /// Field names, some with `-` before them.
    pub order: Vec<Name>,
    pub unindexed: Vec<Name>,
    pub filters: Option<FiltersSyntax>,
    pub deprecated_filters: Vec<(Name, DeprecatedSyntax)>,
    pub sorts: Option<SortsSyntax>,
    pub includes: Vec<IncludeSyntax>,
    pub actions: Vec<ActionSyntax>,
    pub states: Option<StatesSyntax>,
    pub hooks: Vec<Spanned<Hook>>,
    pub jobs: Vec<JobSyntax>,
    pub seed: Option<Name>,
    /// No file declares it: a field with `through` makes it.
    pub is_join: bool,
    /// The places of keys that diagnostics point at.
    pub key_spans: KeySpans,
}

/// Places of keys that a check may report as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeySpans {
    pub operations: Option<Span>,
    pub delete: Option<Span>,
    pub filters: Option<Span>,
    pub sorts: Option<Span>,
    pub search: Option<Span>,
    pub ordered: Option<Span>,
    pub unindexed: Option<Span>,
    pub hooks: Option<Span>,
    pub jobs: Option<Span>,
    pub actions: Option<Span>,
    pub events: Option<Span>,
}

#[derive(Debug, Clone)]
pub enum FiltersSyntax {
    Word(Spanned<FilterWord>),
    Fields(Vec<(Name, FilterSyntax)>),
}

#[derive(Debug, Clone)]
pub enum FilterSyntax {
    All,
    Only(Vec<Name>),
}

#[derive(Debug, Clone)]
pub enum SortsSyntax {
    Shown,
    Fields(Vec<Name>),
}

/// Reads the tree of a file.
pub fn read(file: FileId, node: &Node, problems: &mut Problems) -> ResourceSyntax {
    let mut mapping = Mapping::open(&keys::RESOURCE, node, problems);
    mapping.require("resource");
    let (read_permission, write_permission) = permission(&mut mapping);
    let (read_rule, write_rule) = row_rules(&mut mapping);
    let resource = ResourceSyntax {
        file,
        span: node.span,
        resource: mapping.text("resource"),
        plural: mapping.text("plural"),
        label: mapping.text("label"),
        title: mapping.text("title"),
        description: mapping.text("description"),
        menu: mapping.text("menu"),
        columns: mapping.texts("columns").unwrap_or_default(),
        table: mapping.text("table"),
        path: mapping.text("path"),
        under: mapping.text("under"),
        delete: mapping.word("delete"),
        custom_fields: mapping.flag("custom_fields"),
        attachments: mapping.flag("attachments"),
        events: mapping.flag("events"),
        emits: mapping.texts("emits").unwrap_or_default(),
        timestamps: mapping.word("timestamps"),
        singleton: mapping.flag("singleton"),
        operations: mapping.words("operations"),
        ability: mapping.text("ability"),
        read_permission,
        write_permission,
        owner: mapping.text("owner"),
        public: public::read(&mut mapping),
        read_rule,
        write_rule,
        renamed_from: mapping.text("renamed_from"),
        fields: fields(&mut mapping, "fields", &keys::FIELD),
        detail: fields(&mut mapping, "detail", &keys::FIELD),
        unique: record_rules::unique(&mut mapping),
        checks: record_rules::checks(&mut mapping),
        frozen: mapping.text("frozen"),
        indexes: mapping.sets("indexes"),
        search: mapping.texts("search").unwrap_or_default(),
        ordered: mapping.texts("ordered").unwrap_or_default(),
        order: mapping.texts("order").unwrap_or_default(),
        unindexed: mapping.texts("unindexed").unwrap_or_default(),
        filters: filters(&mut mapping),
        deprecated_filters: deprecated_filters(&mut mapping),
        sorts: sorts(&mut mapping),
        includes: relation::includes(&mut mapping),
        actions: relation::actions(&mut mapping),
        states: states::states(&mut mapping),
        hooks: mapping.words("hooks").unwrap_or_default(),
        jobs: jobs::jobs(&mut mapping),
        seed: mapping.text("seed"),
        is_join: false,
        key_spans: KeySpans {
            operations: mapping.key_span("operations"),
            delete: mapping.key_span("delete"),
            filters: mapping.key_span("filters"),
            sorts: mapping.key_span("sorts"),
            search: mapping.key_span("search"),
            ordered: mapping.key_span("ordered"),
            unindexed: mapping.key_span("unindexed"),
            hooks: mapping.key_span("hooks"),
            jobs: mapping.key_span("jobs"),
            actions: mapping.key_span("actions"),
            events: mapping.key_span("events"),
        },
    };
    mapping.close();
    resource
}

/// The fields under a key, each read with the keys of `table`.
pub fn fields(mapping: &mut Mapping<'_, '_>, name: &str, table: &'static Table) -> Vec<FieldSyntax> {
    let mut fields: Vec<FieldSyntax> = Vec::new();
    let mut before = None;
    let mut entries = mapping.entries(name).iter().peekable();
    while let Some(entry) = entries.next() {
        if let Some(stray) = misplaced_keys::find(mapping.table, table, before, entry) {
            mapping.problems.push(match stray {
                Misplaced::Outer(problem) => problem,
                Misplaced::Field(problem) => {
                    // The missing keys may be next to it.
                    if let Some(field) = fields.last_mut() {
                        field.incomplete = true;
                    }
                    problem
                }
            });
            continue;
        }
        before = Some(entry);
        let beside = entries.peek().filter(|next| matches!(next.key.as_str(), "type" | "from" | "many"));
        match beside.filter(|_| matches!(entry.value.value, Value::Null)) {
            None => fields.push(field::read(table, entry, mapping.problems)),
            Some(beside) => {
                let message =
                    format!("`{}` is empty, and `{}` is at the same level", entry.key.value, beside.key.value);
                let problem = Diagnostic::new(Code::MissingKey, entry.key.span, message, "no type")
                    .related(beside.key.span, "same level")
                    .help("indent the keys of a field further than its name");
                mapping.problems.push(problem);
                // All following keys were meant as keys of the field.
                while entries.peek().is_some_and(|next| table.key(next.key.as_str()).is_some()) {
                    entries.next();
                }
            }
        }
    }
    fields
}

fn permission(mapping: &mut Mapping<'_, '_>) -> (Option<Name>, Option<Name>) {
    let Some(node) = mapping.node("permission") else { return (None, None) };
    if node.scalar().is_some() {
        let both = mapping.text("permission");
        return (both.clone(), both);
    }
    let says_nothing = match &node.value {
        Value::Null => true,
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    };
    if says_nothing {
        // An empty permission would allow everyone with the ability; a forgotten line is more likely.
        let expected = "a permission, or a mapping with `read` and `write`";
        mapping.problems.push(misshapen(node, "`permission`", expected).help("remove it if no permission is needed"));
        return (None, None);
    }
    let mut permission = Mapping::open(&keys::PERMISSION, node, mapping.problems);
    let pair = (permission.text("read"), permission.text("write"));
    permission.close();
    pair
}

fn row_rules(mapping: &mut Mapping<'_, '_>) -> (Option<Name>, Option<Name>) {
    let Some(node) = mapping.node("access") else { return (None, None) };
    if matches!(&node.value, Value::Map(entries) if !entries.is_empty()) {
        let mut rules = Mapping::open(&keys::ACCESS, node, mapping.problems);
        let pair = (rules.text("read"), rules.text("write"));
        rules.close();
        return pair;
    }
    // An empty rule would hide nothing; a forgotten line is more likely.
    let expected = "a condition for `read`, `write` or both";
    mapping.problems.push(misshapen(node, "`access`", expected).help("remove it if every caller may see all records"));
    (None, None)
}

fn filters(mapping: &mut Mapping<'_, '_>) -> Option<FiltersSyntax> {
    let node = mapping.node("filters")?;
    if matches!(node.value, Value::Null) {
        // An empty value is not `none`; a forgotten line is more likely.
        let problem = misshapen(node, "`filters`", "`shown`, `none` or a mapping from fields to predicates");
        mapping.problems.push(problem.help("write `none` to allow no filters, or remove the key for `shown`"));
        return None;
    }
    if let Some(word) = node.scalar() {
        if let Some(names) = names_of_fields(mapping, word.as_str(), FilterWord::WORDS) {
            let problem = misshapen(node, "`filters`", "`shown`, `none` or a mapping from fields to predicates");
            mapping.problems.push(problem.help(format!("write `filters: {{ {}: all }}`", names.join(": all, "))));
            return None;
        }
        return mapping::read_word("filters", &word, mapping.problems).map(FiltersSyntax::Word);
    }
    let entries = mapping.entries("filters");
    let fields = entries.iter().filter_map(|entry| {
        let filter = match &entry.value.value {
            Value::Scalar { text, .. } if text == "all" => FilterSyntax::All,
            Value::List(words) if words.is_empty() => {
                let message = format!("the filter of `{}` is empty", entry.key.value);
                let problem = Diagnostic::new(Code::WrongShape, entry.value.span, message, "empty")
                    .help("add a predicate, or remove the field: fields that are not listed cannot be filtered");
                mapping.problems.push(problem);
                return None;
            }
            Value::List(_) => FilterSyntax::Only(mapping::texts(&entry.value, entry.key.as_str(), mapping.problems)),
            _ => {
                let what = format!("the filter of `{}`", entry.key.value);
                let problem = misshapen(&entry.value, &what, "`all` or a list of predicates");
                // `null` is a predicate here.
                mapping.problems.push(match entry.value.scalar() {
                    Some(word) if word.value.to_lowercase() == "all" => problem.help("did you mean `all`?"),
                    Some(word) if WORDS_FOR_NONE.contains(&word.value.to_lowercase().as_str()) => problem
                        .help(format!("remove `{}`: fields that are not listed cannot be filtered", entry.key.value)),
                    Some(word) => problem.help(format!("write `{}: [{}]`", entry.key.value, word.value)),
                    None => problem,
                });
                return None;
            }
        };
        Some((entry.key.clone(), filter))
    });
    Some(FiltersSyntax::Fields(fields.collect()))
}

/// Words for a field that is not filtered.
const WORDS_FOR_NONE: &[&str] = &["none", "no", "off", "false", "nothing", "never"];

/// The fields that a text names where a keyword is expected; none if the text names anything else.
fn names_of_fields<'t>(mapping: &mut Mapping<'_, '_>, text: &'t str, words: &[&str]) -> Option<Vec<&'t str>> {
    if words.contains(&text) {
        return None;
    }
    let mut declared = vec!["id", "created_at", "updated_at"];
    for key in ["fields", "detail"] {
        if let Some(Value::Map(entries)) = mapping.node(key).map(|node| &node.value) {
            declared.extend(entries.iter().map(|entry| entry.key.as_str()));
        }
    }
    // A polymorphic `ref` is declared once and has two columns.
    let columns = |name: &'t str| [name, name.trim_end_matches("_id"), name.trim_end_matches("_type")];
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    let are_fields = names.iter().all(|name| columns(name).iter().any(|name| declared.contains(name)));
    are_fields.then_some(names)
}

fn deprecated_filters(mapping: &mut Mapping<'_, '_>) -> Vec<(Name, DeprecatedSyntax)> {
    let entries = mapping.entries("deprecated_filters").iter();
    entries
        .filter_map(|entry| Some((entry.key.clone(), DeprecatedSyntax::read(&entry.value, mapping.problems)?)))
        .collect()
}

fn sorts(mapping: &mut Mapping<'_, '_>) -> Option<SortsSyntax> {
    let node = mapping.node("sorts")?;
    if matches!(node.value, Value::Null) {
        let problem = misshapen(node, "`sorts`", "`shown`, `none` or a list of fields");
        mapping.problems.push(problem.help("write `none` to allow no sorts, or remove the key for `shown`"));
        return None;
    }
    if let Some(word) = node.scalar() {
        if let Some(names) = names_of_fields(mapping, word.as_str(), SortWord::WORDS) {
            let problem = misshapen(node, "`sorts`", "`shown`, `none` or a list of fields");
            mapping.problems.push(problem.help(format!("write `sorts: [{}]`", names.join(", "))));
            return None;
        }
        let word: Spanned<SortWord> = mapping::read_word("sorts", &word, mapping.problems)?;
        return Some(if word.value == SortWord::None { SortsSyntax::Fields(Vec::new()) } else { SortsSyntax::Shown });
    }
    mapping.texts("sorts").map(SortsSyntax::Fields)
}
