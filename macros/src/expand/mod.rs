//! Passes of each derive, in order.

pub mod action;
mod choice;
pub mod entity;
mod field;
mod meta;
mod parameters;

use charter_model::naming::upper_camel;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::DeriveInput;

use crate::ast::{Field, Resource};
use crate::problems::Problems;
use crate::{attr, check, fallback};

pub fn resource(input: &DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let Some(resource) = attr::resource(input, &mut problems) else {
        return problems.into_tokens().unwrap_or_default();
    };
    check::resource(&resource, &mut problems);
    match problems.into_tokens() {
        None => {
            let (entity, meta) = (entity::expand(&resource, true), meta::resource(&resource));
            quote!(#entity #meta)
        }
        Some(errors) => {
            let fallback = fallback::resource(&resource);
            quote!(#errors #fallback)
        }
    }
}

pub fn input(input: &DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let fields = attr::parameters(input, &mut problems).unwrap_or_default();
    check::input(&fields, &mut problems);
    match problems.into_tokens() {
        None => parameters::input(&input.ident, &fields),
        Some(errors) => {
            let fallback = fallback::input(input);
            quote!(#errors #fallback)
        }
    }
}

pub fn output(input: &DeriveInput) -> TokenStream {
    let mut problems = Problems::default();
    let fields = attr::parameters(input, &mut problems).unwrap_or_default();
    check::output(&fields, &mut problems);
    match problems.into_tokens() {
        None => parameters::output(&input.ident, &fields),
        Some(errors) => {
            let fallback = fallback::output(input);
            quote!(#errors #fallback)
        }
    }
}

/// The variant of `Column` for a field.
fn variant_of(column: &Field) -> Ident {
    Ident::new(&upper_camel(&column.name), column.ident.span())
}

/// The variant of the key. If the key is missing, which was reported, the variant of any column.
pub fn id_variant(resource: &Resource) -> Option<Ident> {
    resource.column("id").or_else(|| resource.columns().find(|column| column.known_type)).map(variant_of)
}
