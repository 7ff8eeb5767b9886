//! Consequences of an operation as sentences, such as "14 sessions and 3 tokens end".

use maud::{Markup, html};

use crate::openapi::english;
use crate::panel::display_name;
use crate::panel::request::PanelRequest;
use charter_core::catalog::Entry;
use charter_core::meta::Kind;
use charter_core::ops::consequences::{Consequence, Effect, MAX_COUNTED, Subject};
use charter_core::query::{Predicate, allows};

/// Returns true if a consequence forbids the operation.
pub(in crate::panel) fn forbids(consequences: &[Consequence]) -> bool {
    consequences.iter().any(|consequence| consequence.effect.forbids)
}

/// A sentence for each effect. The subjects link to their list if the operation is on the one record `id` of `entry`.
pub(in crate::panel) fn render(
    request: &PanelRequest<'_>,
    (entry, id): (&Entry, Option<i64>),
    consequences: &[Consequence],
) -> Markup {
    // A forbidden operation has no other effects.
    let is_shown = |consequence: &&Consequence| consequence.effect.forbids || !forbids(consequences);
    let mut effects: Vec<Effect> = Vec::new();
    for consequence in consequences.iter().filter(is_shown) {
        if !effects.contains(&consequence.effect) {
            effects.push(consequence.effect);
        }
    }
    let of = |effect: Effect| consequences.iter().filter(move |consequence| consequence.effect == effect);
    html! {
        @if !effects.is_empty() {
            ul .consequences { @for effect in effects {
                @let count = of(effect).count();
                li {
                    @for (index, consequence) in of(effect).enumerate() {
                        @if index > 0 { @if index + 1 == count { " and " } @else { ", " } }
                        (subject(request, (entry, id), consequence, index == 0))
                    }
                    @let is_one = count == 1 && of(effect).all(|one| one.count == Some(1) && !is_singleton(one));
                    " " (if is_one { effect.one } else { effect.many }.replace("{it}", if id.is_some() { "it" } else { "them" })) "."
                }
            } }
        }
    }
}

fn is_singleton(consequence: &Consequence) -> bool {
    matches!(consequence.subject, Subject::Records(meta) if meta.singleton)
}

/// `14 sessions`, or `more than 1,000 sessions`.
fn subject(
    request: &PanelRequest<'_>,
    (entry, id): (&Entry, Option<i64>),
    consequence: &Consequence,
    is_first: bool,
) -> Markup {
    let numbers = &request.locale.numbers;
    let noun = |count: i64| match consequence.subject {
        Subject::Records(meta) if count == 1 => english::noun(meta),
        Subject::Records(meta) => english::records(meta),
        Subject::Named(one, many) => if count == 1 { one } else { many }.to_string(),
    };
    let text = match consequence.count {
        _ if is_singleton(consequence) => format!("the {}", noun(2)),
        Some(count) if count > MAX_COUNTED => format!("more than {} {}", numbers.count(MAX_COUNTED), noun(count)),
        Some(count) => format!("{} {}", numbers.count(count), noun(count)),
        None => format!("{} that you may not see", noun(0)),
    };
    let text = if is_first { english::capitalize(&text) } else { text };
    let list = id.filter(|_| consequence.count.is_some()).and_then(|id| list_of(request, entry, id, consequence));
    html! { strong { @match list { Some(list) => { a href=(list) { (text) } }, None => { (text) } } } }
}

/// The list of the records that refer to a record.
fn list_of(request: &PanelRequest<'_>, entry: &Entry, id: i64, consequence: &Consequence) -> Option<String> {
    let (Subject::Records(meta), Some(field)) = (consequence.subject, consequence.by) else { return None };
    if let Some(under) = meta.under.filter(|under| under.resource == entry.meta.name && under.field == field.name) {
        return Some(format!("/{}/{id}/{}", request.state.catalog.linked(under.resource).meta.path, meta.path));
    }
    let listed = request.state.catalog.linked(meta.name);
    if !display_name::is_listable(request, listed) || !allows(field, Predicate::Eq, field.kind) {
        return None;
    }
    let of_type = match field.kind {
        Kind::PolymorphicRef { type_field } => format!("q[{type_field}_eq]={}&", entry.meta.type_name),
        _ => String::new(),
    };
    Some(format!("/{}?{of_type}q[{}_eq]={id}", meta.path, field.name))
}
