//! Struct of a resource: its columns in order, each with its attributes.

use proc_macro2::TokenStream;
use quote::quote;

use super::{attributes, choices, ident};
use crate::model::{Field, Resource};

/// The struct with its derives.
pub fn entity(resource: &Resource) -> TokenStream {
    let attributes = attributes::resource(resource);
    let mut columns = Vec::new();
    for field in &resource.fields {
        // A derived or embedded field has no column: its attribute is on the column before it.
        match field.is_column() {
            true => columns.push((field, attributes::column(resource, field).into_iter().collect::<Vec<_>>())),
            false => columns.last_mut().expect("`id` comes first").1.push(attributes::virtual_field(resource, field)),
        }
    }
    let columns = columns.into_iter().map(|(field, attributes)| {
        let name = ident(field.name.as_str());
        let kind = rust_type(resource, field);
        quote! { #(#attributes)* pub #name: #kind }
    });
    quote! {
        #[derive(Clone, Debug, PartialEq, Resource)]
        #(#attributes)*
        pub struct Model { #(#columns),* }
    }
}

/// The type of a field in the struct of a resource, or of the input or output of its actions: `Option` if it is nullable.
pub fn rust_type(resource: &Resource, field: &Field) -> TokenStream {
    let plain = choices::name(resource, field).unwrap_or_else(|| attributes::known(&field.kind).rust_type());
    let plain: TokenStream = plain.parse().expect("the Rust type of a field type is Rust");
    if field.nullable { quote!(Option<#plain>) } else { plain }
}
