//! Sequential source of the values of a struct: a database row or a list of values.

use sea_orm::sea_query::ValueType;
use sea_orm::{DbErr, QueryResult, TryGetError, TryGetable, Value};

/// Values by position. The first error is stored and returned at the end, so that the generated code has no branch per field.
pub struct Source<'r> {
    from: From<'r>,
    names: &'static [&'static str],
    position: usize,
    failure: Option<TryGetError>,
}

enum From<'r> {
    /// A row with the columns `<prefix><name>`.
    Row(&'r QueryResult, &'r str),
    Values(std::vec::IntoIter<Value>),
}

impl<'r> Source<'r> {
    pub fn row(row: &'r QueryResult, prefix: &'r str, names: &'static [&'static str]) -> Source<'r> {
        Source { from: From::Row(row, prefix), names, position: 0, failure: None }
    }

    pub fn values(values: Vec<Value>, names: &'static [&'static str]) -> Source<'r> {
        Source { from: From::Values(values.into_iter()), names, position: 0, failure: None }
    }

    /// The next value, or its type's default if it cannot be read.
    pub fn take<T: TryGetable + ValueType + Default>(&mut self) -> T {
        let name = self.names.get(self.position).copied().unwrap_or_default();
        self.position += 1;
        let read = match &mut self.from {
            From::Row(row, prefix) => T::try_get(row, prefix, name),
            From::Values(values) => match values.next() {
                Some(value) => <T as ValueType>::try_from(value)
                    .map_err(|_| DbErr::Type(format!("`{name}` is not a value of type {}", T::type_name())).into()),
                None => Err(DbErr::AttrNotSet(name.to_owned()).into()),
            },
        };
        read.unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            T::default()
        })
    }

    /// Returns the struct, or the first error.
    ///
    /// # Errors
    /// The first value that was missing or of another type.
    pub fn finish<T>(self, built: T) -> Result<T, TryGetError> {
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok(built),
        }
    }
}
