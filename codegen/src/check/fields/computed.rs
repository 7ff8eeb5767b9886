//! Computed fields: the names and the type of `value`, whether its values fit the field, and keys that it makes useless.

use charter_model::FieldOption;
use charter_model::expression::{self, Node, Type};

use super::conditions::{self, Names};
use super::settable;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Field, Name, Resource, Rule};
use crate::source::Span;

/// Fields of each record whose value changes after the others are stored, or is not known before.
pub const UNSTABLE: &[&str] = &["id", "updated_at", "deleted_at"];

pub fn check(resource: &Resource, field: &Field, value: &Name, problems: &mut Problems) {
    useless_keys(resource, field, problems);
    let Some(kind) = field.kind.known() else { return };
    let Some(wanted) = expression::computed_type(kind) else {
        let message = format!("`{}` is {}, which cannot be computed", field.declared, field.kind.described());
        let problem = Diagnostic::new(Code::ComputedMisfit, value.span, message, "cannot be computed");
        problems
            .push(problem.help("use `integer`, `bigint`, `decimal`, `boolean`, `date`, `timestamp`, `enum` or `text`"));
        return;
    };
    let names = Names::without_request(resource);
    let Some((node, found)) = conditions::value(value, &names, &wanted, problems) else { return };
    if !named_fields(resource, field, value, &node, problems) {
        return;
    }
    not_null(resource, field, value, &node, problems);
    fit(field, value, node, (&found, &wanted), problems);
}

/// The expression of a checked field, with the decimal places of the field.
pub fn node(resource: &Resource, field: &Field) -> Option<Node> {
    let (kind, value) = (field.kind.known()?, field.value()?);
    let wanted = expression::computed_type(kind)?;
    let names = Names::without_request(resource);
    let (node, found) = expression::check_value(&value.value, &names, Some(&wanted)).ok()?;
    expression::fitted(node, &found, &wanted).ok()
}

/// Reports keys that give a value or limit it: the expression alone decides.
fn useless_keys(resource: &Resource, field: &Field, problems: &mut Problems) {
    let name = &field.declared;
    let mut refuse = |span: Option<Span>, key: &str, why: &str| {
        if let Some(span) = span {
            let message = format!("`{name}` is computed and does not take `{key}`");
            problems.push(Diagnostic::new(Code::Contradiction, span, message, "contradicts").help(why));
        }
    };
    let places = &field.places;
    refuse(places.access, "access", "remove it: a computed field is read-only, because `value` sets it");
    refuse(places.required, "required", "remove it: clients do not send a computed field");
    refuse(places.default, "default", "remove it: `value` gives each record its value; `coalesce` replaces null");
    let backfill = field.backfill.as_ref().map(|backfill| backfill.span);
    refuse(backfill, "backfill", "remove it: the migration computes the value of existing rows");
    for rule in field.rules.iter().filter(|rule| rule.value != Rule::Unique) {
        let help = "remove it: no request sets the field; limit the fields in the expression instead";
        refuse(Some(rule.span), rule.value.key(), help);
    }
    for option in [FieldOption::Write, FieldOption::Placeholder, FieldOption::Help] {
        let help = "remove it: no request and no form sets a computed field";
        refuse(field.described.get(option).map(|text| text.span), option.key(), help);
    }
    if let (true, Some(value)) = (resource.singleton, field.value()) {
        let message = format!("`{name}` is in a singleton, whose record exists before the first write");
        let problem = Diagnostic::new(Code::Singleton, value.span, message, "not with `singleton`");
        problems.push(problem.help("remove `value`, and compute it where it is read"));
    }
}

/// Reports fields that an expression cannot use. True if there are none.
fn named_fields(resource: &Resource, field: &Field, value: &Name, node: &Node, problems: &mut Problems) -> bool {
    let mut are_usable = true;
    for name in node.fields() {
        let Some(other) = resource.fields.iter().find(|other| other.name.value == name) else { continue };
        let refusal = if other.name.value == field.name.value {
            Some((format!("`{name}` is computed from itself"), "name other fields of the record".to_owned()))
        } else if other.value().is_some() {
            let help = "write its expression in place of its name".to_owned();
            Some((format!("`{name}` is computed too, and computed fields use plain fields only"), help))
        } else if other.rollup.is_some() {
            let help = "use plain fields: other records change a rollup when this one is not written".to_owned();
            Some((format!("`{name}` is a rollup, which changes without a write of the record"), help))
        } else if UNSTABLE.contains(&name) {
            let help = "use `created_at`, or a field that the YAML declares".to_owned();
            Some((format!("`{name}` is not known when the value is computed"), help))
        } else if other.described.get(FieldOption::Sequence).is_some() {
            let help = "use fields that are known before the record is stored".to_owned();
            Some((format!("`{name}` has a number that the server assigns after the value is computed"), help))
        } else {
            settable::hidden(field, other)
        };
        if let Some((message, help)) = refusal {
            let problem = Diagnostic::new(Code::BadCondition, value.span, message, "cannot be used");
            problems.push(problem.help(help));
            are_usable = false;
        }
    }
    are_usable
}

fn not_null(resource: &Resource, field: &Field, value: &Name, node: &Node, problems: &mut Problems) {
    let is_nullable = |other: &expression::Field| {
        resource.fields.iter().any(|field| field.name.value == other.name && field.nullable)
    };
    if !field.nullable && node.can_be_null(&is_nullable) {
        let message = format!("the value of `{}` can be null", field.declared);
        let problem = Diagnostic::new(Code::ComputedMisfit, value.span, message, "can be null");
        problems.push(problem.help("add `nullable: true`, or replace null with `coalesce`"));
    }
}

fn fit(field: &Field, value: &Name, node: Node, (found, wanted): (&Type, &Type), problems: &mut Problems) {
    if let Err(misfit) = expression::fitted(node, found, wanted) {
        let message = format!("the value does not fit `{}`: this is {}", field.declared, misfit.reason);
        let label = format!("not {}", field.kind.described());
        problems.push(Diagnostic::new(Code::ComputedMisfit, value.span, message, label).help(misfit.help));
    }
}
