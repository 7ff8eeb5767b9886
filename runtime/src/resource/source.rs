//! Source of the values of a struct, read one after another from a database row or a list of values.

use sea_orm::sea_query::ValueType;
use sea_orm::{DbErr, QueryResult, TryGetError, TryGetable, Value};

/// Values to build a struct from, by position. The first error is kept and returned at the end, which saves the
/// generated code a branch and the compiler the cleanup for each field.
pub struct Source<'r> {
    from: From<'r>,
    names: &'static [&'static str],
    position: usize,
    error: Option<TryGetError>,
}

enum From<'r> {
    /// A row whose columns are named `<prefix><name>`.
    Row(&'r QueryResult, &'r str),
    Values(std::vec::IntoIter<Value>),
}

impl<'r> Source<'r> {
    pub fn row(row: &'r QueryResult, prefix: &'r str, names: &'static [&'static str]) -> Source<'r> {
        Source { from: From::Row(row, prefix), names, position: 0, error: None }
    }

    pub fn values(values: Vec<Value>, names: &'static [&'static str]) -> Source<'r> {
        Source { from: From::Values(values.into_iter()), names, position: 0, error: None }
    }

    /// The next value; its type's default if it cannot be read.
    pub fn take<T: TryGetable + ValueType + Default>(&mut self) -> T {
        let name = self.names.get(self.position).copied().unwrap_or_default();
        self.position += 1;
        let value = match &mut self.from {
            From::Row(row, prefix) => T::try_get(row, prefix, name),
            From::Values(values) => match values.next() {
                Some(value) => <T as ValueType>::try_from(value)
                    .map_err(|_| DbErr::Type(format!("`{name}` is not a value of type {}", T::type_name())).into()),
                None => Err(DbErr::AttrNotSet(name.to_owned()).into()),
            },
        };
        value.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            T::default()
        })
    }

    /// The struct, or the first error.
    ///
    /// # Errors
    /// The first value that is missing or has another type.
    pub fn finish<T>(self, built: T) -> Result<T, TryGetError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(built),
        }
    }
}
