//! Choices of references: the condition `where` of a field over the records that it can get.

use std::sync::Arc;

use crate::catalog::{Catalog, Entry};
use crate::error::{Error, FieldErrors, Result};
use crate::expression::{self, Node};
use crate::meta::{FieldMeta, Kind};
use crate::ops::Context;
use crate::query::{CHOICES_OF, Condition, RowExpression};

/// The checked text of a `where` over the records of `target`.
///
/// # Errors
/// The reason why it is no condition over the record alone.
pub fn checked(text: &'static str, target: &Entry) -> Result<&'static Node, String> {
    let node = expression::condition(text, target.meta).map_err(|mistake| mistake.message)?;
    if node.is_constant() { Ok(node) } else { Err("it depends on the request".to_owned()) }
}

/// The condition of a `where` for the records of `target` that can be chosen; all if the text is empty.
pub fn condition(context: &Context<'_>, text: &'static str, target: &Entry) -> Condition {
    if text.is_empty() {
        return Condition::always();
    }
    // The start has checked every condition. One that is invalid all the same holds for no record.
    let Ok(node) = checked(text, target) else { return Condition::Ids(Vec::new()) };
    let dialect = context.state().db.dialect();
    let expression = RowExpression::new(text, node, dialect, &context.request_without_day(), &|_| None);
    Condition::Expression(Arc::new(expression))
}

/// Adds the error of a reference to a record that the caller can see but the field cannot get.
pub(super) fn add_unfit(errors: &mut FieldErrors, catalog: &Catalog, field: &FieldMeta, resource: &str) {
    let label = catalog.linked(resource).meta.label.to_lowercase();
    errors.add(field.name, format!("must refer to a record ({label}) with {}", field.choices));
}

/// The value of [`CHOICES_OF`] for a field or a parameter of an action; none if every record can be chosen.
pub fn name(catalog: &Catalog, field: &FieldMeta) -> Option<String> {
    if field.choices.is_empty() {
        return None;
    }
    let found = limited(catalog).find(|(_, other)| std::ptr::eq(*other, field))?;
    Some(found.0)
}

/// The names of the fields and parameters that limit the records of a resource that they can get.
pub fn names_over(catalog: &Catalog, target: &Entry) -> Vec<String> {
    limited_over(catalog, target).map(|(name, _)| name).collect()
}

/// The condition of the parameter [`CHOICES_OF`] of a list.
///
/// # Errors
/// 422 if it names no field that limits the records of the list.
pub fn named(context: &Context<'_>, entry: &Entry, name: &str) -> Result<Condition> {
    match limited_over(context.catalog(), entry).find(|(other, _)| other == name) {
        Some((_, field)) => Ok(condition(context, field.choices, entry)),
        None => {
            let names = names_over(context.catalog(), entry);
            let known = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
            let label = entry.meta.label.to_lowercase();
            Err(Error::invalid(CHOICES_OF, format!("is not a field that limits its choices of {label}{known}")))
        }
    }
}

/// Those fields and parameters with `where` that refer to a resource, with their names.
fn limited_over(catalog: &Catalog, target: &Entry) -> impl Iterator<Item = (String, &'static FieldMeta)> {
    let resource = target.meta.name;
    limited(catalog).filter(move |(_, field)| field.kind == Kind::Ref { resource })
}

/// Every field and parameter with `where`, with its name: `order.product_id`, `order.swap.product_id`.
fn limited(catalog: &Catalog) -> impl Iterator<Item = (String, &'static FieldMeta)> {
    catalog.entries().iter().flat_map(|entry| {
        let meta = entry.meta;
        let own = meta.fields.iter().map(move |field| (format!("{}.{}", meta.name, field.name), field));
        let inputs = meta.actions.iter().flat_map(move |action| {
            action.input.iter().map(move |field| (format!("{}.{}.{}", meta.name, action.name, field.name), field))
        });
        own.chain(inputs).filter(|(_, field)| !field.choices.is_empty())
    })
}
