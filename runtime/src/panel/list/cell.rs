//! Inline edit of a list: the input of one cell, and its row after the value is saved.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde_json::{Map, Value, json};

use super::columns;
use super::params::ListParams;
use super::saved_view_form;
use super::saved_views::SavedViews;
use super::table::Table;
use crate::language::{message, text};
use crate::panel::display_name::DisplayNames;
use crate::panel::format::value::{self, Placement};
use crate::panel::format::{labels, number_input};
use crate::panel::layout;
use crate::panel::record::field_error::{FieldError, RefusedValue};
use crate::panel::record::form_snapshot::FormSnapshot;
use crate::panel::record::input::{self, InputOptions};
use crate::panel::record::{choices, form_decode, form_merge, protection};
use crate::panel::request::{PanelRequest, form_value, return_path};
use crate::panel::target::Target;
use crate::server::Response;
use crate::server::{ApiResponse, Problem};
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::meta::{Access, FieldMeta, Kind, Operation, Widget};
use charter_core::query::{Pair, decode};
use charter_model::reserved::CELL_PAGE;

/// Concurrent changes of other fields with which a cell is merged before the user must save again.
const MAX_MERGES: usize = 5;

/// The button that gives up the own value for that of somebody else.
const TAKE: &str = "_take";
const THEIRS: &str = "theirs";

/// Returns true if cells of a field can be edited, as far as that does not depend on the record.
pub(super) fn is_offered(request: &PanelRequest<'_>, target: &Target<'_>, field: &FieldMeta) -> bool {
    // A list does not have the fields that protect single records.
    let protected = json!({ "is_admin": true });
    request.may_change_record(target.entry, &protected) && may_edit(request, target, field)
}

fn may_edit(request: &PanelRequest<'_>, target: &Target<'_>, field: &FieldMeta) -> bool {
    // The form of a saved view has inputs of its own.
    is_plain(field)
        && !saved_view_form::is_saved_view(target.entry)
        && request.may(target.entry, Operation::Update)
        && form_decode::is_editable(request, &target.record(0), field)
}

/// Returns true for a field whose input fits into a cell.
fn is_plain(field: &FieldMeta) -> bool {
    let fits = match field.kind {
        Kind::String { .. } => field.widget != Some(Widget::Textarea),
        Kind::Integer | Kind::BigInt | Kind::Decimal { .. } | Kind::Boolean => true,
        Kind::Enum { .. } | Kind::Code { .. } | Kind::Date | Kind::Time | Kind::Timestamp { .. } => true,
        _ => false,
    };
    fits && field.access == Access::Writable
}

/// The field that a request names.
///
/// # Errors
/// [`Error::NotFound`] if a cell cannot edit it, or the user may not.
fn find(request: &PanelRequest<'_>, target: &Target<'_>, name: Option<&str>) -> Result<&'static FieldMeta> {
    let field = name.and_then(|name| target.entry.field(name)).ok_or(Error::NotFound)?;
    if may_edit(request, target, field) { Ok(field) } else { Err(Error::NotFound) }
}

/// The form of a cell, with the value that the record has now.
pub(in crate::panel) async fn edit(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Response> {
    let pairs = request.raw.query_pairs()?;
    let field = find(request, target, form_value(&pairs, "field"))?;
    let response = request.get(&target.path()).await?;
    let mut record = response.json()?[target.entry.meta.name].take();
    if !request.may_change_record(target.entry, &record) {
        return Err(Error::NotFound);
    }
    if protection::of(request, target).await?.is_some() {
        return Err(Error::NotFound);
    }
    let value = record.get_mut(field.name).ok_or(Error::NotFound)?.take();
    let snapshot = FormSnapshot { record: Some(one(field, &value)), ..FormSnapshot::of_locale(&request.locale) };
    let version = response.etag().unwrap_or_default().to_string();
    Ok(Cell { request, target, field, value, snapshot, version }.render(StatusCode::OK, None))
}

/// Saves the form of a cell, and answers the row of its record.
pub(in crate::panel) async fn save(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    let mut cell = Cell::decode(request, target, form)?;
    if form_value(form, TAKE) == Some(THEIRS) {
        return row(request, target, form).await;
    }
    let fields = target.entry.meta.fields;
    for _ in 0..=MAX_MERGES {
        let mine = one(cell.field, &cell.value);
        let body = form_merge::changes(fields, &mine, cell.snapshot.record.as_ref());
        if body.is_empty() {
            return row(request, target, form).await;
        }
        let headers = [(header::IF_MATCH, cell.version.as_str())];
        let saved = request.send("PUT", &target.path(), &headers, Some(&Value::Object(body))).await?;
        if saved.is_success() {
            return row(request, target, form).await;
        }
        if saved.status != StatusCode::PRECONDITION_FAILED {
            return Ok(cell.refuse(&saved));
        }
        let current = request.get(&target.path()).await?;
        if !current.is_success() {
            return Ok(cell.refuse(&current));
        }
        let theirs = current.json()?[target.entry.meta.name][cell.field.name].take();
        let shown = one(cell.field, &theirs);
        let is_conflict = !form_merge::merge(fields, &mine, cell.snapshot.record.as_ref(), &shown).conflicts.is_empty();
        cell.version = current.etag().unwrap_or_default().to_string();
        cell.snapshot.record = Some(shown);
        if is_conflict {
            return Ok(cell.render(StatusCode::PRECONDITION_FAILED, Some(Notice::Conflict(theirs))));
        }
    }
    let notice = Notice::Ask(text!("Others are saving this record at the moment. Save your change again."));
    Ok(cell.render(StatusCode::PRECONDITION_FAILED, Some(notice)))
}

/// The form of a cell that was sent with the token of another session, with a token of this one.
///
/// # Errors
/// [`Error::NotFound`] if the user of this session may not edit the cell.
pub(in crate::panel) fn show_unsaved(
    request: &PanelRequest<'_>,
    target: &Target<'_>,
    form: &[Pair],
) -> Result<Response> {
    let notice = text!("You signed in again after you opened this cell. Your change is not saved yet.");
    Ok(Cell::decode(request, target, form)?.render(StatusCode::CONFLICT, Some(Notice::Ask(notice))))
}

fn one(field: &FieldMeta, value: &Value) -> Map<String, Value> {
    Map::from_iter([(field.name.to_string(), value.clone())])
}

/// A text below the input.
enum Notice {
    /// The value was refused.
    Error(String),
    /// The value is saved only if the user says so again.
    Ask(String),
    /// Somebody else changed the field to this value.
    Conflict(Value),
}

/// The form of a cell.
struct Cell<'c> {
    request: &'c PanelRequest<'c>,
    target: &'c Target<'c>,
    field: &'static FieldMeta,
    /// The value, as the API returns or accepts it.
    value: Value,
    /// The value that the input was rendered with.
    snapshot: FormSnapshot,
    /// The `ETag` of the record.
    version: String,
}

impl<'c> Cell<'c> {
    fn decode(request: &'c PanelRequest<'c>, target: &'c Target<'c>, form: &[Pair]) -> Result<Cell<'c>> {
        let field = find(request, target, form_value(form, "_field"))?;
        let snapshot = FormSnapshot::parse(form, &request.locale)?;
        let own: Vec<Pair> = form.iter().filter(|pair| pair.name == field.name).cloned().collect();
        let (catalog, fields) = (&request.state.catalog, target.entry.meta.fields);
        let mut record = form_decode::decode(catalog, fields, &[], &snapshot, &own, false)?;
        let invalid = || Error::Malformed("A hidden field of the form is invalid. Reload the page.".into());
        let value = record.remove(field.name).ok_or_else(invalid)?;
        // Without a version the change could overwrite that of somebody else.
        let version = form_value(form, "_version").filter(|version| !version.is_empty()).ok_or_else(invalid)?;
        Ok(Cell { request, target, field, value, snapshot, version: version.into() })
    }

    /// The form with the message of a response of the API.
    fn refuse(&self, response: &ApiResponse) -> Response {
        let words = match response.status.as_u16() {
            404 => text!("This record was deleted meanwhile. Your change is not saved."),
            _ => self.describe(&response.problem()),
        };
        self.render(response.status, Some(Notice::Error(words)))
    }

    /// The errors in the words of the record's form. A rule between two fields can refuse the value at the other field.
    fn describe(&self, problem: &Problem) -> String {
        let meta = self.target.entry.meta;
        let in_words = |(name, messages): (&String, &Vec<String>)| {
            if name != self.field.name {
                return format!("{} {}", labels::error_field(meta, name), labels::messages(messages));
            }
            let (kind, value) = (self.field.kind, &self.value);
            let refused = RefusedValue { fields: meta.fields, field: Some(self.field), kind, value };
            let error = FieldError::of(self.request, &refused, &DisplayNames::default(), messages);
            error.at_input(&labels::field(self.field))
        };
        match problem.errors.is_empty() {
            true => message(&problem.message),
            false => problem.errors.iter().map(in_words).collect::<Vec<_>>().join("; "),
        }
    }

    fn render(&self, status: StatusCode, notice: Option<Notice>) -> Response {
        let (field, label) = (self.field, labels::field(self.field));
        let id = format!("cell-{}-{}", self.target.id.unwrap_or_default(), field.name);
        let notice_id = format!("{id}-notice");
        let names = DisplayNames::default();
        let options = InputOptions {
            id: id.clone(),
            name: field.name.into(),
            required: field.required,
            clearable: field.nullable && !field.required,
            value: &self.value,
            choices: choices::for_field(self.request, self.target.entry, field),
            described_by: notice.is_some().then(|| notice_id.clone()),
            invalid: matches!(notice, Some(Notice::Error(_))),
            display_names: &names,
            suggestion_url: None,
            referenced_name: None,
            // Radio buttons are as high as several rows: a cell has a list of options instead.
            display: Some(field).filter(|field| field.widget != Some(Widget::Radio)),
        };
        let snapshot = self.snapshot.clone().in_locale(&self.request.locale);
        let asks = matches!(notice, Some(Notice::Ask(_) | Notice::Conflict(_)));
        let form = html! {
            form method="post" action={ (self.target.path()) "/" (CELL_PAGE) } data-cell data-asks[asks] novalidate {
                (layout::csrf_input(self.request))
                input type="hidden" name="_field" value=(field.name);
                input type="hidden" name="_version" value=(self.version);
                (snapshot.render())
                label .hidden for=(id) { (label) }
                div .invalid[options.invalid] { (input::render(self.request, field.kind, field.rules, &options)) }
                @match &notice {
                    Some(Notice::Error(words)) => p .error id=(notice_id) role="alert" { (words) },
                    Some(Notice::Ask(words)) => div id=(notice_id) role="alert" { p { (words) } button .primary { (text!("Save")) } },
                    Some(Notice::Conflict(theirs)) => div id=(notice_id) role="alert" {
                        p { (text!("Somebody else changed this field after you opened it.")) " " (text!("Their value:")) " " (self.show(theirs)) }
                        button name=(TAKE) value="mine" { (text!("Save my value")) }
                        button name=(TAKE) value=(THEIRS) { (text!("Keep their value")) }
                    },
                    None => "",
                }
            }
        };
        fragment(status, form)
    }

    /// A value of the API without a link.
    fn show(&self, value: &Value) -> Markup {
        match number_input::unreadable_text(self.field.kind, value) {
            Some(text) => html! { (text) },
            None => value::render_unlinked(self.request, self.field, self.field.kind, value, Placement::Table),
        }
    }
}

/// The row of a record in the list that the form came from. It is empty if the user may not see the record any more.
async fn row(request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Response> {
    let entry = target.entry;
    let list =
        return_path(form).filter(|back| target.is_own_list(back)).map_or_else(|| target.collection(), String::from);
    let all = columns::load(request, entry).await?;
    let query = list.split_once('?').map_or("", |(_, query)| query);
    let params = ListParams::parse(decode(query)?, &all, request.locale.zone)?;
    let views = SavedViews::load(request, target, params.view_id).await?;
    let shown = columns::shown(request, entry, &params, &views, &all);
    let response = request.get(&format!("{}?fields={}", target.path(), columns::titled_fields(entry, &shown))).await?;
    if response.status == StatusCode::NOT_FOUND {
        return Ok(fragment(StatusCode::OK, html! {}));
    }
    let record = response.json()?[entry.meta.name].take();
    let fields: Vec<&'static FieldMeta> = shown.iter().filter_map(|column| column.field).collect();
    let names = DisplayNames::load_for_fields(request, entry, &fields, std::slice::from_ref(&record)).await?;
    // The change may have frozen the record.
    let protections = protection::of_records(request, entry, target.id).await?;
    let mut table = Table::new(request, target, &shown, (&names, &protections), list);
    // Users who may change records may select them.
    table.is_selectable = true;
    Ok(fragment(StatusCode::OK, table.render_row(&record)))
}

fn fragment(status: StatusCode, content: Markup) -> Response {
    Response::html(status, content.into_string().into_bytes())
}
