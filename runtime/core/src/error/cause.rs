//! Cause of an internal error, and the text of its chain of causes.

use std::error::Error as StdError;
use std::fmt;

/// Cause of an internal error: any error, or a text. `Display` and `Debug` both write the chain of messages.
///
/// `Debug` is not derived, because that of PostgreSQL's errors has the DETAIL, which quotes values of records.
pub struct Cause(Box<dyn StdError + Send + Sync>);

impl Cause {
    pub(super) fn error(&self) -> &(dyn StdError + 'static) {
        &*self.0
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for Cause {
    fn from(cause: E) -> Cause {
        Cause(cause.into())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(&*self.0))
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The messages of an error and of its sources, outermost first: `a: b: c`. A message that an outer one quotes (as those of sqlx
/// and SeaORM do) is not repeated.
pub fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let message = source.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        next = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use sea_orm::{DbErr, RuntimeErr, SqlxError};

    use super::*;
    use crate::error::Error;

    /// An error with a source, and with a value that only its `Debug` shows, as PostgreSQL's DETAIL.
    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>, #[expect(dead_code, reason = "`Debug` reads it")] &'static str);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl StdError for Layer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            self.1.as_deref().map(|source| source as _)
        }
    }

    #[test]
    fn internal_error_displays_its_chain_of_causes_without_details() {
        let inner = Layer("connection refused", None, "secret");
        let middle = Layer("tcp connect error", Some(Box::new(inner)), "secret");
        let error = Error::internal(Layer("request failed", Some(Box::new(middle)), "secret"));
        let chain = "request failed: tcp connect error: connection refused";
        assert_eq!(error.to_string(), format!("internal_error: {chain}"));
        assert_eq!(format!("{error:?}"), format!("Internal({chain})"));
        assert!(error.source().is_some_and(|source| source.is::<Layer>()));
        assert!(!error.body("1").to_string().contains("request failed"));
    }

    #[test]
    fn message_quoted_by_an_outer_error_is_not_repeated() {
        let refused = SqlxError::Io(io::Error::other("broken pipe"));
        let error = DbErr::Query(RuntimeErr::SqlxError(refused.into()));
        assert_eq!(chain(&error), "Query Error: error communicating with database: broken pipe");
    }

    #[test]
    fn text_can_be_a_cause() {
        let error = Error::internal("no such command");
        assert_eq!(error.to_string(), "internal_error: no such command");
    }
}
