//! The form that builds a list's conditions.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::columns::Column;
use super::condition::Wish;
use super::place::Place;
use super::row::{LOGICS, Row};
use super::title::Titles;
use super::visit::Visit;
use super::{choice, input, words};
use crate::catalog::Catalog;
use crate::meta::Kind;
use crate::query::{Pair, Predicate, read_boolean};

/// What a predicate is called between a field and a value of this kind.
pub fn says(predicate: Predicate, kind: Kind) -> &'static str {
    let time = matches!(kind, Kind::Timestamp { .. } | Kind::Date);
    match predicate {
        Predicate::Eq => "is",
        Predicate::NotEq => "is not",
        Predicate::Lt if time => "is before",
        Predicate::Lteq if time => "is not after",
        Predicate::Gt if time => "is after",
        Predicate::Gteq if time => "is not before",
        Predicate::Lt => "is less than",
        Predicate::Lteq => "is at most",
        Predicate::Gt => "is more than",
        Predicate::Gteq => "is at least",
        Predicate::Cont => "contains",
        Predicate::NotCont => "does not contain",
        Predicate::Start => "begins with",
        Predicate::End => "ends with",
        Predicate::Null => "is not set",
        Predicate::NotNull => "is set",
        Predicate::Present => "is filled in",
        Predicate::Blank => "is blank",
        Predicate::In => "is one of",
        Predicate::NotIn => "is none of",
        Predicate::True => "is yes",
        Predicate::False => "is no",
    }
}

fn joins(logic: &str, first: bool) -> &'static str {
    match (logic, first) {
        ("nand" | "nor", true) => "not where",
        (_, true) => "where",
        ("or", _) => "or",
        ("nand", _) => "and not",
        ("nor", _) => "or not",
        _ => "and",
    }
}

/// Conditions in words, with how each joins those before it: `Name contains “lamp”`, `or Weight is less than “3”`.
pub fn sentences(visit: &Visit<'_>, rows: &[Row], columns: &[Column], titles: &Titles) -> Vec<String> {
    let joined =
        |(index, row): (usize, &Row)| match (joins(&row.logic, index == 0), sentence(visit, row, columns, titles)) {
            ("where", said) => said,
            (joins, said) => format!("{joins} {said}"),
        };
    rows.iter().enumerate().map(joined).collect()
}

fn sentence(visit: &Visit<'_>, row: &Row, columns: &[Column], titles: &Titles) -> String {
    let column = columns.iter().find(|column| column.name == row.field);
    let label = column.map_or_else(|| words::label(&row.field), |column| column.label.clone());
    let kind = column.map_or(Kind::Text, |column| column.kind);
    let Some(predicate) = Predicate::from_name(&row.predicate) else { return label };
    let said = says(predicate, kind);
    if predicate.is_switch() {
        let negated = read_boolean(&row.value) == Ok(false);
        return if negated { format!("{label}: not “{said}”") } else { format!("{label} {said}") };
    }
    format!("{label} {said} {}", choice::said(visit, column, row, titles))
}

/// The form of the conditions.
pub fn form(visit: &Visit<'_>, place: &Place<'_>, wish: &Wish, columns: &[Column], titles: &Titles) -> Markup {
    let rest = Wish { rows: Vec::new(), page: None, ..wish.clone() };
    // Beside a view `filters` means something else than `q[...]`: what came so goes back so.
    let listed = wish.rows.iter().filter(|row| row.is_listed).count();
    html! {
        form #filter-form method="get" action=(place.collection()) data-filter {
            input type="hidden" name="apply" value="1";
            (hidden(&rest.pairs()))
            @if listed > 0 && wish.view_id.is_some() { input type="hidden" name="listed" value=(listed); }
            (rows(visit, &wish.rows, columns, titles))
            div .buttons {
                button .primary { "Apply" }
                button type="button" data-add-condition { "Add a condition" }
                a .button href=(rest.address(place)) { "Clear" }
            }
        }
    }
}

/// The inputs of these conditions and of one more, with what the script needs to fit them.
pub fn rows(visit: &Visit<'_>, rows: &[Row], columns: &[Column], titles: &Titles) -> Markup {
    let none = String::new;
    let blank = Row { logic: "and".into(), field: none(), predicate: none(), value: none(), is_listed: false };
    html! {
        ol .conditions {
            @for (index, row) in rows.iter().chain([&blank]).enumerate() { (condition(visit, index, row, columns, titles)) }
        }
        script type="application/json" #filter-fields { (maud::PreEscaped(fields(visit, columns))) }
    }
}

fn condition(visit: &Visit<'_>, index: usize, row: &Row, columns: &[Column], titles: &Titles) -> Markup {
    let column = columns.iter().find(|column| column.name == row.field);
    let all: Vec<Predicate> = Predicate::names().filter_map(Predicate::from_name).collect();
    let predicates = column.map_or(&all, |column| &column.predicates);
    let kind = column.map_or(Kind::Text, |column| column.kind);
    let number = index + 1;
    html! {
        li .condition data-condition {
            select name={ "f" (index) ".logic" } aria-label={ "How condition " (number) " joins" } {
                @for logic in LOGICS.iter().filter(|logic| index > 0 || matches!(**logic, "and" | "nand")) {
                    option value=(logic) selected[row.logic == **logic] { (joins(logic, index == 0)) }
                }
            }
            select name={ "f" (index) ".field" } aria-label={ "Field of condition " (number) } data-field {
                option value="" { "Choose a field" }
                @for column in columns.iter().filter(|column| !column.predicates.is_empty()) {
                    option value=(column.name) selected[column.name == row.field] { (column.label) }
                }
            }
            select name={ "f" (index) ".predicate" } aria-label={ "Question of condition " (number) } data-predicate {
                @for predicate in predicates {
                    option value=(predicate.name()) selected[predicate.name() == row.predicate] { (says(*predicate, kind)) }
                }
            }
            div .value data-value data-of=[column.map(|column| format!("{} {}", column.name, reads(row)))] {
                (input::condition(visit, &format!("f{index}.value"), column, row, &format!("Value of condition {number}"), titles))
            }
            button type="button" .quiet data-remove aria-label={ "Remove condition " (number) } { "×" }
        }
    }
}

/// How a condition reads its value, in the script's word for it.
fn reads(row: &Row) -> String {
    Predicate::from_name(&row.predicate).map(told).unwrap_or_default()
}

fn told(predicate: Predicate) -> String {
    format!("{:?}", predicate.reads()).to_lowercase()
}

/// What the script needs to offer for each field just its questions, with an input that fits.
fn fields(visit: &Visit<'_>, columns: &[Column]) -> String {
    let mut json = String::from("[");
    for column in columns.iter().filter(|column| !column.predicates.is_empty()) {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&column.script);
        // Where titles are searched depends on who asks.
        if let Some(titles) = input::places(visit, column.field) {
            json.push_str(&format!(",\"titles\":{}", Value::from(titles)));
        }
        json.push('}');
    }
    json + "]"
}

/// What the script is told of a column, but for its end. Nothing in it ends the element that holds it.
pub fn script(catalog: &Catalog, column: &Column) -> String {
    let asks = |predicate: &Predicate| json!([predicate.name(), says(*predicate, column.kind), told(*predicate)]);
    let json = json!({
        "name": column.name,
        "input": input::word(column.kind),
        "predicates": column.predicates.iter().map(asks).collect::<Vec<_>>(),
        "choices": choice::of_column(catalog, column),
    });
    let mut json = json.to_string().replace('<', "\\u003c");
    json.pop();
    json
}

/// What a form carries along.
pub fn hidden(pairs: &[Pair]) -> Markup {
    html! { @for pair in pairs { input type="hidden" name=(pair.name) value=(pair.value); } }
}
