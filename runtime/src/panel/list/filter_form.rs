//! Filter form of a list, and its conditions in words.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::columns::Column;
use super::filter_row::{FilterRow, LOGIC_WORDS};
use super::params::ListParams;
use crate::language::text;
use crate::panel::display_name::DisplayNames;
use crate::panel::format::{labels, relative};
use crate::panel::record::{choices, input};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use charter_core::catalog::Catalog;
use charter_core::meta::Kind;
use charter_core::query::{Pair, Predicate, Reads, read_boolean};

/// The words for a predicate, between the label of a field and a value of this kind.
pub(crate) fn predicate_label(predicate: Predicate, kind: Kind) -> String {
    let time = kind.facts().is_temporal;
    match predicate {
        Predicate::Eq => text!("is"),
        Predicate::NotEq => text!("is not"),
        Predicate::Lt if time => text!("is before"),
        Predicate::Lteq if time => text!("is not after"),
        Predicate::Gt if time => text!("is after"),
        Predicate::Gteq if time => text!("is not before"),
        Predicate::Lt => text!("is less than"),
        Predicate::Lteq => text!("is at most"),
        Predicate::Gt => text!("is more than"),
        Predicate::Gteq => text!("is at least"),
        Predicate::Cont => text!("contains"),
        Predicate::NotCont => text!("does not contain"),
        Predicate::ContAny => text!("contains one of"),
        Predicate::Start => text!("begins with"),
        Predicate::NotStart => text!("does not begin with"),
        Predicate::End => text!("ends with"),
        Predicate::NotEnd => text!("does not end with"),
        Predicate::Null => text!("is not set"),
        Predicate::NotNull => text!("is set"),
        Predicate::Present => text!("is filled in"),
        Predicate::Blank => text!("is blank"),
        Predicate::In => text!("is one of"),
        Predicate::NotIn => text!("is none of"),
        Predicate::True => text!("is yes"),
        Predicate::False => text!("is no"),
    }
}

fn logic_label(logic: &str, is_first: bool) -> String {
    match (logic, is_first) {
        ("nand" | "nor", true) => text!("not where"),
        (_, true) => text!("where"),
        ("or", _) => text!("or"),
        ("nand", _) => text!("and not"),
        ("nor", _) => text!("or not"),
        _ => text!("and"),
    }
}

/// Conditions in words: `Name contains “lamp”`, `or Weight is less than “3”`.
pub(crate) fn describe_all(
    request: &PanelRequest<'_>,
    rows: &[FilterRow],
    columns: &[Column],
    display_names: &DisplayNames,
) -> Vec<String> {
    let describe = |(index, row): (usize, &FilterRow)| {
        let condition = describe(request, row, columns, display_names);
        match (row.logic.as_str(), index == 0) {
            ("nand" | "nor", true) => text!("not where {condition}", condition = condition),
            (_, true) => condition,
            ("or", _) => text!("or {condition}", condition = condition),
            ("nand", _) => text!("and not {condition}", condition = condition),
            ("nor", _) => text!("or not {condition}", condition = condition),
            _ => text!("and {condition}", condition = condition),
        }
    };
    rows.iter().enumerate().map(describe).collect()
}

fn describe(request: &PanelRequest<'_>, row: &FilterRow, columns: &[Column], display_names: &DisplayNames) -> String {
    let column = columns.iter().find(|column| column.name == row.field);
    let label = column.map_or_else(|| labels::from_name(&row.field), |column| column.label.clone());
    let kind = column.map_or(Kind::Text, |column| column.kind);
    let Some(predicate) = Predicate::from_name(&row.predicate) else { return label };
    let words = predicate_label(predicate, kind);
    if predicate.is_switch() {
        let is_negated = read_boolean(&row.value) == Ok(false);
        return match is_negated {
            true => text!("{field}: not “{comparison}”", field = label, comparison = words),
            false => text!("{field} {comparison}", field = label, comparison = words),
        };
    }
    let value = choices::describe_value(request, column, row, display_names);
    text!("{field} {comparison} {value}", field = label, comparison = words, value = value)
}

/// The filter form of a list.
pub(crate) fn render(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    params: &ListParams,
    columns: &[Column],
    display_names: &DisplayNames,
) -> Markup {
    let rest = ListParams { rows: Vec::new(), incomplete: Vec::new(), page: None, ..params.clone() };
    // With a saved view `filters` and `q[...]` differ. The form remembers which conditions came from `filters`.
    let from_filters = params.rows.iter().filter(|row| row.is_from_filters).count();
    html! {
        form #filter-form method="get" action=(target.collection()) data-filter {
            input type="hidden" name="apply" value="1";
            (hidden_inputs(&rest.pairs()))
            @if from_filters > 0 && params.view_id.is_some() { input type="hidden" name="listed" value=(from_filters); }
            (inputs(request, &params.rows, &params.incomplete, columns, display_names))
            div .buttons {
                button .primary { (text!("Apply")) }
                button type="button" data-add-condition { (text!("Add condition")) }
                a .button href=(rest.page_url(target)) { (text!("Clear")) }
            }
        }
    }
}

/// The inputs of these conditions, of the incomplete ones and of a blank one, with the columns as JSON for the scripts.
pub(crate) fn inputs(
    request: &PanelRequest<'_>,
    rows: &[FilterRow],
    incomplete: &[FilterRow],
    columns: &[Column],
    display_names: &DisplayNames,
) -> Markup {
    let empty = String::new;
    let blank =
        FilterRow { logic: "and".into(), field: empty(), predicate: empty(), value: empty(), is_from_filters: false };
    html! {
        condition-list {
            ol .conditions {
                @for (index, row) in rows.iter().chain(incomplete).chain([&blank]).enumerate() { (condition_inputs(request, index, row, columns, display_names)) }
            }
        }
        script type="application/json" #filter-fields { (maud::PreEscaped(columns_json(request, columns))) }
    }
}

fn condition_inputs(
    request: &PanelRequest<'_>,
    index: usize,
    row: &FilterRow,
    columns: &[Column],
    display_names: &DisplayNames,
) -> Markup {
    let column = columns.iter().find(|column| column.name == row.field);
    let all: Vec<Predicate> = Predicate::names().filter_map(Predicate::from_name).collect();
    let predicates = column.map_or(&all, |column| &column.predicates);
    let kind = column.map_or(Kind::Text, |column| column.kind);
    let number = index + 1;
    let reads_value = Predicate::from_name(&row.predicate).is_some_and(|predicate| predicate.reads() == Reads::Value);
    let is_word = reads_value && column.is_some_and(|column| relative::label(column, &row.value).is_some());
    let without_word = FilterRow { value: String::new(), ..row.clone() };
    let exact = if is_word { &without_word } else { row };
    html! {
        li .condition data-condition {
            select name={ "f" (index) ".logic" } aria-label=(text!("Operator of condition {number}", number = number)) {
                @for logic in LOGIC_WORDS.iter().filter(|logic| index > 0 || matches!(**logic, "and" | "nand")) {
                    option value=(logic) selected[row.logic == **logic] { (logic_label(logic, index == 0)) }
                }
            }
            select name={ "f" (index) ".field" } aria-label=(text!("Field of condition {number}", number = number)) data-field {
                option value="" { (text!("Choose a field")) }
                @for column in columns.iter().filter(|column| !column.predicates.is_empty()) {
                    option value=(column.name) selected[column.name == row.field] { (column.label) }
                }
            }
            select name={ "f" (index) ".predicate" } aria-label=(text!("Comparison of condition {number}", number = number)) data-predicate {
                @for predicate in predicates {
                    option value=(predicate.name()) selected[predicate.name() == row.predicate] { (predicate_label(*predicate, kind)) }
                }
            }
            div .value data-value data-of=[column.map(|column| format!("{} {}", column.name, reads_of(row)))] {
                (input::condition_value(request, &format!("f{index}.value"), column, exact, &text!("Value of condition {number}", number = number), display_names))
                @if let (Some(column), true) = (column, reads_value) { (word_select(index, column, &row.value)) }
            }
            button type="button" .quiet data-remove aria-label=(text!("Remove condition {number}", number = number)) { "×" }
            @if let Some(missing) = missing(row) { p .error { (missing) } }
        }
    }
}

/// The relative values of a column, such as "today", instead of an exact value.
fn word_select(index: usize, column: &Column, value: &str) -> Markup {
    let mut words = relative::choices(column);
    if words.is_empty() {
        return Markup::default();
    }
    let is_known = words.iter().any(|(word, _)| word.eq_ignore_ascii_case(value));
    if let Some(label) = relative::label(column, value).filter(|_| !is_known) {
        words.push((value.to_string(), label));
    }
    html! {
        select name={ "f" (index) ".word" } aria-label=(text!("Relative value of condition {number}", number = index + 1)) data-word {
            option value="" { (text!("Exact value")) }
            @for (word, label) in &words { option value=(word) selected[word.eq_ignore_ascii_case(value)] { (label) } }
        }
    }
}

/// The error of an incomplete condition. The blank one at the end has none.
fn missing(row: &FilterRow) -> Option<String> {
    match (row.field.is_empty(), row.value.trim().is_empty()) {
        _ if row.is_complete() => None,
        (true, true) => None,
        (true, false) => Some(text!("Choose a field")),
        (false, _) => Some(text!("Enter a value")),
    }
}

/// How a condition reads its value, in the word that the scripts use.
fn reads_of(row: &FilterRow) -> String {
    Predicate::from_name(&row.predicate).map(reads_word).unwrap_or_default()
}

fn reads_word(predicate: Predicate) -> String {
    format!("{:?}", predicate.reads()).to_lowercase()
}

/// The filterable columns as JSON for the scripts, which offer the predicates and the input of each column.
fn columns_json(request: &PanelRequest<'_>, columns: &[Column]) -> String {
    let mut json = String::from("[");
    for column in columns.iter().filter(|column| !column.predicates.is_empty()) {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&column.script_json);
        // Depends on the permissions of the user.
        if let Some(url) = input::suggestion_url(request, column.field) {
            json.push_str(&format!(",\"titles\":{}", Value::from(url)));
        }
        json.push('}');
    }
    json + "]"
}

/// A column as an unclosed JSON object, safe inside `<script>`.
pub(crate) fn column_json(catalog: &Catalog, column: &Column) -> String {
    let predicate = |predicate: &Predicate| {
        json!([predicate.name(), predicate_label(*predicate, column.kind), reads_word(*predicate)])
    };
    let json = json!({
        "name": column.name,
        "input": input::script_type(column.kind),
        "predicates": column.predicates.iter().map(predicate).collect::<Vec<_>>(),
        "choices": choices::for_column(catalog, column),
        "words": Some(relative::choices(column)).filter(|words| !words.is_empty()),
    });
    let mut json = json.to_string().replace('<', "\\u003c");
    json.pop();
    json
}

/// Query parameters as hidden inputs.
pub(crate) fn hidden_inputs(pairs: &[Pair]) -> Markup {
    html! { @for pair in pairs { input type="hidden" name=(pair.name) value=(pair.value); } }
}
