//! Traits that the derives implement: `Resource` for a table with its metadata, `Input` and `Output` for the parameters
//! and the output of an action.
//!
//! `#[derive(Resource)]` generates data and one-line delegations. The code that they delegate to is in the submodules,
//! compiled once for all resources, so that another resource adds little compile time.

mod entity;
mod slot;
mod source;

use sea_orm::{DbErr, EntityTrait, IntoActiveModel, ModelTrait, Value};

pub use entity::{
    Columns, IdKey, NoRelation, column_definition, column_named, column_type, no_column, read_nullable_row, read_row,
};
pub use slot::{ActiveSlot, Slot};
pub use source::Source;

use crate::meta::{FieldMeta, ResourceMeta};

/// A table that the API serves: a SeaORM entity with metadata.
pub trait Resource: EntityTrait<Model: Record + IntoActiveModel<Self::ActiveModel>> {
    /// The primary key, which is always `id`.
    const ID: Self::Column;

    /// Events that the resource's actions declare.
    type Event: ActionEvent;

    fn meta() -> &'static ResourceMeta;
}

/// An event that an action declares: the argument of [`Draft::emit`](crate::ops::Draft::emit).
pub trait ActionEvent {
    /// `given_back`, of `loan.given_back`.
    fn name(self) -> &'static str;
}

/// The event type of a resource whose actions declare none.
#[derive(Debug, Clone, Copy)]
pub enum NoEvent {}

impl ActionEvent for NoEvent {
    fn name(self) -> &'static str {
        match self {}
    }
}

/// A row of a resource. A column is identified by its position in the struct, which is also that in `Column`.
pub trait Record: ModelTrait + Send + Sync + 'static {
    /// Column names by position.
    const COLUMNS: &'static [&'static str];

    fn slot(&self, position: usize) -> &dyn Slot;

    fn slot_mut(&mut self, position: usize) -> &mut dyn Slot;

    /// Builds a row from one value per column. A value that cannot be read becomes its type's default; the source keeps
    /// the error and returns it at the end.
    ///
    /// # Errors
    /// The first value that is missing or is not of its column's type.
    fn assemble(source: Source<'_>) -> Result<Self, sea_orm::TryGetError>;

    /// A row of these values, one for each of [`Record::COLUMNS`].
    ///
    /// # Errors
    /// The first value that is missing or is not of its column's type.
    fn from_values(values: Vec<Value>) -> Result<Self, DbErr> {
        Self::assemble(Source::values(values, Self::COLUMNS)).map_err(DbErr::from)
    }
}

/// A row with some columns set, by position.
pub trait ActiveRecord {
    fn slot(&self, position: usize) -> &dyn ActiveSlot;

    fn slot_mut(&mut self, position: usize) -> &mut dyn ActiveSlot;
}

/// Parameters of an action.
pub trait Input: Sized + Send + 'static {
    const FIELDS: &'static [FieldMeta];

    /// Builds the parameters from values in the order of [`Input::FIELDS`]. Null is a typed `None`.
    ///
    /// # Errors
    /// If a value is missing or is not of its field's kind. The request was validated before, so this is an internal
    /// error.
    fn from_values(values: Vec<Value>) -> Result<Self, DbErr>;
}

/// Output of an action.
pub trait Output: Send {
    const FIELDS: &'static [FieldMeta];

    /// The values in the order of [`Output::FIELDS`].
    fn into_values(self) -> Vec<Value>;
}
