//! Prelude of generated code: the names that it and the expansions of the derives use.

pub use std::future::Future;

pub use charter_macros::{Input, Output, Resource};
pub use sea_orm::sea_query::ArrayType;
pub use sea_orm::strum::IntoEnumIterator;
pub use sea_orm::{
    ActiveModelBehavior, ActiveModelTrait, ActiveValue, ColumnDef, ColumnFromStrErr, ColumnTrait, DbErr, EntityName,
    EntityTrait, FromQueryResult, Iden, IdenStatic, IntoActiveModel, ModelTrait, QueryResult, TryGetError, TryGetable,
    Value,
};

pub use crate::error::Result;
pub use crate::field_type::rust::*;
pub use crate::meta::{
    Access, ActionMeta, ActionMethod, ActionOn, ActionOutput, ActionRule, CheckMeta, DefaultValue, Deprecated,
    DeprecationMeta, FieldMeta, Filter, IncludeMeta, IncludeTarget, Kind, Numbering, OnDelete, Operation, PublicMeta,
    Rate, ResourceMeta, RollupFunction, RollupMeta, Rule, SetValue, Shown, StateChange, TimestampForm, Under,
    UniqueMeta, Until, Widget,
};
pub use crate::ops::Context;
pub use crate::ops::consequences::{Consequence, Counted, Effect, Subject, count_visible};
pub use crate::ops::{ActionHandler, Draft, Route, Schedule, ScheduledJob, model, revise, run_action};
pub use crate::query::Condition;
pub use crate::query::condition::Comparison;
pub use crate::resource::{
    ActiveRecord, ActiveSlot, Choice, Columns, IdKey, Input, NoAction, NoEvent, NoRelation, Output, Record, Resource,
    ResourceAction, ResourceColumn, ResourceEvent, Slot, Source, StoredChoice, choice_of, column_definition,
    column_named, column_type, no_column, read_choice, read_nullable_row, read_row,
};
pub use crate::route;

/// Names for the implementations of enums. Their methods would be ambiguous with those of the standard library.
pub mod stored {
    pub use sea_orm::sea_query::{ColumnType, Nullable, ValueType, ValueTypeErr};
    pub use sea_orm::{ColIdx, TryGetable};
}
