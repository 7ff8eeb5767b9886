//! What a write will store: the values by field, beside the row as it was; and the typed view of it that hooks get.

use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use rust_decimal::Decimal;
use sea_orm::{ActiveModelTrait, ActiveValue, EntityTrait, FromQueryResult, IntoActiveModel, QueryResult, Value};
use uuid::Uuid;

use super::embedded::EmbeddedSet;
use super::null;
use crate::error::{Error, FieldErrors, Result};
use crate::meta::{FieldMeta, Kind, ResourceMeta};
use crate::record::{Cell, write_text};
use crate::resource::{ActionEvent, Resource};

/// The values that a write sets, in the order of the resource's fields; `None` leaves a column as it is.
#[derive(Debug)]
pub struct Changes {
    pub meta: &'static ResourceMeta,
    /// The stored row with every column; `None` when the record is new.
    pub before: Option<Arc<QueryResult>>,
    values: Vec<Option<Value>>,
    pub errors: FieldErrors,
    /// What was given as it is stored already: nothing to write, but a behaviour is to see that it was given.
    resent: Vec<&'static str>,
    /// Secrets that the answer of this write shows, this once.
    pub revealed: Vec<(&'static str, String)>,
    /// What a behaviour has the write emit beside its own event.
    pub emitted: Vec<&'static str>,
    /// The embedded records that are given, by field.
    pub embedded: Vec<EmbeddedSet>,
}

impl Changes {
    pub fn new(meta: &'static ResourceMeta, before: Option<Arc<QueryResult>>) -> Changes {
        let values = vec![None; meta.fields.len()];
        let errors = FieldErrors::default();
        let (resent, revealed, emitted, embedded) = Default::default();
        Changes { meta, before, values, errors, resent, revealed, emitted, embedded }
    }

    pub fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Sets a column.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Some(position) = self.meta.fields.iter().position(|f| f.name == name) {
            self.values[position] = Some(value);
        }
    }

    /// The new value of a column, if it is given one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.at(self.meta.fields.iter().position(|f| f.name == name)?)
    }

    /// The new value of the column of a field, by the field's place among all, if it is given one.
    pub fn at(&self, field: usize) -> Option<&Value> {
        self.values[field].as_ref()
    }

    /// Every field, with the new value of its column if it is given one.
    pub fn all(&self) -> impl Iterator<Item = (&'static FieldMeta, Option<&Value>)> {
        self.meta.fields.iter().zip(self.values.iter().map(Option::as_ref))
    }

    /// Every column that is given a value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static FieldMeta, &Value)> {
        self.all().filter_map(|(field, value)| Some((field, value?)))
    }

    /// The new value of each field's column, in the order of the fields.
    pub fn values(&self) -> &[Option<Value>] {
        &self.values
    }

    /// The columns that have another new value than these, and that the stored row has another value of.
    pub fn differing(&self, before: &[Option<Value>]) -> Vec<(&'static FieldMeta, Value)> {
        let differs = |field: &FieldMeta, value: &Value| match &self.before {
            Some(row) => stored(row, field).ok().flatten().as_ref() != Some(value),
            None => true,
        };
        let set = self.meta.fields.iter().zip(&self.values).zip(before).filter(|((_, now), before)| now != before);
        let set = set.filter_map(|((field, now), _)| Some((field, now.clone()?)));
        set.filter(|(field, value)| differs(field, value)).collect()
    }

    /// Whether storing it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.values.iter().all(Option::is_none) && self.embedded.iter().all(EmbeddedSet::is_unchanged)
    }

    /// Leaves a column as it is after all, because it was given the value that it has.
    pub fn unset(&mut self, name: &'static str) {
        if let Some(position) = self.meta.fields.iter().position(|f| f.name == name) {
            self.values[position] = None;
            self.resent.push(name);
        }
    }

    /// Makes of the changes to a stored row a new row that holds all of it, the id included.
    pub fn restate(&mut self) -> Result<()> {
        for field in self.meta.fields.iter().filter(|f| f.is_column()) {
            let value = self.current(field.name)?.unwrap_or_else(|| null(field.kind));
            self.set(field.name, value);
        }
        self.before = None;
        Ok(())
    }

    /// Adds the revealed secrets to a record that is about to be answered.
    pub fn reveal_in(&self, record: &mut Vec<u8>) {
        for (name, secret) in &self.revealed {
            record.pop();
            record.push(b',');
            write_text(record, name);
            record.push(b':');
            write_text(record, secret);
            record.push(b'}');
        }
    }

    /// The value that a column will have once the changes are stored; `None` for null.
    pub fn current(&self, name: &str) -> Result<Option<Value>> {
        if let Some(value) = self.get(name) {
            return Ok((value != &value.as_null()).then(|| value.clone()));
        }
        let field = self.meta.fields.iter().find(|f| f.name == name);
        match (&self.before, field) {
            (Some(row), Some(field)) => stored(row, field),
            _ => Ok(None),
        }
    }

    /// The typed view that a behaviour reads and changes.
    pub fn draft<R>(&mut self) -> Result<Draft<R>>
    where
        R: Resource,
        R::Model: IntoActiveModel<R::ActiveModel> + Clone,
    {
        let before = self.before.as_deref().map(model::<R>).transpose()?;
        let mut typed = match &before {
            Some(model) => model.clone().into_active_model(),
            None => <R::ActiveModel as ActiveModelTrait>::default(),
        };
        for name in &self.resent {
            let column = column::<R>(name)?;
            if let Some(value) = typed.get(column).into_value() {
                typed.set(column, value);
            }
        }
        for (field, value) in self.iter() {
            typed.set(column::<R>(field.name)?, value.clone());
        }
        Ok(Draft { model: typed, before, errors: FieldErrors::default(), revealed: Vec::new(), emitted: Vec::new() })
    }

    /// Takes back what a behaviour made of the typed view.
    pub fn take<R: Resource>(&mut self, draft: Draft<R>) -> Result<()> {
        for (position, field) in self.meta.fields.iter().enumerate() {
            if field.is_column()
                && field.name != "id"
                && let ActiveValue::Set(value) = draft.model.get(column::<R>(field.name)?)
            {
                self.values[position] = Some(value);
            }
        }
        self.errors.merge(draft.errors);
        self.revealed.extend(draft.revealed);
        self.emitted.extend(draft.emitted);
        Ok(())
    }
}

/// A record about to be written, as a behaviour sees it: SeaORM's active model, and the record as it was.
pub struct Draft<R: EntityTrait> {
    /// What will be stored. `Set` is what the request gives and, in a new record, every default: `Set(None)` where a field may
    /// be null. `Unchanged` is what stays. `NotSet` is left to the hook (`default: hook`), or was refused; in the draft of an
    /// action that makes a record everything is, until the action sets it.
    pub model: R::ActiveModel,
    /// The stored record; `None` when it is new.
    pub before: Option<R::Model>,
    errors: FieldErrors,
    revealed: Vec<(&'static str, String)>,
    emitted: Vec<&'static str>,
}

impl<R: EntityTrait> Draft<R> {
    /// Shows a secret in the answer of this write, and never again: no event and no log holds it.
    pub fn reveal(&mut self, name: &'static str, secret: &str) {
        self.revealed.push((name, secret.to_string()));
    }

    /// Refuses the write with a problem under a field. The message completes "this value ...".
    pub fn error(&mut self, field: &str, message: impl Into<String>) {
        self.errors.add(field, message);
    }
}

impl<R: Resource> Draft<R> {
    /// Emits `<name>.<event>` too, if the write changes anything: the event of an action that this write amounts to.
    pub fn emit(&mut self, event: R::Event) {
        self.emitted.push(event.name());
    }
}

/// The stored value of a column of a row that was read with every column; `None` for null.
pub fn stored(row: &QueryResult, field: &FieldMeta) -> Result<Option<Value>> {
    let name = field.name;
    Ok(match field.kind {
        Kind::Integer | Kind::Code { .. } => row.try_get::<Option<i32>>("", name)?.map(Value::from),
        Kind::BigInt | Kind::Ref { .. } | Kind::PolymorphicRef { .. } => {
            row.try_get::<Option<i64>>("", name)?.map(Value::from)
        }
        Kind::Boolean => row.try_get::<Option<bool>>("", name)?.map(Value::from),
        Kind::Decimal { places, .. } => {
            let scaled = Cell::named(row, name)?.scaled(u32::from(places))?;
            scaled.map(|n| Decimal::from_i128_with_scale(i128::from(n), u32::from(places)).into())
        }
        Kind::Timestamp { .. } => row.try_get::<Option<DateTime<Utc>>>("", name)?.map(Value::from),
        Kind::Date => row.try_get::<Option<NaiveDate>>("", name)?.map(Value::from),
        Kind::Uuid => row.try_get::<Option<Uuid>>("", name)?.map(Value::from),
        Kind::StringList { .. } | Kind::RefList { .. } | Kind::Json | Kind::CustomFields => {
            row.try_get::<Option<serde_json::Value>>("", name)?.map(Value::from)
        }
        Kind::String { .. } | Kind::Text | Kind::Enum { .. } | Kind::PolymorphicType { .. } => {
            row.try_get::<Option<String>>("", name)?.map(Value::from)
        }
        Kind::Derived { .. } | Kind::Embedded { .. } | Kind::Computed { .. } => None,
    })
}

/// A row with every column as the typed model.
pub fn model<R: Resource>(row: &QueryResult) -> Result<R::Model> {
    R::Model::from_query_result(row, "").map_err(Error::internal)
}

fn column<R: Resource>(name: &str) -> Result<R::Column> {
    R::Column::from_str(name).map_err(|_| Error::internal(format!("`{name}` is not a column of {}", R::meta().name)))
}
