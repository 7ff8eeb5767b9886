//! What the SeaORM entities of all resources share: the key, the absence of relations, and the columns as a table.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use charter_model::Storage;
use sea_orm::sea_query::{ArrayType, StringLen};
use sea_orm::strum::IntoEnumIterator;
use sea_orm::{
    ColumnDef, ColumnFromStrErr, ColumnType, ColumnTypeTrait, DbErr, Iden, IdenStatic, PrimaryKeyToColumn,
    PrimaryKeyTrait, QueryResult, RelationDef, RelationTrait, TryGetError,
};

use super::{Record, Resource, Source};
use crate::meta::{FieldMeta, ResourceMeta};

/// The columns of an entity in order.
pub type Columns<C> = std::iter::Copied<std::slice::Iter<'static, C>>;

/// The primary key of every resource: the column `id`, a number that the database gives.
pub struct IdKey<E>(PhantomData<fn() -> E>);

impl<E> IdKey<E> {
    const KEY: IdKey<E> = IdKey(PhantomData);
}

impl<E> Clone for IdKey<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for IdKey<E> {}

impl<E> fmt::Debug for IdKey<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("id")
    }
}

impl<E> Iden for IdKey<E> {
    fn quoted(&self) -> Cow<'static, str> {
        Cow::Borrowed("id")
    }

    fn unquoted(&self) -> &str {
        "id"
    }
}

impl<E: 'static> IdenStatic for IdKey<E> {
    fn as_str(&self) -> &'static str {
        "id"
    }
}

impl<E> IntoEnumIterator for IdKey<E> {
    type Iterator = std::iter::Once<IdKey<E>>;

    fn iter() -> Self::Iterator {
        std::iter::once(IdKey::KEY)
    }
}

impl<E: Resource> PrimaryKeyTrait for IdKey<E> {
    type ValueType = i64;

    fn auto_increment() -> bool {
        true
    }
}

impl<E: Resource> PrimaryKeyToColumn for IdKey<E> {
    type Column = E::Column;

    fn into_column(self) -> E::Column {
        E::ID
    }

    fn from_column(column: E::Column) -> Option<Self> {
        (column.as_str() == "id").then_some(IdKey::KEY)
    }
}

/// Resources name each other in their metadata; to SeaORM they have no relations.
#[derive(Debug, Clone, Copy)]
pub enum NoRelation {}

impl IntoEnumIterator for NoRelation {
    type Iterator = std::iter::Empty<NoRelation>;

    fn iter() -> Self::Iterator {
        std::iter::empty()
    }
}

impl RelationTrait for NoRelation {
    fn def(&self) -> RelationDef {
        match *self {}
    }
}

/// The column of that name.
///
/// # Errors
/// When there is none.
pub fn column_named<C: IdenStatic + IntoEnumIterator>(name: &str) -> Result<C, ColumnFromStrErr> {
    C::iter().find(|column| column.as_str() == name).ok_or_else(|| ColumnFromStrErr(name.to_owned()))
}

/// A row with every column in its place.
///
/// # Errors
/// The first value that cannot be read.
pub fn read_row<M: Record>(row: &QueryResult, prefix: &str) -> Result<M, DbErr> {
    read_nullable_row(row, prefix).map_err(DbErr::from)
}

/// A row with every column in its place, telling apart what is null.
///
/// # Errors
/// The first value that cannot be read.
pub fn read_nullable_row<M: Record>(row: &QueryResult, prefix: &str) -> Result<M, TryGetError> {
    M::assemble(Source::row(row, prefix, M::COLUMNS))
}

/// Ends in a panic: positions come from `Column`, whose variants are the columns.
#[cold]
#[expect(clippy::panic, reason = "positions come from the derive's own `Column`, never from a request")]
pub fn no_column(position: usize) -> ! {
    panic!("there is no column at position {position}")
}

/// A column's definition as SeaORM asks for it. Migrations make the tables; this serves tools that read entities.
pub fn column_definition<R: Resource>(column: R::Column) -> ColumnDef {
    field(R::meta(), column.as_str()).map_or_else(|| ColumnType::Text.def(), definition)
}

/// The type of a column's values in an array of them.
pub fn column_type<R: Resource>(column: R::Column) -> ArrayType {
    field(R::meta(), column.as_str()).map_or(ArrayType::String, array_type)
}

fn field(meta: &'static ResourceMeta, name: &str) -> Option<&'static FieldMeta> {
    meta.fields.iter().find(|field| field.name == name)
}

fn definition(field: &FieldMeta) -> ColumnDef {
    let column = match field.kind.storage() {
        Some(Storage::String(max)) => ColumnType::String(StringLen::N(max)),
        Some(Storage::Word) => ColumnType::String(StringLen::N(255)),
        Some(Storage::Text) | None => ColumnType::Text,
        Some(Storage::Integer) => ColumnType::Integer,
        Some(Storage::Id | Storage::SingletonId | Storage::BigInt) => ColumnType::BigInteger,
        Some(Storage::Boolean) => ColumnType::Boolean,
        Some(Storage::Decimal(precision, places)) => {
            ColumnType::Decimal(Some((u32::from(precision), u32::from(places))))
        }
        Some(Storage::Timestamp) => ColumnType::TimestampWithTimeZone,
        Some(Storage::Date) => ColumnType::Date,
        Some(Storage::Uuid) => ColumnType::Uuid,
        Some(Storage::Json | Storage::List) => ColumnType::JsonBinary,
    };
    if field.nullable { column.def().nullable() } else { column.def() }
}

fn array_type(field: &FieldMeta) -> ArrayType {
    match field.kind.storage() {
        Some(Storage::String(_) | Storage::Text | Storage::Word) | None => ArrayType::String,
        Some(Storage::Integer) => ArrayType::Int,
        Some(Storage::Id | Storage::SingletonId | Storage::BigInt) => ArrayType::BigInt,
        Some(Storage::Boolean) => ArrayType::Bool,
        Some(Storage::Decimal(..)) => ArrayType::Decimal,
        Some(Storage::Timestamp) => ArrayType::ChronoDateTimeUtc,
        Some(Storage::Date) => ArrayType::ChronoDate,
        Some(Storage::Uuid) => ArrayType::Uuid,
        Some(Storage::Json | Storage::List) => ArrayType::Json,
    }
}
