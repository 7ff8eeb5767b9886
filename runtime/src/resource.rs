//! What a type declares by deriving: a resource its metadata and its rows, an action its parameters and its answer.
//!
//! `#[derive(Resource)]` writes data and one-line delegations; the code that they delegate to stands in the rooms below,
//! compiled once for all resources. That is why a resource costs little to compile.

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

/// A table whose records are served: a SeaORM entity that knows its metadata.
pub trait Resource: EntityTrait<Model: Record + IntoActiveModel<Self::ActiveModel>> {
    /// The column of the primary key, which is always `id`.
    const ID: Self::Column;

    /// The events that its actions declare.
    type Event: ActionEvent;

    fn meta() -> &'static ResourceMeta;
}

/// An event that an action of a resource declares: what [`Draft::emit`](crate::ops::Draft::emit) takes.
pub trait ActionEvent {
    /// `given_back`, of `loan.given_back`.
    fn name(self) -> &'static str;
}

/// The event of a resource whose actions declare none.
#[derive(Debug, Clone, Copy)]
pub enum NoEvent {}

impl ActionEvent for NoEvent {
    fn name(self) -> &'static str {
        match self {}
    }
}

/// One row of a resource. Columns are known by their position in the struct, which is that in `Column`.
pub trait Record: ModelTrait + Send + Sync + 'static {
    /// The names of the columns by position.
    const COLUMNS: &'static [&'static str];

    fn slot(&self, position: usize) -> &dyn Slot;

    fn slot_mut(&mut self, position: usize) -> &mut dyn Slot;

    /// Builds a row from one value per column. What cannot be read takes its type's default and is remembered by the
    /// source, which answers the row or that error.
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

/// A row of which some columns are set, by their positions.
pub trait ActiveRecord {
    fn slot(&self, position: usize) -> &dyn ActiveSlot;

    fn slot_mut(&mut self, position: usize) -> &mut dyn ActiveSlot;
}

/// The parameters of an action.
pub trait Input: Sized + Send + 'static {
    const FIELDS: &'static [FieldMeta];

    /// Takes the values in the order of [`Input::FIELDS`]; null is the typed `None`.
    ///
    /// # Errors
    /// When a value is missing or is not of its field's kind. The request was checked against the metadata before, so
    /// this is a fault of the server, not of the client.
    fn from_values(values: Vec<Value>) -> Result<Self, DbErr>;
}

/// What an action answers.
pub trait Output: Send {
    const FIELDS: &'static [FieldMeta];

    /// The values in the order of [`Output::FIELDS`].
    fn into_values(self) -> Vec<Value>;
}
