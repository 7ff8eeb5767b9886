//! Traits that the derives implement: resources with their rows, and inputs and outputs of actions.
//!
//! `#[derive(Resource)]` writes data and one-line delegations. The code behind them is compiled once for all resources, which keeps
//! compile times low.

mod choice;
mod column;
mod entity;
mod slot;
mod source;

use std::convert::Infallible;
use std::marker::PhantomData;

use sea_orm::{DbErr, EntityTrait, IntoActiveModel, ModelTrait, Value};

pub use choice::{Choice, StoredChoice, choice_of, read_choice};
pub use column::{NamedField, ResourceColumn};
pub use entity::{
    Columns, IdKey, NoRelation, column_definition, column_named, column_type, no_column, read_nullable_row, read_row,
};
pub use slot::{ActiveSlot, Slot};
pub use source::Source;

use crate::meta::{FieldMeta, ResourceMeta};

/// A SeaORM entity with the metadata of a resource.
pub trait Resource: EntityTrait<Model: Record + IntoActiveModel<Self::ActiveModel>> {
    /// The column of the primary key, which is always `id`.
    const ID: Self::Column;

    /// The events that it declares beyond those of the standard operations.
    type Event: ResourceEvent;

    /// Its actions.
    type Action: ResourceAction<Resource = Self>;

    fn meta() -> &'static ResourceMeta;
}

/// An event that a resource declares: what [`Draft::emit`](crate::ops::Draft::emit) takes.
pub trait ResourceEvent {
    /// `given_back`, of `loan.given_back`.
    fn name(self) -> &'static str;
}

/// The event type of a resource that declares no events.
#[derive(Debug, Clone, Copy)]
pub enum NoEvent {}

impl ResourceEvent for NoEvent {
    fn name(self) -> &'static str {
        match self {}
    }
}

/// An action of a resource: what [`run_action`](crate::ops::run_action) takes.
pub trait ResourceAction {
    type Resource: Resource;

    /// `give_back`
    fn name(self) -> &'static str;
}

/// The action type of a resource without actions.
pub struct NoAction<R>(PhantomData<R>, Infallible);

impl<R: Resource> ResourceAction for NoAction<R> {
    type Resource = R;

    fn name(self) -> &'static str {
        match self.1 {}
    }
}

/// A row of a resource. Columns are addressed by their position in the struct, which is that in `Column`.
pub trait Record: ModelTrait + Send + Sync + 'static {
    /// The names of the columns by position.
    const COLUMNS: &'static [&'static str];

    fn slot(&self, position: usize) -> &dyn Slot;

    fn slot_mut(&mut self, position: usize) -> &mut dyn Slot;

    /// Builds a row from one value per column. A value that cannot be read becomes its type's default, and the source returns the
    /// error at the end.
    ///
    /// # Errors
    /// The first value that is missing or is not of its column's type.
    fn assemble(source: Source<'_>) -> Result<Self, sea_orm::TryGetError>;

    /// A row with these values, one for each of [`Record::COLUMNS`].
    ///
    /// # Errors
    /// The first value that is missing or is not of its column's type.
    fn from_values(values: Vec<Value>) -> Result<Self, DbErr> {
        Self::assemble(Source::values(values, Self::COLUMNS)).map_err(DbErr::from)
    }
}

/// A row with some columns set, addressed by their positions.
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
    /// When a value is missing or is not of its field's kind. The request was validated before, so that this is an internal error.
    fn from_values(values: Vec<Value>) -> Result<Self, DbErr>;
}

/// The output of an action.
pub trait Output: Send {
    const FIELDS: &'static [FieldMeta];

    /// The values in the order of [`Output::FIELDS`].
    fn into_values(self) -> Vec<Value>;
}
