//! Derive macros for resources and for the parameters and answers of actions.
//!
//! Each derive runs the same passes: `attr` reads the attributes into `ast`, `check` validates it and `expand`
//! writes the implementation. All misuses of a struct are reported at once, each at its span. `fallback` then
//! implements the traits with stubs, so that the compiler reports no further errors.

mod ast;
mod attr;
mod check;
mod expand;
mod fallback;
mod names;
mod problems;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements a resource for a struct `Model`: its SeaORM entity and its metadata.
///
/// ```
/// mod note {
///     use charter_runtime::generated::*;
///
///     #[derive(Clone, Debug, PartialEq, Resource)]
///     #[resource(name = "note")]
///     pub struct Model {
///         pub id: i64,
///         #[field(text, required)]
///         pub body: String,
///     }
/// }
///
/// use charter_runtime::generated::Resource as _;
/// assert_eq!(note::Entity::meta().path, "notes");
/// ```
///
/// It declares `Entity`, `Column`, `PrimaryKey`, `Relation` and `ActiveModel` in the module of the struct and implements
/// SeaORM's traits and `Resource` for them. Everything except the name has a default. An unknown key in an attribute is
/// an error that lists the known keys. `#[computed]` is for the platform's own resources.
#[proc_macro_derive(Resource, attributes(resource, field, derived, embedded, links, computed))]
pub fn resource(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::resource(&input).into()
}

/// Implements `Input` for the parameters of an action. Its fields take `#[field]` as those of a resource do.
#[proc_macro_derive(Input, attributes(field))]
pub fn input(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::input(&input).into()
}

/// Implements `Output` for the answer of an action. Its fields take `#[field]` with their kinds.
#[proc_macro_derive(Output, attributes(field))]
pub fn output(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::output(&input).into()
}
