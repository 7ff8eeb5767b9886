//! Consequences of an operation as sentences, such as "14 sessions and 3 tokens end".

use maud::{Markup, html};

use crate::language::{html_text, text, translate};
use crate::openapi::english;
use crate::panel::display_name;
use crate::panel::format::labels;
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
                @let is_one = of(effect).count() == 1 && of(effect).all(|one| one.count == Some(1) && !is_singleton(one));
                @let is_shared = |one: &Consequence| of(effect).filter(|other| are_same_records(one, other)).count() > 1;
                @let subjects = of(effect).enumerate().map(|(index, one)| subject(request, (entry, id), one, (index == 0, is_shared(one))));
                li { (html_text!("{subjects} {effect}.", subjects = listed(subjects.collect()), effect = in_words(effect, is_one, id.is_some()))) }
            } }
        }
    }
}

/// The effect after its subject. `{it}` stands for the records of the operation.
fn in_words(effect: Effect, is_one: bool, is_on_one_record: bool) -> String {
    let it = if is_on_one_record { text!("it") } else { text!("them") };
    translate(if is_one { effect.one } else { effect.many }).replace("{it}", &it)
}

/// `14 sessions, 3 tokens and 2 webhooks`
fn listed(mut subjects: Vec<Markup>) -> Markup {
    let last = subjects.pop().unwrap_or_default();
    if subjects.is_empty() {
        return last;
    }
    let others = html! { @for (index, subject) in subjects.iter().enumerate() { @if index > 0 { ", " } (subject) } };
    html_text!("{others} and {last}", others = others, last = last)
}

fn are_same_records(one: &Consequence, other: &Consequence) -> bool {
    matches!((one.subject, other.subject), (Subject::Records(one), Subject::Records(other)) if one.name == other.name)
}

fn is_singleton(consequence: &Consequence) -> bool {
    matches!(consequence.subject, Subject::Records(meta) if meta.singleton)
}

/// `14 sessions`, or `more than 1,000 sessions`. Two subjects of the same records get the labels of their references.
fn subject(
    request: &PanelRequest<'_>,
    (entry, id): (&Entry, Option<i64>),
    consequence: &Consequence,
    (is_first, is_shared): (bool, bool),
) -> Markup {
    let numbers = &request.locale.numbers;
    let noun = |count: i64| match consequence.subject {
        Subject::Records(meta) if count == 1 => labels::singular(meta),
        Subject::Records(meta) => labels::records(meta),
        Subject::Named(one, many) => translate(if count == 1 { one } else { many }),
    };
    let text = match consequence.count {
        _ if is_singleton(consequence) => text!("the {records}", records = noun(2)),
        Some(count) if count > MAX_COUNTED => {
            text!("more than {count} {records}", count = numbers.count(MAX_COUNTED), records = noun(count))
        }
        Some(count) => format!("{} {}", numbers.count(count), noun(count)),
        None => text!("{records} that you may not see", records = noun(0)),
    };
    let text = match consequence.by.filter(|_| is_shared) {
        Some(by) => format!("{text} ({})", labels::field(by)),
        None => text,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Tables;

    fn subjects(texts: &[&str]) -> Markup {
        listed(texts.iter().map(|text| html! { b { (text) } }).collect())
    }

    #[tokio::test]
    async fn an_effect_is_a_sentence_in_the_language_of_the_reader() {
        assert_eq!(in_words(Effect::FORBIDS, false, true), "refer to it");
        assert_eq!(in_words(Effect::KEEPS_REFERENCE, true, false), "keeps the reference to them");
        assert_eq!(subjects(&["A", "B", "C"]).into_string(), "<b>A</b>, <b>B</b> and <b>C</b>");
        assert_eq!(subjects(&["A"]).into_string(), "<b>A</b>");
        let german = Tables::new(&[("de", "{}")]).expect("tables").find("de").expect("German");
        german
            .scope(async {
                assert_eq!(in_words(Effect::FORBIDS, false, true), "verweisen darauf");
                assert_eq!(in_words(Effect::KEEPS_REFERENCE, true, false), "behält den Verweis darauf");
                assert_eq!(subjects(&["A", "B"]).into_string(), "<b>A</b> und <b>B</b>");
            })
            .await;
    }
}
