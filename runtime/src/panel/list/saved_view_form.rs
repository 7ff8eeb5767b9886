//! The form of a saved view: its columns and conditions are chosen as those of a list are, and sent as the API takes them.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::choice::Choice;
use super::chooser::{self, Step};
use super::columns::{self, Column};
use super::condition::{Wish, is_form_field};
use super::place::Place;
use super::row::{from_json, have_inputs};
use super::title::Titles;
use super::visit::{Visit, field};
use super::{filter, input, words};
use crate::catalog::{Catalog, Entry};
use crate::error::Result;
use crate::query::Pair;

/// The field of the form that says whose columns and conditions it has.
const OF: &str = "_list";

/// The field of the form that has the conditions as they were, where they have inputs: numbers that are numbers stay so where
/// nothing is changed.
const WAS: &str = "_filters";

/// The button that asks for the columns of the list that was chosen.
const AGAIN: &str = "_again";

/// The fields of a record that have inputs of their own here.
const COLUMNS: &str = "columns";
const ORDER: &str = "sort_column";
pub const FILTERS: &str = "filters";

/// The columns of a record as a form sends them.
const SENT: &str = "columns[]";

/// The inputs of a saved view.
pub struct Inputs {
    columns: Markup,
    /// None where the conditions have a form that no input has.
    conditions: Option<Markup>,
    /// What the list can be sorted by, where it is known.
    order: Option<(Vec<Choice>, String)>,
}

impl Inputs {
    /// The inputs of a form, where it is one of a saved view whose list is known or can still be chosen. What was pressed last
    /// has the focus.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn of(
        visit: &Visit<'_>,
        place: &Place<'_>,
        record: &Value,
        pressed: Option<&str>,
    ) -> Result<Option<Inputs>> {
        if !is_view(place.entry) {
            return Ok(None);
        }
        let is_new = place.is_list();
        let again = html! {
            @if is_new { div .buttons { button name=(AGAIN) value="1" autofocus[pressed == Some(AGAIN)] { "Show the list's columns" } } }
        };
        let list = record["entity_type"].as_str().and_then(|plural| visit.state.catalog.by_plural(plural));
        let Some(list) = list.filter(|list| list.is_listed()) else {
            let columns =
                html! { input type="hidden" name=(SENT) value=""; p .faint { "Choose first what it lists." } (again) };
            let conditions = html! { input type="hidden" name={ (FILTERS) "[json]" } value="[]"; p .faint { "They come with the columns." } };
            return Ok(is_new.then_some(Inputs { columns, conditions: Some(conditions), order: None }));
        };
        let known = columns::all(visit, list).await?;
        let names: Vec<String> = match &record[COLUMNS] {
            Value::Array(names) => names.iter().filter_map(|name| Some(name.as_str()?.to_string())).collect(),
            Value::String(names) => names.split(',').map(String::from).collect(),
            _ => columns::usual(list),
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns = html! {
            input type="hidden" name=(OF) value=(list.meta.plural);
            input type="hidden" name=(SENT) value="";
            (chooser::inputs(SENT, &known, &names, pressed))
            (again)
        };
        let sortable = known.iter().filter(|column| column.sortable);
        let sortable = sortable.map(|column| (column.name.clone(), column.label.clone())).collect();
        let order = Some((sortable, input::text(&record[ORDER])));
        Ok(Some(Inputs { columns, conditions: conditions(visit, &known, &record[FILTERS]).await?, order }))
    }

    /// The inputs of a field with what the API says of it, where it has its own here.
    pub fn field(&self, name: &str, said: &[String]) -> Option<Markup> {
        if let (ORDER, Some((sortable, value))) = (name, &self.order) {
            return Some(html! {
                div .field .invalid[!said.is_empty()] {
                    label for={ "field-" (ORDER) } { (words::label(ORDER)) }
                    (input::select(ORDER, Some("field-sort_column"), sortable, value, true, ""))
                    @if !said.is_empty() { p .error { (words::label(ORDER)) " " (said.join("; ")) } }
                }
            });
        }
        let (inputs, legend, help) = match name {
            COLUMNS => (&self.columns, "Columns", "What is ticked is shown, in this order."),
            FILTERS => (
                self.conditions.as_ref()?,
                "Conditions",
                "What its records must meet, joined from the first to the last.",
            ),
            _ => return None,
        };
        let (id, help_id, error_id) =
            (format!("field-{name}"), format!("field-{name}-help"), format!("field-{name}-error"));
        let described = if said.is_empty() { help_id.clone() } else { format!("{help_id} {error_id}") };
        Some(html! {
            fieldset .stacked .invalid[!said.is_empty()] id=(id) tabindex="-1" aria-describedby=(described) {
                legend { (legend) @if name == COLUMNS { " " span .required title="Required" { "*" } } }
                @if !said.is_empty() { p .error id=(error_id) { (legend) " " (said.join("; ")) } }
                p .help id=(help_id) { (help) }
                (inputs)
            }
        })
    }
}

/// The list that shows a view which was saved.
pub fn shown_at(catalog: &Catalog, entry: &Entry, record: &Value) -> Option<String> {
    let list = catalog.by_plural(record["entity_type"].as_str()?).filter(|_| is_view(entry))?;
    let is_reached = list.is_listed() && list.meta.under.is_none();
    is_reached.then(|| format!("/{}?view_id={}", list.meta.path, input::text(&record["id"])))
}

fn is_view(entry: &Entry) -> bool {
    entry.meta.name == "custom_view"
}

/// The inputs of a view's conditions, unless they have a form that no input has.
async fn conditions(visit: &Visit<'_>, columns: &[Column], filters: &Value) -> Result<Option<Markup>> {
    let filters = match filters {
        Value::Null => json!([]),
        // As the declaration has its default.
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        filters => filters.clone(),
    };
    let Some(rows) = from_json(&filters) else { return Ok(None) };
    if !have_inputs(&rows, columns, visit.locale.zone) {
        return Ok(None);
    }
    let titles = Titles::of_conditions(visit, &rows, columns).await?;
    Ok(Some(html! {
        input type="hidden" name=(WAS) value=(filters);
        (filter::rows(visit, &rows, columns, &titles))
        div .buttons { button type="button" data-add-condition { "Add a condition" } }
    }))
}

/// What a form of a view has beside the fields of its record.
pub struct Sent {
    /// The conditions, where they have inputs.
    pub filters: Option<Value>,
    /// What it lists.
    pub plural: String,
}

/// What was pressed, where the form is to be shown again and nothing to be saved.
pub fn asked_again(form: &[Pair]) -> Option<String> {
    form.iter().find_map(|pair| match pair.name.as_str() {
        AGAIN => Some(AGAIN.to_string()),
        _ => Step::of(pair).map(|step| step.arrow()),
    })
}

/// Takes the conditions out of a form and puts its columns in order; what is left are the fields of the record.
///
/// # Errors
/// When the database fails.
pub async fn read(visit: &Visit<'_>, entry: &Entry, form: &[Pair]) -> Result<(Vec<Pair>, Option<Sent>)> {
    if !is_view(entry) {
        return Ok((form.to_vec(), None));
    }
    let value = |name: &str| field(form, name);
    let (chosen, rest): (Vec<Pair>, Vec<Pair>) = form.iter().cloned().partition(|pair| is_form_field(&pair.name));
    let (columns, mut rest): (Vec<Pair>, Vec<Pair>) = rest.into_iter().partition(|pair| pair.name == SENT);
    // What was chosen of one list means nothing to another.
    let asked = value("entity_type");
    let list = value(OF).filter(|plural| asked.is_none_or(|asked| asked == *plural));
    let Some(list) = list.and_then(|plural| visit.state.catalog.by_plural(plural)) else { return Ok((rest, None)) };
    let has_columns = !columns.is_empty();
    let mut names: Vec<String> = columns.into_iter().map(|pair| pair.value).filter(|name| !name.is_empty()).collect();
    form.iter().filter_map(Step::of).for_each(|step| step.take(&mut names));
    // An empty one says that none is chosen.
    let names = std::iter::once(String::new()).chain(names).filter(|_| has_columns);
    rest.extend(names.map(|value| Pair { name: SENT.into(), value }));
    let filters = match value(WAS) {
        None => None,
        Some(was) => {
            let wish = Wish::read(chosen, &columns::all(visit, list).await?, visit.locale.zone)?;
            let was = serde_json::from_str(was).ok();
            let same = was.filter(|was| from_json(was).is_some_and(|rows| rows == wish.rows));
            Some(same.unwrap_or_else(|| wish.filters()))
        }
    };
    Ok((rest, Some(Sent { filters, plural: list.meta.plural.to_string() })))
}
