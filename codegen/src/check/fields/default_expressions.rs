//! Defaults that are expressions: whether what they name is known when a record is created, and null.

use charter_model::FieldOption;
use charter_model::expression::Node;

use super::computed::UNSTABLE;
use super::settable;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Default, Field, Name, Resource, Schema};

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    for field in &resource.fields {
        let Some(text) = field.default_expression() else { continue };
        if resource.singleton {
            let message = format!("`{}` is in a singleton, whose record exists before the first write", field.declared);
            let problem = Diagnostic::new(Code::Singleton, text.span, message, "not with `singleton`");
            problems.push(problem.help("write a literal, or `nullable: true` without a default"));
            continue;
        }
        let place = (schema, resource);
        let Some(node) = settable::check(place, field, &text, Code::DefaultExpression, problems) else { continue };
        if are_known(place, &text, &node, problems) && !is_circular(place, field, &text, problems) {
            not_null(place, field, &text, &node, problems);
        }
    }
}

/// The expression of a default of a checked schema.
pub fn node(schema: &Schema, resource: &Resource, field: &Field) -> Option<Node> {
    settable::node((schema, resource), field, &field.default_expression()?)
}

/// Reports a default that depends on itself, by the defaults of other fields.
fn is_circular(place: (&Schema, &Resource), field: &Field, text: &Name, problems: &mut Problems) -> bool {
    let named = |name: &str| {
        let field = place.1.field(name)?;
        Some(
            settable::node(place, field, &field.default_expression()?)?
                .fields()
                .into_iter()
                .map(str::to_owned)
                .collect(),
        )
    };
    let (mut seen, mut next): (Vec<String>, Vec<String>) = (Vec::new(), named(field.name.as_str()).unwrap_or_default());
    while let Some(name) = next.pop() {
        if name == field.name.value {
            let message = format!("the default of `{name}` depends on itself");
            let problem = Diagnostic::new(Code::DefaultExpression, text.span, message, "in a circle");
            problems.push(problem.help("let one of the fields have another default, or `required: true`"));
            return true;
        }
        if !seen.contains(&name) {
            next.extend(named(&name).unwrap_or_default());
            seen.push(name);
        }
    }
    false
}

/// Reports a field that has no value yet when the default is needed. True if there is none.
fn are_known((schema, resource): (&Schema, &Resource), text: &Name, node: &Node, problems: &mut Problems) -> bool {
    let holds = |other: &Field| {
        other
            .kind
            .dependents()
            .is_some_and(|(of, by)| of.value == resource.name.value && node.fields().contains(&by.as_str()))
    };
    let holder = schema.resources.iter().find(|other| other.fields.iter().any(holds));
    let of_holder = holder.map(|holder| {
        let message = format!("`{}` embeds the records, and is stored after the default is needed", holder.name.value);
        (message, "use the fields of the record itself".to_owned())
    });
    let mut unknown = node.fields().into_iter().filter_map(|name| resource.field(name)).filter_map(unknown);
    let Some((message, help)) = of_holder.or_else(|| unknown.next()) else { return true };
    let problem = Diagnostic::new(Code::DefaultExpression, text.span, message, "has no value yet");
    problems.push(problem.help(help));
    false
}

/// The reason why a field has no value when the default of another one is needed, and the help.
fn unknown(other: &Field) -> Option<(String, String)> {
    let name = &other.name.value;
    if other.value().is_some() {
        let help = "write its expression in place of its name".to_owned();
        return Some((format!("`{name}` is computed, after the defaults"), help));
    }
    if other.rollup.is_some() {
        let help = "use plain fields: the records that it counts are stored after this one".to_owned();
        return Some((format!("`{name}` is a rollup, which has no value in a new record"), help));
    }
    if other.default == Default::Hook {
        let help = "set both in the hook: `default: hook`".to_owned();
        return Some((format!("`{name}` gets its default from a hook, after this one"), help));
    }
    let help = "use fields that are known before the record is stored".to_owned();
    if UNSTABLE.contains(&name.as_str()) {
        return Some((format!("`{name}` is not known when a record is created"), help));
    }
    let is_numbered = other.described.get(FieldOption::Sequence).is_some();
    is_numbered.then(|| (format!("`{name}` has a number that the server assigns after the defaults"), help))
}

/// A value that cannot be null does not come from a field that can.
fn not_null(place: (&Schema, &Resource), field: &Field, text: &Name, node: &Node, problems: &mut Problems) {
    if settable::is_null(place, field, node) {
        let message = format!("the default of `{}` can be null", field.declared);
        let problem = Diagnostic::new(Code::DefaultExpression, text.span, message, "can be null");
        problems.push(problem.help("add `nullable: true`, or replace null with `coalesce`"));
    }
}
