//! Conditions over a seed row: `checks` and `required_when`, evaluated with the values of the row and literal defaults.

use charter_model::expression::{self, Node, Scalar};

use crate::check::fields::conditions::{Names, NoRequest, is_blank};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{Default, Field, Resource, Rule};
use crate::syntax::tree::{Entry, Node as Written};

/// A field that has its value only in the server, or one that does not fit, which is reported there.
struct Unknown;

/// Reports the conditions that a row breaks. `accepts` is true for the fields that a row may set.
pub fn check(
    resource: &Resource,
    item: &Written,
    entries: &[Entry],
    accepts: impl Fn(&Field) -> bool,
    problems: &mut Problems,
) {
    let given = |name: &str| entries.iter().find(|entry| entry.key.value == name && !entry.value.is_null());
    let current = |name: &str| match resource.field(name).filter(|field| accepts(field)) {
        Some(field) => value(field, given(name)),
        None => Err(Unknown),
    };
    let holds = |text: &str| {
        let node = expression::check(text, &Names::without_request(resource)).ok()?;
        let holds = expression::holds(&node, &NoRequest, &|field| current(&field.name)).ok()??;
        Some((node, holds))
    };
    for check in &resource.checks {
        let Some((node, false)) = holds(check.that.as_str()) else { continue };
        let place = check.field.iter().map(|name| name.as_str()).chain(node.fields()).find_map(given);
        let message = format!("the row breaks the check `{}`{}", check.that.value, values(resource, &node, entries));
        let span = place.map_or(item.span, |entry| entry.value.span);
        let problem = Diagnostic::new(Code::SeedRule, span, message, "breaks the check");
        problems.push(problem.related(check.that.span, "this check").help("change the row, or the check"));
    }
    for field in resource.fields.iter().filter(|field| accepts(field)) {
        for rule in &field.rules {
            let Rule::RequiredWhen(condition) = &rule.value else { continue };
            if !current(field.name.as_str()).is_ok_and(|value| is_blank(value.as_ref())) {
                continue;
            }
            let Some((_, true)) = holds(condition.as_str()) else { continue };
            let name = &field.name.value;
            let message = format!("the row has no `{name}`, which is required when `{}`", condition.value);
            let problem = Diagnostic::new(Code::SeedRule, item.span, message, format!("`{name}` is missing"));
            let help = format!("add `{name}` to the row, or change the values that the condition names");
            problems.push(problem.related(condition.span, "this condition holds").help(help));
        }
    }
}

/// The value that a row gives to a field when it is inserted: its own, a literal default, or null.
fn value(field: &Field, given: Option<&Entry>) -> Result<Option<Scalar>, Unknown> {
    let kind = field.kind.known().ok_or(Unknown)?;
    let text = match (given, &field.default) {
        (Some(entry), _) => entry.value.scalar().ok_or(Unknown)?.value,
        (None, Default::Literal(text)) => text.clone(),
        (None, Default::None) => String::new(),
        (None, _) => return Err(Unknown),
    };
    match text.is_empty() {
        true if field.nullable && field.value().is_none() => Ok(None),
        true => Err(Unknown),
        false => Scalar::read(kind, &text).map(Some).ok_or(Unknown),
    }
}

/// The defaults that a broken condition compares, which the row does not show: `, where `status` is `open` by default`.
fn values(resource: &Resource, node: &Node, entries: &[Entry]) -> String {
    let is_given = |name: &str| entries.iter().any(|entry| entry.key.value == name && !entry.value.is_null());
    let defaults = node.fields().into_iter().filter(|name| !is_given(name)).filter_map(|name| {
        let Default::Literal(text) = &resource.field(name)?.default else { return None };
        Some(format!("`{name}` is `{text}` by default"))
    });
    let defaults: Vec<String> = defaults.collect();
    if defaults.is_empty() { String::new() } else { format!(", where {}", defaults.join(" and ")) }
}
