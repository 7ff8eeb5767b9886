//! Misuses of a struct, collected so that one compilation reports all of them.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use syn::Error;

/// List of misuses. Dropping it without [`Problems::into_tokens`] loses errors.
#[derive(Default)]
pub struct Problems {
    found: Option<Error>,
}

impl Problems {
    /// Reports a misuse at a span.
    pub fn report(&mut self, span: Span, message: impl Display) {
        self.merge(Error::new(span, message));
    }

    pub fn merge(&mut self, error: Error) {
        match &mut self.found {
            Some(found) => found.combine(error),
            None => self.found = Some(error),
        }
    }

    /// Returns the value, or collects the error.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.merge(error)).ok()
    }

    /// `compile_error!` for every misuse; none if there are none.
    pub fn into_tokens(self) -> Option<TokenStream> {
        self.found.map(Error::into_compile_error)
    }
}
