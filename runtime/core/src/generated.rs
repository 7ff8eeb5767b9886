//! Prelude of generated code: the names that it and the expansions of the derives use.

pub use std::future::Future;

pub use charter_macros::{Input, Output, Resource};
pub use sea_orm::sea_query::ArrayType;
pub use sea_orm::strum::IntoEnumIterator;
pub use sea_orm::{
    ActiveModelBehavior, ActiveModelTrait, ActiveValue, ColumnDef, ColumnFromStrErr, ColumnTrait, DbErr, EntityName,
    EntityTrait, FromQueryResult, Iden, IdenStatic, IntoActiveModel, ModelTrait, QueryResult, TryGetError, Value,
};

pub use crate::error::Result;
pub use crate::field_type::rust::*;
pub use crate::meta::{
    Access, ActionMeta, ActionMethod, ActionOn, ActionOutput, ActionRule, CheckMeta, DefaultValue, Deprecated,
    DeprecationMeta, FieldMeta, Filter, IncludeMeta, IncludeTarget, Kind, Numbering, OnDelete, Operation, PublicMeta,
    Rate, ResourceMeta, RollupFunction, RollupMeta, Rule, SetValue, Shown, StateChange, TimestampForm, Under, UniqueMeta,
    Until, Widget,
};
pub use crate::ops::Context;
pub use crate::ops::consequences::{Consequence, Counted, Effect, Subject, count_visible};
pub use crate::ops::{ActionHandler, Draft, Route, model, transition};
pub use crate::query::Condition;
pub use crate::resource::{
    ActionEvent, ActiveRecord, ActiveSlot, Columns, IdKey, Input, NoEvent, NoRelation, Output, Record, Resource, Slot,
    Source, column_definition, column_named, column_type, no_column, read_nullable_row, read_row,
};
pub use crate::route;
