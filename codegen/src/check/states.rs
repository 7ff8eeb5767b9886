//! Checks of `states` and of the rules of actions: the field of the state, the states of each transition, conditions, and the
//! values that are set.

use charter_model::expression::{self, Node, Scalar};
use charter_model::{ActionMethod, ActionOn, FieldOption, Misfit, reserved};

use super::access::well_formed;
use super::fields::conditions::{Names, NoRequest, condition};
use super::fields::defaults::{own_rules, refers_to_user, unique_value};
use super::fields::settable;
use super::queries::{named, report_repeated};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{
    Access, Action, ActionOutput, ActionRule, Default, Field, Kind, Name, Resource, Schema, SetValue, StateChange, Type,
};
use crate::source::Spanned;

pub fn check(schema: &Schema, resource: &Resource, problems: &mut Problems) {
    let state = resource.state_field.as_ref().and_then(|name| {
        let field = named(resource, name, "`states`", problems)?;
        state_field(field, name, problems).then_some(field)
    });
    for (action, rule) in resource.ruled_actions() {
        match (&rule.change, state) {
            (Some(change), Some(field)) => {
                states(field, action, (change, rule), problems);
                frozen(resource, field, action, change, problems);
            }
            (Some(_), None) => {}
            (None, _) => fits_action(action, rule, problems),
        }
        if let Some(guard) = &rule.guard
            && let Some(node) = condition(guard, &Names::of_record(resource), problems)
        {
            readable(resource, rule, guard, &node, problems);
        }
        if let Some(permission) = &rule.permission {
            well_formed(permission, problems);
        }
        for (name, value) in &rule.set {
            set((schema, resource), name, value, problems);
        }
    }
}

/// Reports fields that not everybody who may run an action can read: whether it is allowed would tell of them.
fn readable(resource: &Resource, rule: &ActionRule, guard: &Name, node: &Node, problems: &mut Problems) {
    let permission = rule.permission.as_ref().map(|name| &name.value);
    for field in node.fields().into_iter().filter_map(|name| resource.field(name)) {
        let name = &field.name.value;
        let (message, help) = match field.described.get(FieldOption::Read) {
            _ if field.access == Access::Secret => (
                format!("`{name}` is secret, and a refusal would tell of it"),
                "use fields that clients can read".into(),
            ),
            Some(right) if permission != Some(&right.value) => (
                format!("reading `{name}` needs `{}`, and a refusal would tell of it", right.value),
                format!("add `permission: {}` to the action", right.value),
            ),
            _ => continue,
        };
        problems.push(Diagnostic::new(Code::BadCondition, guard.span, message, "cannot be used").help(help));
    }
}

/// Reports parts of a rule that its action cannot have: a condition and values are those of a record.
fn fits_action(action: &Action, rule: &ActionRule, problems: &mut Problems) {
    let name = &action.name.value;
    let mut refuse = |span, message: String, help: &str| {
        problems.push(Diagnostic::new(Code::ActionRule, span, message, "not with this action").help(help));
    };
    let set = rule.set.first().map(|(name, _)| name.span);
    if action.on == ActionOn::Collection {
        let help = "use `on: record`, or check it in the code of the action";
        for span in rule.guard.iter().map(|guard| guard.span).chain(set) {
            refuse(span, format!("`{name}` is on the collection, and runs on no record"), help);
        }
    } else if let Some(span) = set {
        if action.method == ActionMethod::Get {
            refuse(span, format!("`{name}` is a `get`, which changes nothing"), "remove `method: get`, or `set`");
        } else if let Some(input) = action.input.first() {
            let message = format!("`{name}` sets fields, so that nothing uses its parameter `{}`", input.name.value);
            refuse(input.name.span, message, "remove `input`, or remove `set` and write the action in Rust");
        } else if !matches!(action.output, ActionOutput::Record | ActionOutput::Unknown) {
            let help = "remove `output`, or remove `set` and write the action in Rust";
            refuse(span, format!("`{name}` sets fields of its record, and returns the record"), help);
        }
    }
    if let (Some(message), None) = (&rule.message, &rule.guard) {
        refuse(
            message.span,
            format!("`{name}` has no `if` whose message this could be"),
            "add `if`, or remove `message`",
        );
    }
}

/// Warns of states that no record reaches.
pub fn unreachable(resource: &Resource, problems: &mut Problems) {
    let field = resource.state_field.as_ref().and_then(|name| resource.field(name.as_str()));
    let Some((field, words)) = field.and_then(|field| Some((field, field.kind.words()?))) else { return };
    let Default::Literal(initial) = &field.default else { return };
    // A state that can only be reached from an unreachable state is unreachable too.
    let mut reached = vec![initial.as_str()];
    while let Some((_, next)) = resource.transitions().find(|(_, transition)| {
        let can_run = transition.from.iter().any(|state| reached.contains(&state.as_str()));
        can_run && !reached.contains(&transition.to.as_str())
    }) {
        reached.push(next.to.as_str());
    }
    for word in words.iter().filter(|word| !reached.contains(&word.as_str())) {
        let message = format!("no transition leads from `{initial}` to the state `{}`", word.value);
        let problem = Diagnostic::new(Code::UnreachableState, word.span, message, "never reached");
        problems.push(problem.help("add a transition, or remove the state"));
    }
}

/// The state is an enum with a default, which is the state of a new record. Returns true if it is one.
fn state_field(field: &Field, name: &Name, problems: &mut Problems) -> bool {
    let (message, help) = match &field.kind {
        Kind::Unknown => return false,
        Kind::Known(Type::Enum { .. }) if field.nullable => {
            (format!("`{}` can be null, which is no state", name.value), "remove `nullable: true`, and add a `default`")
        }
        Kind::Known(Type::Enum { .. }) if !matches!(field.default, Default::Literal(_)) => (
            format!("`{}` has no default, so the state of a new record is unknown", name.value),
            "add the first state as its `default`",
        ),
        Kind::Known(Type::Enum { .. }) if field.access != Access::Immutable => (
            format!("`{}` has an `access`, but transitions alone change a state", name.value),
            "remove `access` from the field",
        ),
        Kind::Known(Type::Enum { .. }) if field.described.get(FieldOption::Read).is_some() => (
            format!("`{}` has a right to be read, but the answers of transitions tell the state", name.value),
            "remove `read` from the field",
        ),
        Kind::Known(Type::Enum { .. }) => return true,
        kind => (
            format!("`{}` is {}, and a state is an `enum`", name.value, kind.described()),
            "declare it: `{ type: enum, values: [open, closed], default: open }`",
        ),
    };
    problems.push(Diagnostic::new(Code::StateField, name.span, message, "not a state").help(help));
    false
}

/// The states exist, and the transition leads from one to another.
fn states(field: &Field, action: &Action, (transition, rule): (&StateChange, &ActionRule), problems: &mut Problems) {
    let name = action.name.as_str();
    if transition.from.is_empty() {
        let message = format!("`{name}` has no state to start from");
        let problem = Diagnostic::new(Code::IdleTransition, action.name.span, message, "never runs");
        problems.push(problem.help("list the states: `from: [open]`"));
    }
    report_repeated(&transition.from, problems);
    for state in transition.from.iter().chain([&transition.to]) {
        let words = field.kind.words().unwrap_or_default();
        if !words.iter().any(|word| word.value == state.value) {
            let message = format!("`{}` is not a state of `{}`", state.value, field.name.value);
            let problem = Diagnostic::new(Code::UnknownState, state.span, message, "unknown state");
            problems.push(problem.did_you_mean(state.as_str(), words.iter().map(Name::as_str)));
        }
    }
    let same = transition.from.iter().find(|state| state.value == transition.to.value);
    if let Some(same) = same.filter(|_| rule.set.is_empty()) {
        let message = format!("`{name}` leads from `{0}` to `{0}` and sets nothing", same.value);
        let problem = Diagnostic::new(Code::IdleTransition, same.span, message, "without effect");
        problems.push(problem.help("remove the state from `from`, or add `set`"));
    }
}

/// Reports the states of a transition in which each record is frozen.
fn frozen(resource: &Resource, field: &Field, action: &Action, change: &StateChange, problems: &mut Problems) {
    let Some(condition) = &resource.frozen else { return };
    // With other fields or the caller, some records of the state may be free.
    let Ok(node) = expression::check(condition.as_str(), &Names::without_request(resource)) else { return };
    for state in &change.from {
        let current = |other: &expression::Field| match other.name == field.name.value {
            true => Ok(Some(Scalar::Text(state.value.clone()))),
            false => Err(()),
        };
        if expression::holds(&node, &NoRequest, &current) == Ok(Some(true)) {
            let (name, state, span) = (&action.name.value, &state.value, state.span);
            let message = format!("`{name}` starts from `{state}`, in which each record is frozen");
            let problem = Diagnostic::new(Code::IdleTransition, span, message, "never runs");
            let help = format!("remove `{state}` from `from`, or free it in `frozen`, such as for `caller.can(…)`");
            problems.push(problem.related(condition.span, "frozen here").help(help));
        }
    }
}

/// Another field of the record, and a value that fits it.
fn set((schema, resource): (&Schema, &Resource), name: &Name, value: &Spanned<SetValue>, problems: &mut Problems) {
    let Some(field) = named(resource, name, "`set`", problems) else { return };
    let refused = if resource.state_field.as_ref().is_some_and(|state| state.value == name.value) {
        let message = format!("`{}` is the state, which only transitions change", name.value);
        Some((message, "remove it from `set`; a transition of `states` sets it with `to`"))
    } else if reserved::SERVER_FIELDS.contains(&name.as_str()) {
        Some((format!("the server sets `{}`", name.value), "remove it from `set`"))
    } else if field.value().is_some() {
        Some((format!("`{}` is computed, and `value` alone sets it", name.value), "set the fields that `value` names"))
    } else if field.rollup.is_some() {
        Some((format!("`{}` is a rollup, which the records that it counts change", name.value), "remove it from `set`"))
    } else if !field.is_column() || field.access == Access::Secret {
        Some((format!("`{}` has no value of its own that an action can set", name.value), "name another field"))
    } else {
        None
    };
    if let Some((message, help)) = refused {
        problems.push(Diagnostic::new(Code::TransitionSet, name.span, message, "cannot be set").help(help));
        return;
    }
    if let SetValue::Expression(text) = &value.value {
        let text = Spanned::new(text.clone(), value.span);
        let node = settable::check((schema, resource), field, &text, Code::TransitionSet, problems);
        if node.is_some_and(|node| settable::is_null((schema, resource), field, &node)) {
            let message = format!("the value of `{}` can be null", name.value);
            let problem = Diagnostic::new(Code::TransitionSet, value.span, message, "can be null");
            problems.push(problem.help("add `nullable: true` to the field, or replace null with `coalesce`"));
        }
    } else if let Err(Misfit { reason, help }) = fits(field, &value.value) {
        let message = format!("the value does not fit `{}`: {reason}", name.value);
        let label = format!("not {}", field.kind.described());
        problems.push(Diagnostic::new(Code::TransitionSet, value.span, message, label).help(help));
    } else if let SetValue::Literal(text) = &value.value {
        own_rules(field, "value", text, value.span, problems);
        unique_value(field, "set", value.span, problems);
    }
}

fn fits(field: &Field, value: &SetValue) -> Result<(), Misfit> {
    let kind = &field.kind;
    match value {
        _ if kind.is_unknown() => Ok(()),
        SetValue::Null if !field.nullable => {
            Err(Misfit::new("it cannot be null", "add `nullable: true` to the field, or write a value"))
        }
        SetValue::Literal(text) if refers_to_user(kind) && matches!(text.as_str(), "caller" | "caller_id") => {
            Err(Misfit::new(format!("`{text}` is not an id"), "write `caller.id`"))
        }
        SetValue::Literal(text) => kind.literal("set", text),
        SetValue::Now if !matches!(kind, Kind::Known(Type::Timestamp { .. })) => {
            Err(Misfit::new("`now` is a point in time", word_help(kind, "now")))
        }
        SetValue::Today if !matches!(kind, Kind::Known(Type::Date)) => {
            Err(Misfit::new("`today` is a date", word_help(kind, "today")))
        }
        SetValue::Caller if !refers_to_user(kind) => {
            Err(Misfit::new("`caller.id` is a user", word_help(kind, "caller.id")))
        }
        SetValue::Unreadable => {
            Err(Misfit::new("it is a list or a mapping", "write a single value, or an expression as `{ value: … }`"))
        }
        SetValue::Null | SetValue::Now | SetValue::Today | SetValue::Caller | SetValue::Expression(_) => Ok(()),
    }
}

fn word_help(kind: &Kind, word: &str) -> String {
    match kind {
        kind if kind.is_text() || kind.words().is_some() => format!("put text in quotes: `\"{word}\"`"),
        Kind::Known(Type::Date) => "write `today`".to_owned(),
        Kind::Known(Type::Timestamp { .. }) => "write `now`".to_owned(),
        _ if word == "caller.id" => "only a `ref(user)` takes it".to_owned(),
        _ => "only a `timestamp` takes `now`, and a `date` takes `today`".to_owned(),
    }
}
