//! What is made the same in many records: a field or a custom field, its input, and how the API is told of it.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::cell::{self, Room};
use super::input::{self, Given};
use super::place::Place;
use super::title::Titles;
use super::visit::Visit;
use super::{choice, sent, words};
use crate::custom_field::{self, CustomFieldType, Definition};
use crate::error::{FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, Rule};
use crate::ops;
use crate::query::{Pair, read_value};

/// One field of many records.
pub enum Change {
    Field(&'static FieldMeta),
    Custom(Definition),
}

/// All that can be the same for many records of a place.
///
/// # Errors
/// When the database fails.
pub async fn all(visit: &Visit<'_>, place: &Place<'_>) -> Result<Vec<Change>> {
    let fits = |field: &&FieldMeta| {
        sent::is_given(visit, &place.of(0), field)
            && !matches!(field.kind, Kind::Embedded { .. } | Kind::CustomFields | Kind::Json)
            // The id of one type is somebody else's under another.
            && !matches!(field.kind, Kind::PolymorphicType { .. } | Kind::PolymorphicRef { .. })
    };
    let mut changes: Vec<Change> = place.entry.meta.fields.iter().filter(fits).map(Change::Field).collect();
    if place.entry.meta.custom_fields {
        let definitions = custom_field::load(visit.state.db.reader(), place.entry.meta.plural).await?;
        let is_known = |one: &Definition| CustomFieldType::from_name(&one.field_type).is_some();
        changes.extend(definitions.into_iter().filter(is_known).map(Change::Custom));
    }
    Ok(changes)
}

impl Change {
    /// As the API calls it where it tells of problems: `weight`, `custom_fields.power`.
    pub fn name(&self) -> String {
        match self {
            Change::Field(field) => field.name.into(),
            Change::Custom(definition) => format!("custom_fields.{}", definition.name),
        }
    }

    pub fn label(&self) -> String {
        match self {
            Change::Field(field) => words::field(field),
            Change::Custom(definition) => definition.label.clone(),
        }
    }

    /// Whether it may be nothing.
    pub fn clearable(&self) -> bool {
        match self {
            Change::Field(field) => field.nullable,
            Change::Custom(definition) => !definition.required,
        }
    }

    /// What the preview has to know the titles of.
    pub fn field(&self) -> Option<&'static FieldMeta> {
        match self {
            Change::Field(field) => Some(field),
            Change::Custom(_) => None,
        }
    }

    /// The input of its new value, as the form of a record has it.
    pub fn input(&self, visit: &Visit<'_>, place: &Place<'_>, value: &Value, invalid: bool) -> Markup {
        let (kind, rules, choices): (Kind, &[Rule], _) = match self {
            Change::Field(field) => (field.kind, field.rules, choice::of_field(visit, place.entry, field)),
            Change::Custom(definition) => {
                let (kind, choices) = choice::of_custom(&visit.state.catalog, definition).unwrap_or((Kind::Text, None));
                (kind, &[], choices)
            }
        };
        let titles = Titles::default();
        let given = Given {
            id: "value".into(),
            name: sent::bracketed(&self.name()),
            required: false,
            clearable: self.clearable(),
            value,
            choices,
            described: invalid.then(|| "value-error".into()),
            invalid,
            titles: &titles,
            search: input::places(visit, self.field()),
            shown: None,
            widget: None,
        };
        input::of(visit, kind, rules, &given)
    }

    /// Whether an input of this name is a part of its value.
    pub fn has_input(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&sent::bracketed(&self.name()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    }

    /// The value that a form gives it.
    ///
    /// # Errors
    /// When the names of the form contradict each other.
    pub fn value(&self, visit: &Visit<'_>, place: &Place<'_>, form: &[Pair]) -> Result<Value> {
        let pairs: Vec<Pair> = form.iter().filter(|pair| pair.name != "id").cloned().collect();
        let (catalog, fields) = (&visit.state.catalog, place.entry.meta.fields);
        let definitions = match self {
            Change::Field(_) => &[],
            Change::Custom(definition) => std::slice::from_ref(definition),
        };
        let mut record = sent::read(catalog, fields, definitions, visit.locale.zone, &pairs, false)?;
        let value = match self {
            Change::Field(field) => record.get_mut(field.name),
            Change::Custom(definition) => {
                record.get_mut("custom_fields").and_then(|custom| custom.get_mut(&definition.name))
            }
        };
        Ok(value.map(Value::take).unwrap_or_default())
    }

    /// The part of a record that has this value.
    pub fn part(&self, value: Value) -> Value {
        match self {
            Change::Field(field) => json!({ field.name: value }),
            Change::Custom(definition) => json!({ "custom_fields": { definition.name.as_str(): value } }),
        }
    }

    /// What records will have of a form's value, or why none of them can have it.
    ///
    /// # Errors
    /// The problem, in the API's words.
    pub fn foreseen(&self, value: &Value) -> std::result::Result<Value, String> {
        let text = value.as_str().unwrap_or_default();
        match self {
            Change::Field(field) => {
                if !text.is_empty() {
                    read_value(field.kind, text)?;
                }
                Ok(sent::as_shown(field.kind, value))
            }
            Change::Custom(definition) => {
                let given = [(definition.name.clone(), ops::RawJson::Text(text.into()))];
                let (one, mut errors) = (std::slice::from_ref(definition), FieldErrors::default());
                let mut merged = custom_field::merge(Map::new(), &given, one, false, &mut errors);
                match errors.is_empty() {
                    true => Ok(merged.remove(&definition.name).unwrap_or_default()),
                    false => Err(errors.messages(&self.name())),
                }
            }
        }
    }

    /// What a record has of it.
    pub fn cell(&self, visit: &Visit<'_>, place: &Place<'_>, record: &Value, titles: &Titles) -> Markup {
        match self {
            Change::Field(field) => cell::of(visit, place.entry, field, record, titles, Room::Table),
            Change::Custom(definition) => {
                let value = &record["custom_fields"][definition.name.as_str()];
                cell::custom(visit, Some(definition), value, Room::Table)
            }
        }
    }

    /// The field and its new value, as the form before had them.
    pub fn again(&self, form: &[Pair]) -> Markup {
        html! {
            input type="hidden" name="_field" value=(self.name());
            @for pair in form.iter().filter(|pair| self.has_input(&pair.name)) { input type="hidden" name=(pair.name) value=(pair.value); }
        }
    }
}
