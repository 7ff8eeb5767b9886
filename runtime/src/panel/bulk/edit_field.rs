//! A field or custom field that a bulk edit sets: its input, validation, and the patch for the API.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::panel::display_name::DisplayNames;
use crate::panel::format::labels;
use crate::panel::format::number_input;
use crate::panel::format::value::{self, Placement};
use crate::panel::record::field_error::{FieldError, RefusedValue};
use crate::panel::record::form_snapshot::{self, FormSnapshot};
use crate::panel::record::input::{self, InputOptions};
use crate::panel::record::{choices, form_decode};
use crate::panel::request::PanelRequest;
use crate::panel::target::Target;
use charter_core::custom_field::{self, CustomFieldType, Definition};
use charter_core::error::{FieldErrors, Result};
use charter_core::meta::{FieldMeta, Kind, Rule};
use charter_core::ops;
use charter_core::ops::input::custom_fields::merge;
use charter_core::query::{Pair, read_value};

pub(crate) enum EditableField {
    Field(&'static FieldMeta),
    Custom(Definition),
}

/// The fields that a bulk edit can set.
///
/// # Errors
/// When the database fails.
pub(super) async fn editable_fields(request: &PanelRequest<'_>, target: &Target<'_>) -> Result<Vec<EditableField>> {
    let fits = |field: &&FieldMeta| {
        form_decode::is_editable(request, &target.record(0), field)
            && !matches!(field.kind, Kind::Embedded { .. } | Kind::CustomFields | Kind::Json)
            // An id without its type is ambiguous.
            && !matches!(field.kind, Kind::PolymorphicType { .. } | Kind::PolymorphicRef { .. })
    };
    let mut fields: Vec<EditableField> =
        target.entry.meta.fields.iter().filter(fits).map(EditableField::Field).collect();
    if target.entry.meta.custom_fields {
        let definitions = custom_field::load(request.state.db.reader(), target.entry.meta.plural).await?;
        let is_known = |one: &Definition| CustomFieldType::from_name(&one.field_type).is_some();
        fields.extend(definitions.into_iter().filter(is_known).map(EditableField::Custom));
    }
    Ok(fields)
}

impl EditableField {
    /// The name in the API's errors: `weight`, `custom_fields.power`.
    pub(crate) fn name(&self) -> String {
        match self {
            EditableField::Field(field) => field.name.into(),
            EditableField::Custom(definition) => format!("custom_fields.{}", definition.name),
        }
    }

    pub(crate) fn label(&self) -> String {
        match self {
            EditableField::Field(field) => labels::field(field),
            EditableField::Custom(definition) => definition.label.clone(),
        }
    }

    pub(crate) fn is_clearable(&self) -> bool {
        match self {
            EditableField::Field(field) => field.nullable,
            EditableField::Custom(definition) => !definition.required,
        }
    }

    /// The declared field; `None` for a custom field.
    pub(crate) fn declared(&self) -> Option<&'static FieldMeta> {
        match self {
            EditableField::Field(field) => Some(field),
            EditableField::Custom(_) => None,
        }
    }

    /// The input of the new value.
    pub(crate) fn render_input(
        &self,
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        value: &Value,
        invalid: bool,
    ) -> Markup {
        let (kind, rules, choices): (Kind, &[Rule], _) = match self {
            EditableField::Field(field) => (field.kind, field.rules, choices::for_field(request, target.entry, field)),
            EditableField::Custom(definition) => {
                let (kind, choices) =
                    choices::for_custom_field(&request.state.catalog, definition).unwrap_or((Kind::Text, None));
                (kind, &[], choices)
            }
        };
        let display_names = DisplayNames::default();
        let options = InputOptions {
            id: "value".into(),
            name: form_decode::input_name(&self.name()),
            required: false,
            clearable: self.is_clearable(),
            value,
            choices,
            described_by: invalid.then(|| "value-error".into()),
            invalid,
            display_names: &display_names,
            suggestion_url: input::input_suggestion_url(request, self.declared()),
            referenced_name: None,
            display: None,
        };
        html! { (FormSnapshot::of_locale(&request.locale).render()) (input::render(request, kind, rules, &options)) }
    }

    /// Returns true if an input with this name belongs to the field.
    fn has_input(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&form_decode::input_name(&self.name()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    }

    /// Decodes the value from a form.
    ///
    /// # Errors
    /// If the names of the form contradict each other.
    pub(crate) fn decode(&self, request: &PanelRequest<'_>, target: &Target<'_>, form: &[Pair]) -> Result<Value> {
        let pairs: Vec<Pair> = form.iter().filter(|pair| pair.name != "id").cloned().collect();
        let (catalog, fields) = (&request.state.catalog, target.entry.meta.fields);
        let definitions = match self {
            EditableField::Field(_) => &[],
            EditableField::Custom(definition) => std::slice::from_ref(definition),
        };
        let snapshot = FormSnapshot::parse(form, &request.locale)?;
        let mut record = form_decode::decode(catalog, fields, definitions, &snapshot, &pairs, false)?;
        let value = match self {
            EditableField::Field(field) => record.get_mut(field.name),
            EditableField::Custom(definition) => {
                record.get_mut("custom_fields").and_then(|custom| custom.get_mut(&definition.name))
            }
        };
        Ok(value.map(Value::take).unwrap_or_default())
    }

    /// The API's partial record with this value.
    pub(crate) fn patch(&self, value: Value) -> Value {
        match self {
            EditableField::Field(field) => json!({ field.name: value }),
            EditableField::Custom(definition) => json!({ "custom_fields": { definition.name.as_str(): value } }),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            EditableField::Field(field) => field.kind,
            EditableField::Custom(definition) => {
                CustomFieldType::from_name(&definition.field_type).map_or(Kind::Text, CustomFieldType::kind)
            }
        }
    }

    /// The value as the API will return it.
    ///
    /// # Errors
    /// The message, if no record can have the value.
    pub(crate) fn validate(
        &self,
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        value: &Value,
    ) -> std::result::Result<Value, String> {
        let text = value.as_str().unwrap_or_default();
        let refused =
            RefusedValue { fields: target.entry.meta.fields, field: self.declared(), kind: self.kind(), value };
        let error = |message: String| {
            FieldError::of(request, &refused, &DisplayNames::default(), &[message]).at_input(&self.label())
        };
        if number_input::unreadable_text(self.kind(), value).is_some() {
            return Err(error(String::new()));
        }
        match self {
            EditableField::Field(field) => {
                if !text.is_empty() {
                    read_value(field.kind, text).map_err(error)?;
                }
                Ok(form_decode::to_api_value(field.kind, value))
            }
            EditableField::Custom(definition) => {
                let entered = [(definition.name.clone(), ops::RawJson::Text(text.into()))];
                let (one, mut errors) = (std::slice::from_ref(definition), FieldErrors::default());
                let mut merged = merge(Map::new(), &entered, one, false, &mut errors);
                match errors.is_empty() {
                    true => Ok(merged.remove(&definition.name).unwrap_or_default()),
                    false => Err(error(errors.messages(&self.name()))),
                }
            }
        }
    }

    /// The value of a record.
    pub(crate) fn render_value(
        &self,
        request: &PanelRequest<'_>,
        target: &Target<'_>,
        record: &Value,
        display_names: &DisplayNames,
    ) -> Markup {
        match self {
            EditableField::Field(field) => {
                value::render_field(request, target.entry, field, record, display_names, Placement::Table)
            }
            EditableField::Custom(definition) => {
                let value = &record["custom_fields"][definition.name.as_str()];
                value::render_custom_field(request, Some(definition), value, Placement::Table)
            }
        }
    }

    /// The field and its new value as hidden inputs.
    pub(crate) fn value_inputs(&self, form: &[Pair]) -> Markup {
        let is_sent = |pair: &&Pair| self.has_input(&pair.name) || pair.name == form_snapshot::INPUT;
        html! {
            input type="hidden" name="_field" value=(self.name());
            @for pair in form.iter().filter(is_sent) { input type="hidden" name=(pair.name) value=(pair.value); }
        }
    }
}
