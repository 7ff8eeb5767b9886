//! From the cells of a row to the body of a create or an update.

use charter_core::catalog::Catalog;
use charter_core::error::FieldErrors;
use charter_core::meta::{Access, FieldMeta, Kind};
use chrono::{LocalResult, NaiveDate, NaiveDateTime, SecondsFormat, TimeZone};
use chrono_tz::Tz;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::labels::ImportLabels;
use super::plan::{Plan, Target};
use super::reader::Cell;
use super::titles::{Titles, elements};

/// The forms of a time without an offset, as programs write it.
const LOCAL_FORMS: [&str; 4] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];

/// Reads the cells of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellReader<'a> {
    pub catalog: &'a Catalog,
    pub plan: &'a Plan<'a>,
    pub titles: &'a Titles,
    /// The panel's labels of choices.
    pub labels: Option<&'a ImportLabels>,
    /// The company's time zone, for times without an offset.
    pub zone: Tz,
}

/// A row as a body.
#[derive(Debug, Default)]
pub(super) struct RowBody {
    /// A JSON object.
    pub json: String,
    /// The parent of a new record.
    pub parent: Option<i64>,
    pub errors: FieldErrors,
}

impl CellReader<'_> {
    /// The body of a row. An empty cell is left out of a create, which applies the default. In an update it clears a
    /// field that may be null, and leaves any other as it is.
    pub(super) fn body(self, cells: &[Cell], is_update: bool) -> RowBody {
        let (mut body, mut fields, mut custom) = (RowBody::default(), Map::new(), Map::new());
        let mut nested: Vec<(&str, &str)> = Vec::new();
        for (target, cell) in self.plan.targets.iter().zip(cells) {
            match (target, cell) {
                (Target::Ignored | Target::Id, _) => {}
                (Target::Custom(name), Cell::Empty) => {
                    if is_update {
                        custom.insert(name.clone(), Value::from(""));
                    }
                }
                (Target::Custom(name), Cell::Text(text) | Cell::Json(text)) => {
                    custom.insert(name.clone(), Value::from(text.as_str()));
                }
                (Target::Field(field) | Target::Parent(field), Cell::Empty) => {
                    let is_list =
                        matches!(field.kind, Kind::StringList { .. } | Kind::RefList { .. } | Kind::Links { .. });
                    if is_update && (field.nullable || is_list) {
                        fields.insert(field.name.into(), Value::from(""));
                    }
                }
                (Target::Field(field) | Target::Parent(field), Cell::Text(text) | Cell::Json(text)) => {
                    match self.value(field, text) {
                        Ok(Read::Value(value)) => {
                            if let (Target::Parent(_), Value::String(id)) = (target, &value) {
                                body.parent = id.trim().parse().ok();
                            }
                            // A field that is not part of a body is set by the path alone.
                            if field.access != Access::Internal {
                                fields.insert(field.name.into(), value);
                            }
                        }
                        Ok(Read::Json) => nested.push((field.name, text)),
                        Err(problem) => body.errors.add(field.name, problem),
                    }
                }
            }
        }
        if let Some(under) = self
            .plan
            .entry
            .meta
            .under
            .filter(|under| !is_update && body.parent.is_none() && !body.errors.contains(under.field))
        {
            body.errors.add(under.field, "is required");
        }
        if !custom.is_empty() {
            fields.insert("custom_fields".into(), custom.into());
        }
        body.json = Value::Object(fields).to_string();
        // JSON is passed on as it is written: its numbers keep their digits.
        for (name, json) in nested {
            body.json.pop();
            let comma = if body.json.len() > 1 { "," } else { "" };
            body.json.push_str(&format!("{comma}{}:{json}}}", Value::from(name)));
        }
        body
    }

    /// The value with this label; any other text as it is.
    fn labelled(self, field: &FieldMeta, text: &str) -> String {
        self.labels.and_then(|labels| labels.value(self.plan.entry, field, text)).unwrap_or(text).to_string()
    }

    fn value(self, field: &FieldMeta, text: &str) -> Result<Read, String> {
        let is_json = || text.trim_start().starts_with(['[', '{']) && serde_json::from_str::<&RawValue>(text).is_ok();
        Ok(Read::Value(match field.kind {
            Kind::Ref { resource } => self.titles.id(self.catalog.linked(resource), text)?.into(),
            Kind::RefList { .. }
            | Kind::Links { .. }
            | Kind::StringList { .. }
            | Kind::Json
            | Kind::CustomFields
            | Kind::Embedded { .. }
                if is_json() =>
            {
                return Ok(Read::Json);
            }
            Kind::RefList { resource } | Kind::Links { resource, .. } => {
                let target = self.catalog.linked(resource);
                let ids = elements(text).map(|element| self.titles.id(target, element).map(Value::from));
                ids.collect::<Result<Vec<Value>, String>>()?.into()
            }
            Kind::StringList { .. } => elements(text).map(Value::from).collect::<Vec<Value>>().into(),
            Kind::Timestamp { .. } => match local_time(text) {
                Some(time) => with_offset(time, self.zone)?.into(),
                None => text.into(),
            },
            Kind::Code { values } => {
                let is_label = |label: &str| label.eq_ignore_ascii_case(text.trim());
                match values.iter().find(|(_, label)| is_label(label)) {
                    Some((code, _)) => code.to_string().into(),
                    None => self.labelled(field, text).into(),
                }
            }
            // A value is meant before a label is.
            Kind::Enum { values } if values.contains(&text.trim()) => text.into(),
            Kind::Enum { .. } | Kind::Boolean => self.labelled(field, text).into(),
            _ => text.into(),
        }))
    }
}

/// A value that was read from a cell.
enum Read {
    Value(Value),
    /// The cell is JSON.
    Json,
}

/// A date or a time without an offset.
fn local_time(text: &str) -> Option<NaiveDateTime> {
    let text = text.trim();
    let date = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    LOCAL_FORMS.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()).or_else(date)
}

/// A local time with the offset of its zone, the earlier one if the clocks were set back.
fn with_offset(time: NaiveDateTime, zone: Tz) -> Result<String, String> {
    match zone.from_local_datetime(&time) {
        LocalResult::Single(time) | LocalResult::Ambiguous(time, _) => {
            Ok(time.to_utc().to_rfc3339_opts(SecondsFormat::AutoSi, true))
        }
        LocalResult::None => Err(format!("does not exist in {zone}, where the clocks are set forward then")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_an_offset_is_in_the_companys_zone() {
        let zone = Tz::Europe__Berlin;
        let read = |text: &str| local_time(text).map(|time| with_offset(time, zone));
        assert_eq!(read("2026-07-01T10:00:00"), Some(Ok("2026-07-01T08:00:00Z".into())));
        assert_eq!(read("2026-01-01 10:00"), Some(Ok("2026-01-01T09:00:00Z".into())));
        assert_eq!(read("2026-01-02"), Some(Ok("2026-01-01T23:00:00Z".into())));
        assert_eq!(read("2026-10-25 02:30"), Some(Ok("2026-10-25T00:30:00Z".into())));
        assert!(read("2026-03-29 02:30").unwrap().is_err());
        assert_eq!(read("2026-01-01T10:00:00Z"), None);
        assert_eq!(read("tomorrow"), None);
    }
}
