//! Expansion of structs to `Input` and `Output`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{choice, field};
use crate::ast::Field;

pub fn input(ident: &Ident, fields: &[Field]) -> TokenStream {
    let metas = fields.iter().map(field::column);
    let names = fields.iter().map(|field| &field.name);
    let idents = fields.iter().map(|field| &field.ident);
    let enums = choice::enums(fields.iter());
    quote! {
        #enums
        #[automatically_derived]
        impl ::charter_runtime::generated::Input for #ident {
            const FIELDS: &'static [::charter_runtime::generated::FieldMeta] = &[#(#metas),*];
            fn from_values(
                values: ::std::vec::Vec<::charter_runtime::generated::Value>,
            ) -> ::core::result::Result<Self, ::charter_runtime::generated::DbErr> {
                let mut source = ::charter_runtime::generated::Source::values(values, &[#(#names),*]);
                let input = #ident { #(#idents: source.take()),* };
                ::core::result::Result::map_err(source.finish(input), ::core::convert::Into::into)
            }
        }
    }
}

pub fn output(ident: &Ident, fields: &[Field]) -> TokenStream {
    let metas = fields.iter().map(field::column);
    let idents = fields.iter().map(|field| &field.ident);
    let enums = choice::enums(fields.iter());
    quote! {
        #enums
        #[automatically_derived]
        impl ::charter_runtime::generated::Output for #ident {
            const FIELDS: &'static [::charter_runtime::generated::FieldMeta] = &[#(#metas),*];
            fn into_values(self) -> ::std::vec::Vec<::charter_runtime::generated::Value> {
                ::std::vec![#(::core::convert::Into::into(self.#idents)),*]
            }
        }
    }
}
