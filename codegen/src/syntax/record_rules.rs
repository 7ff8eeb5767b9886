//! Rules of a whole record as written: `checks` and `unique`.

use super::keys;
use super::mapping::{Mapping, texts};
use super::tree::{Node, Value};
use crate::source::Spanned;

type Name = Spanned<String>;

/// An element of `checks`.
#[derive(Debug, Clone)]
pub struct CheckSyntax {
    pub that: Option<Name>,
    pub field: Option<Name>,
    pub message: Option<Name>,
}

/// An element of `unique`.
#[derive(Debug, Clone)]
pub struct UniqueSyntax {
    pub fields: Spanned<Vec<Name>>,
    pub rows: Option<Name>,
    pub ignore_case: Option<Spanned<bool>>,
}

/// Reads the value of `unique`: lists of names, and mappings.
pub fn unique(mapping: &mut Mapping<'_, '_>) -> Vec<UniqueSyntax> {
    let mappings = |node: &Node| match &node.value {
        Value::List(items) => items.iter().all(|item| matches!(item.value, Value::List(_) | Value::Map(_))),
        _ => false,
    };
    if !mapping.node("unique").is_some_and(mappings) {
        let sets = mapping.sets("unique").into_iter();
        return sets.map(|fields| UniqueSyntax { fields, rows: None, ignore_case: None }).collect();
    }
    let mut sets = Vec::new();
    for node in mapping.items("unique") {
        if let Value::List(_) = node.value {
            let fields = Spanned::new(texts(node, "unique", mapping.problems), node.span);
            sets.push(UniqueSyntax { fields, rows: None, ignore_case: None });
            continue;
        }
        let mut element = Mapping::open(&keys::UNIQUE, node, mapping.problems);
        element.require("fields");
        let fields = element.texts("fields");
        let (rows, ignore_case) = (element.text("where"), element.flag("ignore_case"));
        element.close();
        // A set without its fields is reported.
        let Some(fields) = fields else { continue };
        sets.push(UniqueSyntax { fields: Spanned::new(fields, node.span), rows, ignore_case });
    }
    sets
}

/// Reads the value of `checks`.
pub fn checks(mapping: &mut Mapping<'_, '_>) -> Vec<CheckSyntax> {
    let mut checks = Vec::new();
    for node in mapping.items("checks") {
        let mut element = Mapping::open(&keys::CHECK, node, mapping.problems);
        element.require("that");
        checks.push(CheckSyntax {
            that: element.text("that"),
            field: element.text("field"),
            message: element.text("message"),
        });
        element.close();
    }
    checks
}
