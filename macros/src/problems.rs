//! The misuses found in a struct, collected so that one compilation reports them all.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use syn::Error;

/// A list of misuses. It must be asked for its outcome: dropping it unasked would lose errors.
#[derive(Default)]
pub struct Problems {
    found: Option<Error>,
}

impl Problems {
    /// Reports a misuse at a place in the source.
    pub fn report(&mut self, span: Span, message: impl Display) {
        self.merge(Error::new(span, message));
    }

    pub fn merge(&mut self, error: Error) {
        match &mut self.found {
            Some(found) => found.combine(error),
            None => self.found = Some(error),
        }
    }

    /// Keeps the value, or the error.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.merge(error)).ok()
    }

    /// `compile_error!` for every misuse; `None` when there is none.
    pub fn into_tokens(self) -> Option<TokenStream> {
        self.found.map(Error::into_compile_error)
    }
}
