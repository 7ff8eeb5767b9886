//! Changeset of a write: the new values by field with the stored row, and the typed view of it for hooks.

use std::str::FromStr;
use std::sync::Arc;

use charter_model::Storage;
use rust_decimal::Decimal;
use sea_orm::{
    ActiveModelTrait, ActiveValue, EntityTrait, FromQueryResult, IdenStatic, IntoActiveModel, ModelTrait, QueryResult,
    Value,
};

use super::embedded::{self, EmbeddedSet};
use crate::error::{Error, FieldErrors, Result};
use crate::field_type::{codec, null};
use crate::meta::{FieldMeta, Kind, ResourceMeta};
use crate::ops::Context;
use crate::record::{Cell, write_text};
use crate::resource::{Resource, ResourceEvent};

/// New values of a write, in the order of the resource's fields. `None` leaves a column unchanged.
#[derive(Debug)]
pub struct Changes {
    pub meta: &'static ResourceMeta,
    /// The stored row with every column; `None` for a new record.
    pub before: Option<Arc<QueryResult>>,
    values: Vec<Option<Value>>,
    pub errors: FieldErrors,
    /// Fields that the request sent with their stored value. Nothing is written, but hooks see that the client sent
    /// them.
    resent: Vec<&'static str>,
    /// Fields that the request sets and the caller may not read. They count as changed, because the difference between a change and
    /// none would tell the stored value.
    unread: Vec<&'static str>,
    /// Secrets that only the response to this write contains.
    pub revealed: Vec<(&'static str, String)>,
    /// Events that a hook adds to the write's own.
    pub emitted: Vec<&'static str>,
    /// Fields whose old values the audit log must not keep.
    concealed: Vec<&'static str>,
    /// The embedded records of the body, by field.
    pub embedded: Vec<EmbeddedSet>,
}

impl Changes {
    pub fn new(meta: &'static ResourceMeta, before: Option<Arc<QueryResult>>) -> Changes {
        let values = vec![None; meta.fields.len()];
        let errors = FieldErrors::default();
        let (resent, unread, revealed, emitted, concealed, embedded) = Default::default();
        Changes { meta, before, values, errors, resent, unread, revealed, emitted, concealed, embedded }
    }

    pub fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Keeps the values that a body sets to fields which the caller may not read, also if they equal the stored ones.
    pub(in crate::ops) fn keep_unread(&mut self, may_read: impl Fn(&'static FieldMeta) -> bool) {
        self.unread = self.iter().filter(|(field, _)| !may_read(field)).map(|(field, _)| field.name).collect();
    }

    /// True if a value counts as a change although it may equal the stored one.
    pub(in crate::ops) fn is_unread(&self, field: &FieldMeta) -> bool {
        self.unread.contains(&field.name)
    }

    /// True if the audit log must not keep the old value of a field.
    pub fn conceals(&self, name: &str) -> bool {
        self.concealed.contains(&name)
    }

    /// Sets the new value of a column.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Some(position) = self.meta.fields.iter().position(|f| f.name == name) {
            self.values[position] = Some(value);
        }
    }

    /// The new value of a column.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.at(self.meta.fields.iter().position(|f| f.name == name)?)
    }

    /// The new value of a column, by the position of its field.
    pub fn at(&self, field: usize) -> Option<&Value> {
        self.values[field].as_ref()
    }

    /// All fields, with the new values of their columns.
    pub fn all(&self) -> impl Iterator<Item = (&'static FieldMeta, Option<&Value>)> {
        self.meta.fields.iter().zip(self.values.iter().map(Option::as_ref))
    }

    /// The columns with a new value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static FieldMeta, &Value)> {
        self.all().filter_map(|(field, value)| Some((field, value?)))
    }

    /// The new values, in the order of the fields.
    pub fn values(&self) -> &[Option<Value>] {
        &self.values
    }

    /// The columns whose new value differs from that in `before` and from the stored row.
    pub fn differing(&self, before: &[Option<Value>]) -> Vec<(&'static FieldMeta, Value)> {
        let differs = |field: &FieldMeta, value: &Value| match &self.before {
            Some(row) => stored(row, field).ok().flatten().as_ref() != Some(value),
            None => true,
        };
        let new = self.meta.fields.iter().zip(&self.values).zip(before).filter(|((_, now), before)| now != before);
        let new = new.filter_map(|((field, now), _)| Some((field, now.clone()?)));
        new.filter(|(field, value)| differs(field, value)).collect()
    }

    /// True if the write changes nothing.
    pub fn is_empty(&self) -> bool {
        self.values.iter().all(Option::is_none) && self.embedded.iter().all(EmbeddedSet::is_unchanged)
    }

    /// Takes the values of rollups back that a hook set: triggers alone change them. A new record has their defaults.
    pub fn leave_rollups(&mut self) {
        let is_new = self.is_new();
        for (field, value) in self.meta.fields.iter().zip(&mut self.values) {
            match (field.rollup, field.kind) {
                (None, _) => {}
                (Some(_), _) if !is_new => *value = None,
                (Some(_), kind) if field.nullable => *value = Some(null(kind)),
                (Some(_), Kind::Decimal { .. }) => *value = Some(Decimal::ZERO.into()),
                (Some(_), _) => *value = Some(0_i64.into()),
            }
        }
    }

    /// Drops the new value of a column, because it is the stored one.
    pub fn unset(&mut self, name: &'static str) {
        if let Some(position) = self.meta.fields.iter().position(|f| f.name == name) {
            self.values[position] = None;
            self.resent.push(name);
        }
    }

    /// Turns the changes to a stored row into a complete new row, with its id.
    pub fn complete_row(&mut self) -> Result<()> {
        for field in self.meta.fields.iter().filter(|f| f.is_column()) {
            let value = self.current(field.name)?.unwrap_or_else(|| null(field.kind));
            self.set(field.name, value);
        }
        self.before = None;
        Ok(())
    }

    /// Adds the revealed secrets to the JSON of a record.
    pub fn add_secrets_to(&self, record: &mut Vec<u8>) {
        for (name, secret) in &self.revealed {
            record.pop();
            record.push(b',');
            write_text(record, name);
            record.push(b':');
            write_text(record, secret);
            record.push(b'}');
        }
    }

    /// The value of a column after the write; `None` for null.
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

    /// The typed view for a hook.
    pub fn draft<R: Resource>(&mut self) -> Result<Draft<R>> {
        let draft = self.view()?;
        Ok(Draft { embedded: std::mem::take(&mut self.embedded), ..draft })
    }

    /// The same without the embedded records.
    pub fn view<R: Resource>(&self) -> Result<Draft<R>> {
        let before = self.before.as_deref().map(model::<R>).transpose()?;
        let mut typed = match &before {
            Some(model) => model.clone().into_active_model(),
            None => <R::ActiveModel as ActiveModelTrait>::default(),
        };
        for name in &self.resent {
            let column = column::<R>(name)?;
            if let Some(value) = typed.get(column).into_value() {
                typed.try_set(column, value)?;
            }
        }
        for (field, value) in self.iter() {
            typed.try_set(column::<R>(field.name)?, value.clone())?;
        }
        // An embedded record is drafted once for each hook.
        Ok(Draft { model: typed, before, concealed: self.concealed.clone(), ..Draft::default() })
    }

    /// Takes over the changes that a hook made to the typed view.
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
        self.concealed.extend(draft.concealed);
        self.embedded = draft.embedded;
        Ok(())
    }
}

/// A record to write, as a hook sees it: SeaORM's active model, and the stored record.
pub struct Draft<R: EntityTrait> {
    /// The values to store. `Set` is a value of the request or, in a new record, a default: `Set(None)` for a nullable
    /// field. `Unchanged` is a stored value. `NotSet` is left to the hook (`default: hook`), or was refused. In the
    /// draft of an action that creates a record, every field is `NotSet` until the action sets it.
    pub model: R::ActiveModel,
    /// The stored record; `None` for a new one.
    pub before: Option<R::Model>,
    embedded: Vec<EmbeddedSet>,
    errors: FieldErrors,
    revealed: Vec<(&'static str, String)>,
    emitted: Vec<&'static str>,
    concealed: Vec<&'static str>,
}

impl<R: EntityTrait> Default for Draft<R> {
    /// A new record without values.
    fn default() -> Draft<R> {
        let (embedded, errors, revealed, emitted, concealed) = Default::default();
        let model = <R::ActiveModel as ActiveModelTrait>::default();
        Draft { model, before: None, embedded, errors, revealed, emitted, concealed }
    }
}

impl<R: EntityTrait> Draft<R> {
    /// Keeps the old value of a field out of the audit entry of this write, because a person is erased.
    pub fn conceal(&mut self, field: R::Column) {
        self.concealed.push(field.as_str());
    }

    /// Adds a secret to the response of this write. No event and no log contains it.
    pub fn reveal(&mut self, name: &'static str, secret: &str) {
        self.revealed.push((name, secret.to_string()));
    }

    /// Refuses the write with an error on a field. The message completes "this value ...".
    pub fn error(&mut self, field: R::Column, message: impl Into<String>) {
        self.errors.add(field.as_str(), message);
    }

    /// Refuses the write with an error on a part of the record that is no column: `lines.0.quantity`.
    pub fn error_at(&mut self, path: &str, message: impl Into<String>) {
        self.errors.add(path, message);
    }
}

impl<R: Resource> Draft<R> {
    /// The embedded records of the resource `C` after the write, in the order of the request. Without a list in the request,
    /// these are the stored ones.
    ///
    /// # Errors
    /// [`Error::Internal`] if the record embeds no records of `C`; those of the database.
    pub async fn embedded<C: Resource>(&self, context: &Context<'_>) -> Result<Vec<Draft<C>>> {
        let field = embedded::field_of(R::meta(), C::meta())?;
        if let Some(set) = self.embedded.iter().find(|set| set.field().name == field.name) {
            return set.drafts();
        }
        let Some(before) = &self.before else { return Ok(Vec::new()) };
        let Value::BigInt(Some(id)) = before.get(R::ID) else { return Ok(Vec::new()) };
        embedded::stored_drafts(context, field, id).await
    }

    /// Replaces the embedded records of the resource `C`. A draft with `before` changes that record, another one is new,
    /// and a stored record without a draft is deleted. The rules of `C` are checked.
    ///
    /// # Errors
    /// [`Error::Internal`] if the record embeds no records of `C`.
    pub fn set_embedded<C: Resource>(&mut self, records: Vec<Draft<C>>) -> Result<()> {
        let field = embedded::field_of(R::meta(), C::meta())?;
        self.embedded.retain(|set| set.field().name != field.name);
        self.embedded.push(EmbeddedSet::drafted(field, records)?);
        Ok(())
    }

    /// Also emits `<name>.<event>` if the write changes anything.
    pub fn emit(&mut self, event: R::Event) {
        self.emitted.push(event.name());
    }
}

/// The value of a column in a row with every column; `None` for null.
pub fn stored(row: &QueryResult, field: &FieldMeta) -> Result<Option<Value>> {
    let name = field.name;
    let Some(storage) = field.kind.storage() else { return Ok(None) };
    Ok(match storage {
        Storage::Integer => row.try_get::<Option<i32>>("", name)?.map(Value::from),
        Storage::Id | Storage::SingletonId | Storage::BigInt => row.try_get::<Option<i64>>("", name)?.map(Value::from),
        Storage::Boolean => row.try_get::<Option<bool>>("", name)?.map(Value::from),
        Storage::Decimal(_, places) => {
            let scaled = Cell::named(row, name)?.scaled(u32::from(places))?;
            scaled.map(|n| Decimal::from_i128_with_scale(i128::from(n), u32::from(places)).into())
        }
        Storage::Json | Storage::List => row.try_get::<Option<serde_json::Value>>("", name)?.map(Value::from),
        storage => match codec(storage) {
            Some(codec) => (codec.stored)(row, name)?,
            None => row.try_get::<Option<String>>("", name)?.map(Value::from),
        },
    })
}

/// The value of a column by its name, in such a row; `None` for null, and for a name that no column has.
pub fn stored_named(row: &QueryResult, fields: &[FieldMeta], name: &str) -> Result<Option<Value>> {
    fields.iter().find(|field| field.name == name).map_or(Ok(None), |field| stored(row, field))
}

/// The typed model of a row with every column.
pub fn model<R: Resource>(row: &QueryResult) -> Result<R::Model> {
    R::Model::from_query_result(row, "").map_err(Error::internal)
}

fn column<R: Resource>(name: &str) -> Result<R::Column> {
    R::Column::from_str(name).map_err(|_| Error::internal(format!("`{name}` is not a column of {}", R::meta().name)))
}
