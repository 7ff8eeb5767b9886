//! Export of a list as a link: `GET /<path>/export` with the parameters of the list streams a file.
//!
//! The rows come from the API's export of JSON lines, as the user. A CSV file has the columns of the page in their
//! order, with labels for people or with the values of the API.

use std::collections::HashMap;

use bytes::Bytes;
use charter_model::reserved::EXPORT_PAGE;
use chrono::DateTime;
use chrono_tz::Tz;
use futures_util::{StreamExt, stream};
use maud::{Markup, html};
use salvo::Request;
use serde_json::Value;

use super::columns::{self, Column};
use super::params::ListParams;
use super::saved_views::SavedViews;
use super::{filter_form, related_columns, trash};
use crate::language::text;
use crate::panel::format::labels;
use crate::panel::record::choices;
use crate::panel::record::input::to_text;
use crate::panel::request::{PanelRequest, form_value, require_same_site};
use crate::panel::target::Target;
use crate::panel::url;
use crate::server::{Response, api_client};
use charter_core::catalog::{Entry, name_field};
use charter_core::error::{Error, Result};
use charter_core::header;
use charter_core::meta::{FieldMeta, IncludeTarget, Kind};
use charter_core::ops::Format;
use charter_core::ops::list::csv::{BYTE_ORDER_MARK, CsvForm};
use charter_core::query::Pair;
use charter_platform::attachment::file_name;

/// Parameters of an export, besides those of the list.
const FORMAT: &str = "format";
const VALUES: &str = "values";
/// The ids of the chosen rows, separated by commas.
pub(in crate::panel) const IDS: &str = "ids";

/// Words of [`VALUES`]: for people, and as in the API.
const LABELS: &str = "labels";
const CODES: &str = "codes";

/// A column of the file.
struct ExportColumn {
    name: String,
    kind: Kind,
    /// The name of the custom field that the column shows.
    custom: Option<String>,
    /// Labels by value; empty if the file has the values of the API.
    labels: HashMap<String, String>,
    /// The included record of a reference and the field of its title.
    title: Option<(String, &'static str)>,
    /// The zone of times; `None` if they stay as in the API.
    zone: Option<Tz>,
}

/// The menu of a list: an export with its conditions, order and columns.
pub(super) fn menu(request: &PanelRequest<'_>, target: &Target<'_>, params: &ListParams, api_path: &str) -> Markup {
    let list = ListParams { page: None, per_page: None, ..params.clone() };
    html! {
        details .menu {
            summary { (text!("Export")) }
            div {
                form .menu-part method="get" action={ (target.collection()) "/" (EXPORT_PAGE) } {
                    (filter_form::hidden_inputs(&list.pairs()))
                    (inputs())
                }
                div .menu-part { button type="button" data-copy=(super::curl_command(request, api_path)) { (text!("Copy as curl")) } }
            }
        }
    }
}

/// The choice between labels and the values of the API, and a button for each format.
pub(in crate::panel) fn inputs() -> Markup {
    html! {
        label .field { span { (text!("Values in CSV")) }
            select name=(VALUES) {
                option value=(LABELS) { (text!("As on this page")) }
                option value=(CODES) { (text!("As in the API")) }
            }
        }
        button name=(FORMAT) value=(Format::Csv.extension()) { "CSV" }
        button name=(FORMAT) value=(Format::Lines.extension()) { (text!("JSON lines")) }
    }
}

/// Streams the file.
///
/// # Errors
/// [`Error::Malformed`] for an unknown format, and those of the list.
pub(in crate::panel) async fn download(
    http_request: &mut Request,
    request: &PanelRequest<'_>,
    target: &Target<'_>,
) -> Result<Response> {
    // It writes audit entries and takes one of the user's exports, which another site must not do.
    require_same_site(request.state, http_request)?;
    let entry = target.entry;
    let pairs = request.raw.query_pairs()?;
    let chosen = |name: &str| form_value(&pairs, name).unwrap_or_default().to_string();
    let format = Format::ALL.into_iter().find(|format| format.extension() == chosen(FORMAT));
    let format = format.ok_or_else(|| Error::Malformed(text!("The format is csv or ndjson.")))?;
    let for_people = chosen(VALUES) != CODES;
    let ids = chosen(IDS);
    let of_export = [FORMAT, VALUES, IDS];
    let pairs: Vec<Pair> = pairs.into_iter().filter(|pair| !of_export.contains(&pair.name.as_str())).collect();
    let deleted_at = trash::deleted_at_field(entry).filter(|_| trash::is_requested(&pairs));
    let mut own = columns::load(request, entry).await?.to_vec();
    own.extend(deleted_at.map(|field| columns::deleted_at(request, entry, field)));
    let mut known = own.clone();
    if related_columns::are_needed(&pairs) {
        known.extend(related_columns::of(request, entry));
    }
    let mut params = ListParams::parse(pairs, &known, request.locale.zone)?;
    (params.page, params.per_page) = (None, None);
    let views = SavedViews::load(request, target, params.view_id).await?;
    let mut shown = columns::shown(request, entry, &params, &views, &own);
    // As on the page.
    if let Some(field) = deleted_at.filter(|_| params.columns.is_none()) {
        shown.extend(own.iter().find(|column| column.name == field.name));
    }
    let mut path = params.api_path(target, Some(&columns::api_fields(entry, &shown)));
    let mut more = Vec::new();
    if !ids.is_empty() {
        more.push(Pair { name: "q[id_in]".into(), value: ids });
    }
    let file_columns: Vec<ExportColumn> =
        shown.iter().map(|column| ExportColumn::of(request, entry, column, for_people)).collect();
    let includes: Vec<&str> = match format {
        Format::Csv => {
            file_columns.iter().filter_map(|column| column.title.as_ref()).map(|(key, _)| key.as_str()).collect()
        }
        Format::Lines => Vec::new(),
    };
    if !includes.is_empty() {
        more.push(Pair { name: "include".into(), value: includes.join(",") });
    }
    let joint = if path.contains('?') { "&" } else { "?" };
    path = format!("{path}{}", url::with_query("", &more).replacen('?', joint, 1));
    let mut response = request.export(http_request, &path, Format::Lines.media_type()).await?;
    let name = file_name(request, entry, &views, format);
    let rows = api_client::body_stream(&mut response);
    let body = match format {
        Format::Lines => rows.boxed(),
        Format::Csv => {
            let titles = shown.iter().map(|column| if for_people { column.label.clone() } else { column.name.clone() });
            let mut first = BYTE_ORDER_MARK.to_vec();
            form().write_line(&mut first, &titles.map(Some).collect::<Vec<_>>());
            let lines = rows.scan(Vec::new(), move |rest, chunk| {
                let lines = chunk.and_then(|chunk: Bytes| Ok(csv_lines(&file_columns, rest, &chunk)?.into()));
                std::future::ready(Some(lines))
            });
            stream::once(std::future::ready(Ok(Bytes::from(first)))).chain(lines).boxed()
        }
    };
    let status = response.status_code.unwrap_or(salvo::http::StatusCode::OK);
    Ok(Response::stream(status, body)
        .with_text("content-type", &format.content_type())
        .with_text(header::DISPOSITION, &file_name::disposition("attachment", &name)))
}

fn form() -> CsvForm {
    CsvForm { neutral: true, byte_order_mark: true }
}

/// `Products - Rentals - 2026-11-28.csv`
fn file_name(request: &PanelRequest<'_>, entry: &Entry, views: &SavedViews, format: Format) -> String {
    let day = request.state.clock.now().with_timezone(&request.locale.zone).format("%Y-%m-%d").to_string();
    let parts = [Some(labels::plural(entry.meta)), views.selected_name(), Some(day)];
    let name = parts.into_iter().flatten().collect::<Vec<_>>().join(" - ");
    file_name::clean(&format!("{}.{}", name.replace(['/', '\\'], "-"), format.extension()))
}

/// The lines of CSV for the complete lines of JSON; `rest` keeps the beginning of the next line.
fn csv_lines(columns: &[ExportColumn], rest: &mut Vec<u8>, chunk: &[u8]) -> std::io::Result<Vec<u8>> {
    rest.extend_from_slice(chunk);
    let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { return Ok(Vec::new()) };
    let mut out = Vec::with_capacity(end);
    for line in rest[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let record: Value = serde_json::from_slice(line).map_err(std::io::Error::other)?;
        let cells: Vec<Option<String>> = columns.iter().map(|column| column.cell(&record)).collect();
        form().write_line(&mut out, &cells);
    }
    rest.drain(..=end);
    Ok(out)
}

impl ExportColumn {
    fn of(request: &PanelRequest<'_>, entry: &Entry, column: &Column, for_people: bool) -> ExportColumn {
        let labels = match for_people {
            true => choices::for_column(&request.state.catalog, column).unwrap_or_default().into_iter().collect(),
            false => HashMap::new(),
        };
        ExportColumn {
            name: column.name.clone(),
            kind: column.kind,
            custom: column.custom_field.as_ref().map(|definition| definition.name.clone()),
            labels,
            title: column.field.filter(|_| for_people).and_then(|field| title_of(request, entry, field)),
            zone: for_people.then_some(request.locale.zone),
        }
    }

    /// The text of a cell; `None` for null.
    fn cell(&self, record: &Value) -> Option<String> {
        let value = match &self.custom {
            Some(name) => &record["custom_fields"][name],
            None => &record[&self.name],
        };
        if value.is_null() {
            return None;
        }
        if let Some((key, field)) = &self.title
            && let Some(title) = record[key][*field].as_str()
        {
            return Some(title.to_string());
        }
        let text = to_text(value);
        if let Some(label) = self.labels.get(&text) {
            return Some(label.clone());
        }
        match (self.kind, self.zone) {
            (Kind::Timestamp { .. }, Some(zone)) => Some(local_time(zone, &text)),
            _ => Some(text),
        }
    }
}

/// `2026-03-21 10:00:00`, which spreadsheets take for a time.
fn local_time(zone: Tz, time: &str) -> String {
    let parsed = DateTime::parse_from_rfc3339(time);
    parsed.map_or_else(|_| time.to_string(), |time| time.with_timezone(&zone).format("%Y-%m-%d %H:%M:%S").to_string())
}

/// The include with the record of a reference, and the field of its title, if the resource has such an include and the
/// user may read the other resource.
fn title_of(request: &PanelRequest<'_>, entry: &Entry, field: &FieldMeta) -> Option<(String, &'static str)> {
    let Kind::Ref { resource } = field.kind else { return None };
    let referenced = request.state.catalog.linked(resource);
    let include =
        entry.meta.includes.iter().find(|include| include.target == IncludeTarget::One { via: field.name })?;
    let title = name_field(referenced)?.name;
    let is_included = include.fields.is_empty() || include.fields.contains(&title);
    (request.may_read(referenced) && is_included).then(|| (charter_model::naming::snake(include.name), title))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn column(name: &str, kind: Kind) -> ExportColumn {
        let (name, zone) = (name.to_string(), Some(Tz::Asia__Tokyo));
        ExportColumn { name, kind, custom: None, labels: HashMap::new(), title: None, zone }
    }

    #[test]
    fn a_cell_has_the_label_the_title_or_the_local_time() {
        let kind = ExportColumn {
            labels: [("1".to_string(), "Bulk".to_string())].into(),
            ..column("method", Kind::Code { values: &[(1, "Bulk")] })
        };
        let group = ExportColumn {
            title: Some(("group".into(), "name")),
            ..column("group_id", Kind::Ref { resource: "group" })
        };
        let at = column("at", Kind::Timestamp { form: charter_core::meta::TimestampForm::Seconds });
        let record = json!({ "method": 1, "group_id": 7, "group": { "name": "Light" }, "at": "2026-07-01T14:30:00Z" });
        let cells = [&kind, &group, &at].map(|column| column.cell(&record).unwrap_or_default());
        assert_eq!(cells, ["Bulk", "Light", "2026-07-01 23:30:00"]);
        let other = json!({ "method": 9, "group_id": 7, "at": null });
        let cells = [&kind, &group, &at].map(|column| column.cell(&other));
        assert_eq!(cells, [Some("9".into()), Some("7".into()), None]);
    }

    #[test]
    fn a_line_that_arrives_in_parts_is_one_line() {
        let columns = [column("name", Kind::Text)];
        let mut rest = Vec::new();
        let mut out = Vec::new();
        for chunk in ["{\"name\":\"a\"}\n{\"na", "me\":\"=b,", "c\"}", "\n"] {
            out.extend(csv_lines(&columns, &mut rest, chunk.as_bytes()).expect("lines"));
        }
        assert_eq!((String::from_utf8_lossy(&out).as_ref(), rest.is_empty()), ("a\r\n\"'=b,c\"\r\n", true));
    }
}
