//! Values of expressions that a default or an action gives a field: names and types, and fields that the value would tell of.

use charter_model::expression::{self, Function, Node, Type};
use charter_model::reserved::USER;
use charter_model::{FieldOption, FieldType};

use super::conditions::{self, Names};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Access, Field, Name, Resource, Schema};

/// The expression of `text` for a field, with the decimal places of the field. Reports what is wrong with it: names and types as
/// a bad condition, and values that the field cannot hold under `code`.
pub fn check(
    (schema, resource): (&Schema, &Resource),
    field: &Field,
    text: &Name,
    code: Code,
    problems: &mut Problems,
) -> Option<Node> {
    let kind = field.kind.known()?;
    let Some(wanted) = expression::settable_type(kind) else {
        let message = format!("`{}` is {}, which no expression gives a value", field.declared, field.kind.described());
        let problem = Diagnostic::new(code, text.span, message, "not by an expression");
        problems.push(problem.help("write a literal, or set the value in code"));
        return None;
    };
    let names = Names { others: Some(schema), ..Names::of_record(resource) };
    let (node, found) = conditions::value(text, &names, &wanted, problems)?;
    let told = hidden_fields((schema, resource), field, &node);
    if let Some((message, help)) = told.into_iter().next() {
        let problem = Diagnostic::new(Code::BadCondition, text.span, message, "cannot be used");
        problems.push(problem.help(help));
        return None;
    }
    if let Some(target) = field.kind.target()
        && !refers_to(&node, target.as_str(), (schema, resource))
    {
        let message = format!("the value is not always the id of a `{}`", target.value);
        let problem = Diagnostic::new(code, text.span, message, "another kind of number");
        problems.push(problem.help(format!("name fields of the type `ref({})`", target.value)));
        return None;
    }
    fitted(field, text, node, (&found, &wanted), code, problems)
}

/// The same expression of a checked schema.
pub fn node((schema, resource): (&Schema, &Resource), field: &Field, text: &Name) -> Option<Node> {
    check((schema, resource), field, text, Code::BadCondition, &mut Problems::default())
}

fn fitted(
    field: &Field,
    text: &Name,
    node: Node,
    (found, wanted): (&Type, &Type),
    code: Code,
    problems: &mut Problems,
) -> Option<Node> {
    let fitted = expression::fitted(node, found, wanted);
    let report = |misfit: expression::Misfit| {
        let message = format!("the value does not fit `{}`: this is {}", field.declared, misfit.reason);
        let label = format!("not {}", field.kind.described());
        problems.push(Diagnostic::new(code, text.span, message, label).help(misfit.help));
    };
    fitted.map_err(report).ok()
}

/// True if a value can be null, and the field cannot.
pub fn is_null(place: (&Schema, &Resource), field: &Field, node: &Node) -> bool {
    let is_nullable = |other: &expression::Field| {
        let reference = other.via.as_ref().and_then(|via| place.1.field(&via.field));
        reference.is_some_and(|reference| reference.nullable) || named(place, other).is_some_and(|field| field.nullable)
    };
    !field.nullable && node.can_be_null_within_years(&is_nullable)
}

/// The field that an expression names: of the record, or of another one.
pub fn named<'s>((schema, resource): (&'s Schema, &'s Resource), field: &expression::Field) -> Option<&'s Field> {
    let of = match &field.via {
        None => resource,
        Some(via) => schema.find(&via.resource)?,
    };
    of.field(&field.name)
}

/// The reasons why a value would tell of a field that its readers may not see, each with its help.
fn hidden_fields(place: (&Schema, &Resource), field: &Field, node: &Node) -> Vec<(String, String)> {
    let mut found = Vec::new();
    node.visit(&mut |part| {
        let Node::Field(part) = part else { return };
        found.extend(named(place, part).and_then(|other| hidden(field, other)));
        let target = part.via.as_ref().and_then(|via| place.0.find(&via.resource));
        found.extend(target.and_then(|target| hidden_resource(place.1, field, target)));
    });
    found
}

/// The reason why the value of a field would tell of the records of another resource, and the help.
fn hidden_resource(resource: &Resource, field: &Field, target: &Resource) -> Option<(String, String)> {
    let right = target.read_permission.as_ref()?;
    let is_same = |own: Option<&Name>| own.is_some_and(|own| own.value == right.value);
    let is_told = !is_same(resource.read_permission.as_ref()) && !is_same(field.described.get(FieldOption::Read));
    is_told.then(|| {
        let (target, declared) = (&target.name.value, &field.declared);
        let message = format!("reading `{target}` needs `{}`, and `{declared}` would tell of its records", right.value);
        (message, format!("add `read: {}`", right.value))
    })
}

/// The reason why the value of a field would tell of another one, and the help.
pub fn hidden(field: &Field, other: &Field) -> Option<(String, String)> {
    let name = &other.name.value;
    if other.access == Access::Secret {
        let help = "use fields that clients can read".to_owned();
        return Some((format!("`{name}` is secret, and the value would tell of it"), help));
    }
    let right = other.described.get(FieldOption::Read)?;
    let is_same = field.described.get(FieldOption::Read).is_some_and(|own| own.value == right.value);
    (!is_same).then(|| {
        let message = format!("reading `{name}` needs `{}`, and `{}` would tell of it", right.value, field.declared);
        // A field of the platform needs an ability, which no declared field can need.
        let help = match right.value.contains(':') {
            true => "use fields that clients can read".to_owned(),
            false => format!("add `read: {}`", right.value),
        };
        (message, help)
    })
}

/// True if each value of an expression is null or the id of a record of a resource.
fn refers_to(node: &Node, target: &str, place: (&Schema, &Resource)) -> bool {
    let all = |nodes: &[Node]| nodes.iter().all(|node| refers_to(node, target, place));
    match node {
        Node::Null => true,
        Node::CallerId => target == USER,
        Node::Field(field) if field.name == "id" => field.via.as_ref().is_some_and(|via| via.resource == target),
        Node::Field(field) => named(place, field)
            .and_then(|field| field.kind.known())
            .is_some_and(|kind| matches!(kind, FieldType::Ref { resource } if resource.value == target)),
        Node::Call(Function::Coalesce, arguments) => all(arguments),
        Node::Call(Function::If, arguments) => all(arguments.get(1..).unwrap_or_default()),
        _ => false,
    }
}
