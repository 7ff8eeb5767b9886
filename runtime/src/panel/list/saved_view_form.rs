//! Form of a saved view: its columns and conditions are edited with the inputs of a list.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::column_picker::{self, ColumnMove};
use super::columns::{self, Column};
use super::filter_form;
use super::filter_inputs::is_filter_input;
use super::filter_row::{FilterRow, are_editable, from_json, to_json};
use super::params::ListParams;
use super::related_columns;
use crate::language::text;
use crate::panel::display_name::DisplayNames;
use crate::panel::format::labels;
use crate::panel::record::choices::Choice;
use crate::panel::record::input;
use crate::panel::request::{PanelRequest, form_value};
use crate::panel::target::Target;
use charter_core::catalog::{Catalog, Entry};
use charter_core::error::Result;
use charter_core::query::Pair;

/// Form field: the resource whose columns and conditions the form contains.
const LIST_INPUT: &str = "_list";

/// Form field: the original conditions, if they have inputs. Unchanged conditions are saved as they were, because the
/// inputs turn numbers into text.
const ORIGINAL_FILTERS_INPUT: &str = "_filters";

/// The button that loads the columns of the chosen list.
const RELOAD_BUTTON: &str = "_again";

/// Fields of a saved view with special inputs.
pub(crate) const COLUMNS: &str = "columns";
const SORT_COLUMN: &str = "sort_column";
pub(crate) const FILTERS: &str = "filters";

/// Form field of the columns.
const COLUMNS_INPUT: &str = "columns[]";

/// The special inputs of a saved view.
pub(crate) struct SavedViewInputs {
    columns: Markup,
    /// `None` if the filter form would not preserve the conditions. They are edited as JSON.
    conditions: Option<Markup>,
    /// The sortable columns and the current one, if the list is known.
    sort_column: Option<(Vec<Choice>, String)>,
}

impl SavedViewInputs {
    /// The inputs, if the target is a saved view whose list is known or can be chosen. The button `pressed` is focused.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn load(
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        record: &Value,
        pressed: Option<&str>,
    ) -> Result<Option<SavedViewInputs>> {
        if !is_saved_view(target.entry) {
            return Ok(None);
        }
        let is_new = target.is_list();
        let reload_button = html! {
            @if is_new { div .buttons { button name=(RELOAD_BUTTON) value="1" autofocus[pressed == Some(RELOAD_BUTTON)] { (text!("Show the list's columns")) } } }
        };
        let list = record["entity_type"].as_str().and_then(|plural| request.state.catalog.by_plural(plural));
        let Some(list) = list.filter(|list| list.is_listed()) else {
            let columns = html! { input type="hidden" name=(COLUMNS_INPUT) value=""; p .faint { (text!("Choose a list first.")) } (reload_button) };
            let conditions = html! { input type="hidden" name={ (FILTERS) "[json]" } value="[]"; p .faint { (text!("The conditions are loaded with the columns.")) } };
            return Ok(is_new.then_some(SavedViewInputs { columns, conditions: Some(conditions), sort_column: None }));
        };
        let all_columns = related_columns::load(request, list).await?;
        let names: Vec<String> = match &record[COLUMNS] {
            Value::Array(names) => names.iter().filter_map(|name| Some(name.as_str()?.to_string())).collect(),
            Value::String(names) => names.split(',').map(String::from).collect(),
            _ => columns::default_names(list),
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns = html! {
            input type="hidden" name=(LIST_INPUT) value=(list.meta.plural);
            input type="hidden" name=(COLUMNS_INPUT) value="";
            // Enter presses the first button of a form, which must not be an arrow.
            button .hidden tabindex="-1" aria-hidden="true" {}
            (column_picker::inputs(COLUMNS_INPUT, &all_columns, &names, pressed))
            (reload_button)
        };
        let sortable = all_columns.iter().filter(|column| column.sortable);
        let sortable = sortable.map(|column| (column.name.clone(), column.label.clone())).collect();
        let sort_column = Some((sortable, input::to_text(&record[SORT_COLUMN])));
        let conditions = condition_inputs(request, &all_columns, &record[FILTERS]).await?;
        Ok(Some(SavedViewInputs { columns, conditions, sort_column }))
    }

    /// The inputs of a field with its error messages; `None` if the field has no special inputs.
    pub(crate) fn render_field(&self, name: &str, messages: &[String]) -> Option<Markup> {
        if let (SORT_COLUMN, Some((sortable, value))) = (name, &self.sort_column) {
            return Some(html! {
                div .field .invalid[!messages.is_empty()] {
                    label for={ "field-" (SORT_COLUMN) } { (labels::from_name(SORT_COLUMN)) }
                    (input::select(SORT_COLUMN, Some("field-sort_column"), sortable, value, true, ""))
                    @if !messages.is_empty() { p .error { (labels::from_name(SORT_COLUMN)) " " (labels::messages(messages)) } }
                }
            });
        }
        let (inputs, legend, help) = match name {
            COLUMNS => (&self.columns, text!("Columns"), text!("The list shows the selected columns in this order.")),
            FILTERS => (
                self.conditions.as_ref()?,
                text!("Conditions"),
                text!("The list shows the records that match these conditions, combined from top to bottom."),
            ),
            _ => return None,
        };
        let (id, help_id, error_id) =
            (format!("field-{name}"), format!("field-{name}-help"), format!("field-{name}-error"));
        let described_by = if messages.is_empty() { help_id.clone() } else { format!("{help_id} {error_id}") };
        Some(html! {
            fieldset .stacked .invalid[!messages.is_empty()] id=(id) tabindex="-1" aria-describedby=(described_by) {
                legend { (legend) @if name == COLUMNS { " " span .required title=(text!("Required")) { "*" } } }
                @if !messages.is_empty() { p .error id=(error_id) { (legend) " " (labels::messages(messages)) } }
                p .help id=(help_id) { (help) }
                (inputs)
            }
        })
    }
}

/// The URL of the list that shows a saved view.
pub(crate) fn list_url(catalog: &Catalog, entry: &Entry, record: &Value) -> Option<String> {
    let list = catalog.by_plural(record["entity_type"].as_str()?).filter(|_| is_saved_view(entry))?;
    let is_top_level = list.is_listed() && list.meta.under.is_none();
    is_top_level.then(|| format!("/{}?view_id={}", list.meta.path, input::to_text(&record["id"])))
}

pub(super) fn is_saved_view(entry: &Entry) -> bool {
    entry.meta.name == "custom_view"
}

/// See [`SavedViewInputs::conditions`].
async fn condition_inputs(request: &PanelRequest<'_>, columns: &[Column], filters: &Value) -> Result<Option<Markup>> {
    let filters = match filters {
        Value::Null => json!([]),
        // The declared default is JSON text.
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        filters => filters.clone(),
    };
    let Some(rows) = from_json(&filters) else { return Ok(None) };
    let (rows, incomplete): (Vec<FilterRow>, Vec<FilterRow>) = rows.into_iter().partition(FilterRow::is_complete);
    if !are_editable(&rows, columns, request.locale.zone) {
        return Ok(None);
    }
    let display_names = DisplayNames::load_for_filters(request, &rows, columns).await?;
    Ok(Some(html! {
        input type="hidden" name=(ORIGINAL_FILTERS_INPUT) value=(filters);
        (filter_form::inputs(request, &rows, &incomplete, columns, &display_names))
        div .buttons { button type="button" data-add-condition { (text!("Add condition")) } }
    }))
}

/// The special fields of a saved view form.
pub(crate) struct DecodedView {
    /// The columns in their order, if they have inputs.
    pub columns: Option<Value>,
    /// The conditions, if they have inputs.
    pub filters: Option<Value>,
    /// The plural of the listed resource.
    pub plural: String,
}

/// The pressed button, if the form is to be rendered again instead of saved.
pub(crate) fn reload_trigger(form: &[Pair]) -> Option<String> {
    form.iter().find_map(|pair| match pair.name.as_str() {
        RELOAD_BUTTON => Some(RELOAD_BUTTON.to_string()),
        _ => ColumnMove::from_pair(pair).map(|column_move| column_move.arrow_id()),
    })
}

/// Separates the special fields of a form from those of the record, and moves a column if an arrow was pressed.
///
/// # Errors
/// When the database fails.
pub(crate) async fn decode(
    request: &PanelRequest<'_>,
    entry: &Entry,
    form: &[Pair],
) -> Result<(Vec<Pair>, Option<DecodedView>)> {
    if !is_saved_view(entry) {
        return Ok((form.to_vec(), None));
    }
    let value = |name: &str| form_value(form, name);
    let (filter_pairs, rest): (Vec<Pair>, Vec<Pair>) =
        form.iter().cloned().partition(|pair| is_filter_input(&pair.name));
    let (columns, rest): (Vec<Pair>, Vec<Pair>) = rest.into_iter().partition(|pair| pair.name == COLUMNS_INPUT);
    // Columns and conditions of another list than the chosen one are discarded.
    let chosen = value("entity_type");
    let list = value(LIST_INPUT).filter(|plural| chosen.is_none_or(|chosen| chosen == *plural));
    let Some(list) = list.and_then(|plural| request.state.catalog.by_plural(plural)) else { return Ok((rest, None)) };
    let has_columns = !columns.is_empty();
    let mut names: Vec<String> = columns.into_iter().map(|pair| pair.value).filter(|name| !name.is_empty()).collect();
    form.iter().filter_map(ColumnMove::from_pair).for_each(|column_move| column_move.apply(&mut names));
    let columns = has_columns.then(|| names.into());
    let filters = match value(ORIGINAL_FILTERS_INPUT) {
        None => None,
        Some(original) => {
            let params =
                ListParams::parse(filter_pairs, &related_columns::load(request, list).await?, request.locale.zone)?;
            let original = serde_json::from_str(original).ok();
            // The API rejects incomplete conditions, and the form shows them again.
            let rows = [&params.rows[..], &params.incomplete].concat();
            let unchanged = original.filter(|original| from_json(original).is_some_and(|before| before == rows));
            Some(unchanged.unwrap_or_else(|| to_json(&rows)))
        }
    };
    Ok((rest, Some(DecodedView { columns, filters, plural: list.meta.plural.to_string() })))
}
