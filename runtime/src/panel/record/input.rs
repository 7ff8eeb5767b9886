//! Inputs that fit the kind of a value: in forms, and in a list's conditions.

use maud::{Markup, html};
use serde_json::Value;

use super::choice::{self, Choice};
use super::columns::Column;
use super::row::Row;
use super::title::{self, Titles};
use super::visit::Visit;
use super::was::{self, Way};
use super::{words, zone};
use crate::catalog::Entry;
use crate::meta::{FieldMeta, Kind, Rule, Widget};
use crate::query::{Predicate, Reads};

/// The word for an input that the script knows.
pub fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Date => "date",
        Kind::Timestamp { .. } => "datetime-local",
        Kind::Integer | Kind::BigInt | Kind::Decimal { .. } => "number",
        Kind::Ref { .. } | Kind::PolymorphicRef { .. } => "reference",
        _ => "text",
    }
}

/// Where the titles of what a field refers to are searched.
pub fn places(visit: &Visit<'_>, field: Option<&'static FieldMeta>) -> Option<String> {
    match field?.kind {
        Kind::Ref { resource } | Kind::RefList { resource } => {
            let target = visit.state.catalog.linked(resource);
            title::is_reached(visit, target).then(|| format!("/panel/titles/{}", target.meta.plural))
        }
        _ => None,
    }
}

/// The same for a reference to one of several types, as JSON by their names.
fn titles_by_type(visit: &Visit<'_>) -> String {
    let reached = visit.state.catalog.entries().iter().filter(|entry| title::is_reached(visit, entry));
    let place =
        |entry: &Entry| (entry.meta.type_name.to_string(), format!("/panel/titles/{}", entry.meta.plural).into());
    Value::Object(reached.map(place).collect()).to_string()
}

/// The value of a condition.
pub fn condition(
    visit: &Visit<'_>,
    name: &str,
    column: Option<&Column>,
    row: &Row,
    label: &str,
    titles: &Titles,
) -> Markup {
    let reads = Predicate::from_name(&row.predicate).map(Predicate::reads);
    let kind = column.map_or(Kind::Text, |column| column.kind);
    let choices = column.and_then(|column| choice::of_column(&visit.state.catalog, column));
    let search = places(visit, column.and_then(|column| column.field));
    let target = match kind {
        Kind::Ref { resource } | Kind::RefList { resource } => Some(resource),
        _ => None,
    };
    match (reads, choices) {
        (Some(Reads::Switch), _) => html! { input type="hidden" name=(name) value=(row.value); },
        (Some(Reads::Value), Some(choices)) => select(name, None, &choices, &row.value, true, label),
        (Some(Reads::Value), None) => {
            let (kind, shown) = match word(kind) {
                "datetime-local" => match zone::local(visit.locale.zone, &row.value) {
                    None if !row.value.trim().is_empty() => ("text", None),
                    local => ("datetime-local", local),
                },
                "date" => ("date", None),
                _ => ("text", None),
            };
            let title = target.zip(row.value.trim().parse().ok()).and_then(|(target, id)| titles.get(target, id));
            let digits = column.is_some_and(|column| word(column.kind) == "number").then_some("decimal");
            html! { input type=(kind) inputmode=[digits] name=(name) value=(shown.as_ref().unwrap_or(&row.value)) aria-label=(label) step=[(kind == "datetime-local").then_some("1")] data-titles=[search] data-title=[title] autocomplete="off"; }
        }
        (Some(Reads::List), Some(choices)) => boxes(name, &choices, &row.value, label),
        (Some(Reads::List), None) if search.is_some() && target.is_some() => {
            let title = |id: &str| target.zip(id.parse().ok()).and_then(|(target, id)| titles.get(target, id));
            html! {
                div .several data-several role="group" aria-label=(label) {
                    @for id in elements(&row.value) { (boxed(name, id, title(id).unwrap_or(id), true)) }
                    span .reference data-reference {
                        input type="text" name=(name) aria-label=(label) data-titles=[search] autocomplete="off" placeholder="Add another";
                    }
                }
            }
        }
        _ => html! { input type="text" name=(name) value=(row.value) aria-label=(label) autocomplete="off"; },
    }
}

/// What commas keep apart.
fn elements(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|text| !text.is_empty())
}

/// A box for each choice: first what is chosen, as it is written and in its order, so that what is not touched stays as it
/// is. A choice with a comma in it cannot be asked for among others.
fn boxes(name: &str, choices: &[Choice], value: &str, label: &str) -> Markup {
    let chosen: Vec<&str> = elements(value).collect();
    let called =
        |one: &str| choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(one)).map(|(_, said)| said.as_str());
    let is_left = |word: &str| !word.contains(',') && !chosen.iter().any(|one| one.eq_ignore_ascii_case(word));
    html! {
        div .boxes role="group" aria-label=(label) {
            @for one in &chosen { (boxed(name, one, called(one).unwrap_or(one), true)) }
            @for (word, said) in choices.iter().filter(|(word, _)| is_left(word)) { (boxed(name, word, said, false)) }
        }
    }
}

fn boxed(name: &str, value: &str, label: &str, checked: bool) -> Markup {
    html! { label .box { input type="checkbox" name=(name) value=(value) checked[checked]; " " (label) } }
}

/// A choice of one.
pub fn select(name: &str, id: Option<&str>, choices: &[Choice], value: &str, blank: bool, label: &str) -> Markup {
    let known = choices.iter().any(|(known, _)| known.eq_ignore_ascii_case(value));
    html! {
        select name=(name) id=[id] aria-label=[id.is_none().then_some(label)] {
            @if blank || !known { option value="" selected[value.is_empty()] { "–" } }
            @if !known && !value.is_empty() { option value=(value) selected { (value) } }
            @for (word, said) in choices { option value=(word) selected[word.eq_ignore_ascii_case(value)] { (said) } }
        }
    }
}

/// What a field of a form is given beside its value.
pub struct Given<'g> {
    pub id: String,
    pub name: String,
    pub required: bool,
    /// Whether it may be nothing once it is something.
    pub clearable: bool,
    /// The value as the API or the form had it.
    pub value: &'g Value,
    pub choices: Option<Vec<Choice>>,
    /// The ids of what describes it.
    pub described: Option<String>,
    pub invalid: bool,
    pub titles: &'g Titles,
    pub search: Option<String>,
    /// What the record is called that a reference to one of several types leads to.
    pub shown: Option<String>,
    pub widget: Option<Widget>,
}

impl Given<'_> {
    /// Whether it is a choice whose words are all seen at once.
    pub fn is_radio(&self) -> bool {
        self.widget == Some(Widget::Radio) && self.choices.is_some()
    }

    /// Whether it is a box, which says yes or no: what may be neither is a choice of three.
    pub fn is_box(&self, kind: Kind) -> bool {
        kind == Kind::Boolean && !self.clearable
    }
}

/// The input of a form for a value of this kind.
pub fn of(visit: &Visit<'_>, kind: Kind, rules: &[Rule], given: &Given<'_>) -> Markup {
    let text = text(given.value);
    let (id, name, described) = (&given.id, &given.name, &given.described);
    let invalid = given.invalid.then_some("true");
    let required = given.required.then_some("true");
    let (mono, tall) = (given.widget == Some(Widget::Monospace), given.widget == Some(Widget::Textarea));
    match (kind, &given.choices) {
        (_, Some(choices)) if given.is_radio() => radio(given, choices, &text),
        (Kind::Boolean, _) if given.is_box(kind) => html! {
            input type="hidden" name=(name) value="false";
            input type="checkbox" id=(id) name=(name) value="true" checked[text == "true"] aria-describedby=[described];
        },
        (Kind::StringList { .. }, Some(choices)) => matrix(given, choices),
        (Kind::StringList { .. }, None) => html! {
            (was::kept(Way::List, &format!("{name}[lines]"), given.value))
            textarea id=(id) name={ (name) "[lines]" } rows="3" aria-describedby=[described] aria-invalid=[invalid] { "\n" (lines(given.value)) }
        },
        (Kind::RefList { resource }, _) => several(visit, resource, given),
        (_, Some(choices)) => {
            html! {
                select id=(id) name=(name) aria-describedby=[described] aria-invalid=[invalid] aria-required=[required] {
                    @if given.clearable || text.is_empty() { option value="" selected[text.is_empty()] { "–" } }
                    // What is stored and no longer declared is not changed by the way.
                    @if !text.is_empty() && !choices.iter().any(|(word, _)| word.eq_ignore_ascii_case(&text)) { option value=(text) selected { (text) } }
                    @for (word, said) in choices { option value=(word) selected[word.eq_ignore_ascii_case(&text)] { (said) } }
                }
            }
        }
        (Kind::Ref { resource }, _) => {
            let shown =
                given.value.as_i64().or_else(|| text.parse().ok()).and_then(|id| given.titles.get(resource, id));
            html! {
                span .reference data-reference {
                    input type="text" id=(id) name=(name) value=(text) inputmode="numeric" autocomplete="off"
                        data-titles=[&given.search] data-title=[shown] aria-describedby=[described] aria-invalid=[invalid] aria-required=[required];
                }
            }
        }
        (Kind::PolymorphicRef { type_field }, _) => html! {
            span .reference data-reference {
                input type="text" id=(id) name=(name) value=(text) inputmode="numeric" autocomplete="off"
                    data-titles=(titles_by_type(visit)) data-titles-of=(type_field) data-title=[given.shown.as_ref()]
                    aria-describedby=[described] aria-invalid=[invalid] aria-required=[required];
            }
        },
        (Kind::String { max }, _) if tall => html! {
            (was::kept(Way::Area, name, given.value))
            textarea id=(id) name=(name) rows="3" maxlength=(max) aria-describedby=[described] aria-invalid=[invalid] aria-required=[required] { "\n" (text) }
        },
        (Kind::Text, _) => html! {
            (was::kept(Way::Area, name, given.value))
            textarea .code[mono] id=(id) name=(name) rows="4" aria-describedby=[described] aria-invalid=[invalid] aria-required=[required] { "\n" (text) }
        },
        (Kind::Json, _) => html! {
            textarea .code id=(id) name={ (name) "[json]" } rows="6" spellcheck="false" aria-describedby=[described] aria-invalid=[invalid] { "\n" (pretty(given.value)) }
        },
        (Kind::Timestamp { .. }, _) => {
            // What a browser's input for times cannot hold it would send back as nothing: that stands there as the API writes it.
            let local = zone::local(visit.locale.zone, &text);
            let input = if local.is_some() || text.is_empty() { "datetime-local" } else { "text" };
            html! { (was::kept(Way::Time, name, given.value)) input type=(input) step=[(input != "text").then_some("any")] id=(id) name=(name) value=(local.as_ref().unwrap_or(&text)) aria-describedby=[described] aria-invalid=[invalid] aria-required=[required]; }
        }
        (Kind::Date, _) => {
            html! { input type="date" id=(id) name=(name) value=(text) aria-describedby=[described] aria-invalid=[invalid] aria-required=[required]; }
        }
        (kind, _) => {
            let (input, mode) = match kind {
                Kind::Integer | Kind::BigInt | Kind::PolymorphicRef { .. } => ("text", Some("numeric")),
                Kind::Decimal { .. } => ("text", Some("decimal")),
                _ if rules.contains(&Rule::Email) => ("email", None),
                _ if rules.contains(&Rule::Url) => ("url", None),
                _ => ("text", None),
            };
            let most = if let Kind::String { max } = kind { Some(max) } else { None };
            let way = if matches!(input, "email" | "url") { Way::Bare } else { Way::Line };
            let input = html! {
                (was::kept(way, name, given.value))
                input .code[mono] type=(input) id=(id) name=(name) value=(text) inputmode=[mode] maxlength=[most] autocomplete="off"
                    aria-describedby=[described] aria-invalid=[invalid] aria-required=[required];
            };
            match given.widget {
                Some(Widget::Money) => visit.locale.amounts.beside(input),
                _ => input,
            }
        }
    }
}

/// All choices at once, of which one is chosen: what is stored and no longer declared is one of them too.
fn radio(given: &Given<'_>, choices: &[Choice], value: &str) -> Markup {
    let none: Choice = (String::new(), "None".into());
    let stored: Choice = (value.into(), value.into());
    let known = choices.iter().any(|(word, _)| word.eq_ignore_ascii_case(value));
    let none = Some(&none).filter(|_| given.clearable || value.is_empty());
    let stored = Some(&stored).filter(|_| !known && !value.is_empty());
    html! {
        div .choices {
            @for (word, said) in choices.iter().chain(stored).chain(none) {
                label .box {
                    input type="radio" name=(given.name) value=(word) checked[word.eq_ignore_ascii_case(value)];
                    " " (said)
                }
            }
        }
    }
}

/// A box for each choice, in groups by what stands before the colon or the point.
fn matrix(given: &Given<'_>, choices: &[Choice]) -> Markup {
    let held: Vec<&str> = given.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let group = |word: &str| word.split([':', '.']).next().unwrap_or_default().to_string();
    let mut groups: Vec<(String, Vec<&Choice>)> = Vec::new();
    let unknown: Vec<Choice> = held
        .iter()
        .filter(|word| !choices.iter().any(|(known, _)| known == *word))
        .map(|word| ((*word).to_string(), (*word).to_string()))
        .collect();
    for choice in choices.iter().chain(&unknown) {
        let of = group(&choice.0);
        match groups.iter_mut().find(|(name, _)| *name == of) {
            Some((_, list)) => list.push(choice),
            None => groups.push((of, vec![choice])),
        }
    }
    let short =
        |word: &str| word.split_once([':', '.']).map_or_else(|| word.to_string(), |(_, rest)| words::label(rest));
    html! {
        (was::kept(Way::Boxes, &format!("{}[]", given.name), given.value))
        input type="hidden" name={ (given.name) "[]" } value="";
        table .matrix id=(given.id) tabindex="-1" aria-describedby=[&given.described] {
            tbody {
                @for (name, list) in &groups {
                    tr {
                        th scope="row" { @if name == "*" { "Everything" } @else { (words::label(name)) } }
                        td {
                            @for (word, _) in list {
                                label .box {
                                    input type="checkbox" name={ (given.name) "[]" } value=(word) checked[held.contains(&word.as_str())];
                                    " " @if word == "*" { "All" } @else { (short(word)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A list of records: each by a box that can be cleared, and one input for the next.
fn several(visit: &Visit<'_>, resource: &'static str, given: &Given<'_>) -> Markup {
    let target = visit.state.catalog.linked(resource);
    let ids =
        given.value.as_array().into_iter().flatten().filter_map(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()));
    // What is no id was refused: it stands where it was typed.
    let typed = |value: &Value| Some(value.as_str()?.to_string()).filter(|text| text.parse::<i64>().is_err());
    let text = given.value.as_array().into_iter().flatten().filter_map(typed).next_back().unwrap_or_default();
    let name = format!("{}[]", given.name);
    html! {
        input type="hidden" name=(name) value="";
        div .several data-several {
            @for id in ids {
                @let title = given.titles.get(resource, id).map_or_else(|| format!("{} {id}", target.meta.label), String::from);
                (boxed(&name, &id.to_string(), &title, true))
            }
            span .reference data-reference {
                input type="text" id=(given.id) name=(name) value=(text) aria-invalid=[given.invalid.then_some("true")] inputmode="numeric" autocomplete="off"
                    data-titles=[&given.search] aria-describedby=[&given.described] placeholder={ "Add " (words::singular(target.meta)) };
            }
        }
    }
}

/// A value as the text of an input.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A list as an input with a line for each element holds it.
pub fn lines(value: &Value) -> String {
    match value {
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join("\n"),
        other => text(other),
    }
}

fn pretty(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
