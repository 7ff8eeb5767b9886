//! Values by their type: the state of the platform's rooms and of the application, which the core does not know.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

/// At most one value of each type.
#[derive(Default, Clone)]
pub struct Extensions(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Extensions {
    /// Adds a value.
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Extensions {
        self.0.insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// The value of a type.
    ///
    /// # Errors
    /// An internal error if there is none.
    pub fn get<T: Send + Sync + 'static>(&self) -> Result<&T> {
        let value = self.0.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref());
        value.ok_or_else(|| {
            Error::internal(format!("the application has no {}: add it with App::with", type_name::<T>()))
        })
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extensions").field("count", &self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_type_and_a_missing_one_is_an_error() {
        let extensions = Extensions::default().with(7_u8).with("text".to_string());
        assert_eq!((extensions.get::<u8>().ok(), extensions.get::<u16>().is_err()), (Some(&7), true));
    }
}
