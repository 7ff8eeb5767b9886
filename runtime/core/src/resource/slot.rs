//! Object-safe access to the fields of rows, so that generic code is not compiled for each resource.

use sea_orm::sea_query::ValueType;
use sea_orm::{ActiveValue, DbErr, Value};

/// A field of a `Model`.
pub trait Slot {
    fn value(&self) -> Value;

    /// # Errors
    /// When the value is of another type.
    fn set(&mut self, value: Value) -> Result<(), DbErr>;
}

impl<T: Clone + Into<Value> + ValueType> Slot for T {
    fn value(&self) -> Value {
        self.clone().into()
    }

    fn set(&mut self, value: Value) -> Result<(), DbErr> {
        *self = read(value)?;
        Ok(())
    }
}

/// A field of an `ActiveModel`. The methods are those of [`sea_orm::ActiveModelTrait`] without the column.
pub trait ActiveSlot {
    fn take(&mut self) -> ActiveValue<Value>;

    fn get(&self) -> ActiveValue<Value>;

    /// # Errors
    /// When the value is of another type.
    fn set(&mut self, value: Value) -> Result<(), DbErr>;

    fn set_if_not_equals(&mut self, value: Value);

    fn not_set(&mut self);

    fn is_not_set(&self) -> bool;

    fn reset(&mut self);
}

impl<T: Clone + PartialEq + Into<Value> + ValueType> ActiveSlot for ActiveValue<T> {
    fn take(&mut self) -> ActiveValue<Value> {
        std::mem::replace(self, ActiveValue::NotSet).into_wrapped_value()
    }

    fn get(&self) -> ActiveValue<Value> {
        self.clone().into_wrapped_value()
    }

    fn set(&mut self, value: Value) -> Result<(), DbErr> {
        *self = ActiveValue::Set(read(value)?);
        Ok(())
    }

    fn set_if_not_equals(&mut self, value: Value) {
        // Panics on another type, as SeaORM's entities do; the signature has no error.
        ActiveValue::set_if_not_equals(self, value.unwrap());
    }

    fn not_set(&mut self) {
        *self = ActiveValue::NotSet;
    }

    fn is_not_set(&self) -> bool {
        ActiveValue::is_not_set(self)
    }

    fn reset(&mut self) {
        ActiveValue::reset(self);
    }
}

fn read<T: ValueType>(value: Value) -> Result<T, DbErr> {
    <T as ValueType>::try_from(value).map_err(|_| DbErr::Type(format!("expected {}", T::type_name())))
}
