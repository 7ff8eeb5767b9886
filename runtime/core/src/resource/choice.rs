//! Enums of the derives for fields with a closed list of values, stored as their word or their number.

use sea_orm::sea_query::{ArrayType, ColumnType, StringLen, ValueType, ValueTypeErr};
use sea_orm::{ColIdx, DbErr, QueryResult, TryGetError, TryGetable, Value};

/// The enum of a field: `ticket::Status`, or `activity::StatusId` for a field of type `code`.
pub trait Choice: Copy + Eq + Default + 'static {
    /// `&'static str` for a word, `i32` for a code.
    type Stored: StoredChoice;

    /// Each value with its stored form, in the order of the YAML.
    const ALL: &'static [(Self, Self::Stored)];

    /// The word, or the number: as the table, the API and the YAML have it.
    fn stored(self) -> Self::Stored {
        let found = Self::ALL.iter().find(|(choice, _)| *choice == self);
        found.map_or_else(Self::Stored::default, |(_, stored)| *stored)
    }
}

/// A stored form of choices.
pub trait StoredChoice: Copy + Default + PartialEq + Into<Value> + 'static {
    const ARRAY: ArrayType;
    const NULL: Value;

    fn column() -> ColumnType;

    /// The position of a stored value in the list, if it is there. The case of words does not count.
    fn position(value: &Value, all: impl Iterator<Item = Self>) -> Option<usize>;

    /// Reads a cell.
    ///
    /// # Errors
    /// When it is null or of another type.
    fn read<I: ColIdx>(row: &QueryResult, index: I) -> Result<Value, TryGetError>;
}

impl StoredChoice for &'static str {
    const ARRAY: ArrayType = ArrayType::String;
    const NULL: Value = Value::String(None);

    fn column() -> ColumnType {
        ColumnType::String(StringLen::N(255))
    }

    fn position(value: &Value, mut all: impl Iterator<Item = Self>) -> Option<usize> {
        let Value::String(Some(word)) = value else { return None };
        all.position(|known| known == word || known.to_lowercase() == word.to_lowercase())
    }

    fn read<I: ColIdx>(row: &QueryResult, index: I) -> Result<Value, TryGetError> {
        String::try_get_by(row, index).map(Value::from)
    }
}

impl StoredChoice for i32 {
    const ARRAY: ArrayType = ArrayType::Int;
    const NULL: Value = Value::Int(None);

    fn column() -> ColumnType {
        ColumnType::Integer
    }

    fn position(value: &Value, mut all: impl Iterator<Item = Self>) -> Option<usize> {
        let Value::Int(Some(code)) = value else { return None };
        all.position(|known| known == *code)
    }

    fn read<I: ColIdx>(row: &QueryResult, index: I) -> Result<Value, TryGetError> {
        i32::try_get_by(row, index).map(Value::from)
    }
}

/// The choice of a value.
///
/// # Errors
/// When no choice has the value.
pub fn choice_of<C: Choice>(value: Value) -> Result<C, ValueTypeErr> {
    let position = C::Stored::position(&value, C::ALL.iter().map(|(_, stored)| *stored)).ok_or(ValueTypeErr)?;
    C::ALL.get(position).map(|(choice, _)| *choice).ok_or(ValueTypeErr)
}

/// The choice of a cell.
///
/// # Errors
/// When the cell is null, or when no choice has its value: another program, or a version that still had the value, wrote it.
pub fn read_choice<C: Choice + ValueType, I: ColIdx>(row: &QueryResult, index: I) -> Result<C, TryGetError> {
    let place = format!("{index:?}");
    choice_of(C::Stored::read(row, index)?).map_err(|_| {
        let problem =
            format!("the column {place} has a value that `{}` does not know: see `charter doctor`", C::type_name());
        DbErr::Type(problem).into()
    })
}
