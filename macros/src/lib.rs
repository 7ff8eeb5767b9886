//! The derives that turn an annotated struct into a resource, or into the parameters of an action.
//!
//! Each derive runs the same passes: [`attr`] reads what is written, [`ast`] is what it means, [`check`] judges it and
//! [`expand`] writes the implementation. All misuses of a struct are reported at once, each where it stands, and
//! [`fallback`] then implements the traits with nothing in them, so that no further errors follow from the first.

mod ast;
mod attr;
mod check;
mod expand;
mod fallback;
mod names;
mod problems;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a resource of a struct `Model`: the SeaORM entity around it, and its metadata.
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
/// It declares `Entity`, `Column`, `PrimaryKey`, `Relation` and `ActiveModel` beside the struct and implements SeaORM's
/// traits and `Resource` for them. Everything but the name has a default. A key that `#[resource]`, `#[field]`, `#[derived]`
/// or `#[embedded]` does not know is answered with those that it knows; `#[computed]` is for the platform's own resources.
#[proc_macro_derive(Resource, attributes(resource, field, derived, embedded, computed))]
pub fn resource(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::resource(&input).into()
}

/// Makes the parameters of an action of a struct; its fields carry `#[field]` as those of a resource do.
#[proc_macro_derive(Input, attributes(field))]
pub fn input(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::input(&input).into()
}

/// Makes the answer of an action of a struct; its fields carry `#[field]` with their kinds.
#[proc_macro_derive(Output, attributes(field))]
pub fn output(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::output(&input).into()
}
