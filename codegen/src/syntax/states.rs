//! `states` as written: the field of the state, its transitions, and the rule that they share with actions.

use super::keys;
use super::mapping::{Mapping, texts};
use super::tree::{Entry, Node, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Spanned;

type Name = Spanned<String>;

/// The lifecycle of a record.
#[derive(Debug, Clone)]
pub struct StatesSyntax {
    pub field: Name,
    pub transitions: Vec<TransitionSyntax>,
}

/// The keys of a transition or an action that limit it and set fields.
#[derive(Debug, Clone)]
pub struct RuleSyntax {
    /// The condition of `if`.
    pub guard: Option<Name>,
    pub permission: Option<Name>,
    pub message: Option<Name>,
    /// The name of each field with its value, which may be null.
    pub set: Vec<(Name, Node)>,
}

impl RuleSyntax {
    pub fn of(mapping: &mut Mapping<'_, '_>) -> RuleSyntax {
        RuleSyntax {
            guard: mapping.text("if"),
            permission: mapping.text("permission"),
            message: mapping.text("message"),
            set: mapping.entries("set").iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect(),
        }
    }

    /// True without any of the keys.
    pub fn is_empty(&self) -> bool {
        self.guard.is_none() && self.permission.is_none() && self.message.is_none() && self.set.is_empty()
    }
}

/// A transition as written.
#[derive(Debug, Clone)]
pub struct TransitionSyntax {
    pub name: Name,
    pub from: Vec<Name>,
    pub to: Name,
    pub rule: RuleSyntax,
    pub event: Option<Name>,
    pub confirm: Option<Name>,
    pub description: Option<Name>,
}

/// Reads the value of `states`; none without the key, or without a field.
pub fn states(outer: &mut Mapping<'_, '_>) -> Option<StatesSyntax> {
    let node = outer.node("states")?;
    let mut mapping = Mapping::open(&keys::STATES, node, outer.problems);
    mapping.require("field");
    mapping.require("transitions");
    let field = mapping.text("field");
    let transitions = mapping.node("transitions");
    let entries = mapping.entries("transitions");
    if let (Some(node), []) = (transitions, entries)
        && matches!(&node.value, Value::Map(_))
    {
        let problem = Diagnostic::new(Code::WrongShape, node.span, "`transitions` is empty", "empty");
        mapping.problems.push(problem.help("for example, `transitions: { solve: { from: open, to: solved } }`"));
    }
    let transitions = entries.iter().filter_map(|entry| transition(entry, &mut mapping)).collect();
    mapping.close();
    Some(StatesSyntax { field: field?, transitions })
}

fn transition(entry: &Entry, outer: &mut Mapping<'_, '_>) -> Option<TransitionSyntax> {
    let mut mapping = Mapping::open(&keys::TRANSITION, &entry.value, outer.problems);
    mapping.span = entry.key.span;
    mapping.require("from");
    mapping.require("to");
    let from = match mapping.node("from") {
        Some(node) if node.scalar().is_some() => mapping.text("from").map(|state| vec![state]),
        Some(node) => Some(texts(node, "from", mapping.problems)),
        None => None,
    };
    let to = mapping.text("to");
    let rule = RuleSyntax::of(&mut mapping);
    let (event, confirm) = (mapping.text("event"), mapping.text("confirm"));
    let description = mapping.text("description");
    mapping.close();
    let (name, from, to) = (entry.key.clone(), from?, to?);
    Some(TransitionSyntax { name, from, to, rule, event, confirm, description })
}
