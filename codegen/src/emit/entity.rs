//! The struct of a resource: one column after the other, each under the attributes that say what it is.

use proc_macro2::TokenStream;
use quote::quote;

use super::{attributes, ident};
use crate::model::{Field, Kind, Resource};

/// The struct with its derives.
pub fn entity(resource: &Resource) -> TokenStream {
    let attributes = attributes::resource(resource);
    let mut columns = Vec::new();
    for field in &resource.fields {
        // A derived or embedded field has no column; it stands on the one before it, after which it appears.
        match field.is_column() {
            true => columns.push((field, attributes::column(resource, field).into_iter().collect::<Vec<_>>())),
            false => columns.last_mut().expect("`id` comes first").1.push(attributes::virtual_field(resource, field)),
        }
    }
    let columns = columns.into_iter().map(|(field, attributes)| {
        let name = ident(field.name.as_str());
        let kind = rust_type(field);
        quote! { #(#attributes)* pub #name: #kind }
    });
    quote! {
        #[derive(Clone, Debug, PartialEq, Resource)]
        #(#attributes)*
        pub struct Model { #(#columns),* }
    }
}

/// The type of a field in a struct: `Option` where it may be null.
pub fn rust_type(field: &Field) -> TokenStream {
    let plain = match &field.kind {
        Kind::String { .. } | Kind::Text | Kind::Enum(_) | Kind::PolymorphicType(_) => quote!(String),
        Kind::Integer | Kind::Code(_) => quote!(i32),
        Kind::BigInt | Kind::Ref(_) | Kind::PolymorphicId { .. } => quote!(i64),
        Kind::Boolean => quote!(bool),
        Kind::Decimal { places, .. } => {
            let places = proc_macro2::Literal::u8_unsuffixed(*places);
            quote!(Decimal<#places>)
        }
        Kind::Timestamp(_) => quote!(DateTimeUtc),
        Kind::Date => quote!(Date),
        Kind::Uuid => quote!(Uuid),
        Kind::StringList { .. } | Kind::RefList(_) | Kind::Json | Kind::CustomFields => quote!(Json),
        Kind::Derived(_) | Kind::Embedded { .. } | Kind::Unknown => unreachable!("not a column of a checked schema"),
    };
    if field.nullable { quote!(Option<#plain>) } else { plain }
}
