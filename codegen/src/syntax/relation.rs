//! Includes and actions as written.

use charter_model::{ActionMethod, ActionOn};

use super::field::{DeprecatedSyntax, FieldSyntax};
use super::keys;
use super::mapping::{Mapping, read_word};
use super::resource::fields;
use super::states::RuleSyntax;
use super::tree::{Entry, Node, Value};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::keywords::OutputWord;
use crate::source::{Span, Spanned};

type Name = Spanned<String>;

/// Related records that a client may ask for.
#[derive(Debug, Clone)]
pub struct IncludeSyntax {
    pub name: Name,
    pub target: IncludeTargetSyntax,
    pub fields: Vec<Name>,
}

#[derive(Debug, Clone)]
pub enum IncludeTargetSyntax {
    One(Name),
    Many {
        resource: Name,
        by: Option<Name>,
    },
    /// `customFieldValues: custom_fields`
    CustomFields(Span),
}

/// A named operation.
#[derive(Debug, Clone)]
pub struct ActionSyntax {
    pub name: Name,
    pub on: Option<Spanned<ActionOn>>,
    pub method: Option<Spanned<ActionMethod>>,
    pub input: Vec<FieldSyntax>,
    pub answer: Option<Name>,
    pub output: Vec<FieldSyntax>,
    pub output_span: Option<Span>,
    /// `output: created`
    pub creates: bool,
    /// The output could not be read, which is reported.
    pub unreadable: bool,
    pub event: Option<Name>,
    pub until: Option<Name>,
    pub confirm: Option<Name>,
    pub rule: RuleSyntax,
    pub external: Option<Spanned<bool>>,
    pub deprecated: Option<DeprecatedSyntax>,
    pub description: Option<Name>,
}

/// Reads the value of `includes`.
pub fn includes(mapping: &mut Mapping<'_, '_>) -> Vec<IncludeSyntax> {
    mapping.entries("includes").iter().filter_map(|entry| include(entry, mapping)).collect()
}

fn include(entry: &Entry, outer: &mut Mapping<'_, '_>) -> Option<IncludeSyntax> {
    let name = entry.key.clone();
    if let Some(target) = entry.value.scalar() {
        let target = match target.as_str() {
            "custom_fields" => IncludeTargetSyntax::CustomFields(target.span),
            _ => IncludeTargetSyntax::One(target),
        };
        return Some(IncludeSyntax { name, target, fields: Vec::new() });
    }
    let mut mapping = Mapping::open(&keys::INCLUDE, &entry.value, outer.problems);
    let (one, many, by) = (mapping.text("one"), mapping.text("many"), mapping.text("by"));
    let fields = mapping.texts("fields").unwrap_or_default();
    if let Some(node) =
        mapping.node("fields").filter(|node| matches!(&node.value, Value::List(items) if items.is_empty()))
    {
        let message = format!("`fields` of `{}` is empty", name.value);
        let problem = Diagnostic::new(Code::WrongShape, node.span, message, "empty")
            .help("add at least one, or remove `fields` to show those of list items");
        mapping.problems.push(problem);
    }
    let target = match (one, many) {
        (Some(via), None) => {
            if let Some(by) = by {
                let message = "`by` needs `many`";
                mapping.problems.push(Diagnostic::new(Code::Contradiction, by.span, message, "`many` is missing"));
            }
            Some(IncludeTargetSyntax::One(via))
        }
        (None, Some(resource)) => Some(IncludeTargetSyntax::Many { resource, by }),
        (Some(one), Some(many)) => {
            let message = format!("`{}` has both `one` and `many`", name.value);
            let problem = Diagnostic::new(Code::Contradiction, many.span, message, "this one")
                .related(one.span, "the other")
                .help("remove one of the two");
            mapping.problems.push(problem);
            None
        }
        (None, None) => {
            let message = format!("`{}` needs `one` or `many`", name.value);
            let problem = Diagnostic::new(Code::MissingKey, name.span, message, "loads nothing")
                .help("write `one: product_group_id` to load the record that a field refers to, or `many: stock_level` to load those that refer to this record");
            mapping.problems.push(problem);
            None
        }
    };
    mapping.close();
    target.map(|target| IncludeSyntax { name, target, fields })
}

/// Reads the value of `actions`.
pub fn actions(mapping: &mut Mapping<'_, '_>) -> Vec<ActionSyntax> {
    mapping.entries("actions").iter().map(|entry| action(entry, mapping)).collect()
}

fn action(entry: &Entry, outer: &mut Mapping<'_, '_>) -> ActionSyntax {
    let mut mapping = Mapping::open(&keys::ACTION, &entry.value, outer.problems);
    mapping.span = entry.key.span;
    mapping.require("on");
    let word = mapping.node("output").filter(|node| !node.is_null()).and_then(Node::scalar);
    // `created` is the only word. Another is reported, and a similar one is read as `created`.
    let creates = word.as_ref().is_some_and(|word| {
        let read = read_word::<OutputWord>("output", word, mapping.problems);
        read.is_some() || nearest(word.as_str(), OutputWord::WORDS.iter().copied()).is_some()
    });
    // An empty value is reported where the output is missing.
    let has_output = word.is_none() && mapping.node("output").is_some_and(|node| !node.is_null());
    let action = ActionSyntax {
        name: entry.key.clone(),
        on: mapping.word("on"),
        method: mapping.word("method"),
        input: fields(&mut mapping, "input", &keys::INPUT),
        answer: mapping.text("answer"),
        output: if has_output { fields(&mut mapping, "output", &keys::OUTPUT) } else { Vec::new() },
        output_span: mapping.key_span("output"),
        creates,
        unreadable: word.is_some() && !creates,
        event: mapping.text("event"),
        until: mapping.text("until"),
        confirm: mapping.text("confirm"),
        rule: RuleSyntax::of(&mut mapping),
        external: mapping.flag("external"),
        deprecated: DeprecatedSyntax::of(&mut mapping),
        description: mapping.text("description"),
    };
    mapping.close();
    action
}
