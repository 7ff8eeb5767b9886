//! Enums for the values of fields: `Status::Open` for a field `status: Status` with the word `open`.

use charter_model::Arguments;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::ast::{Field, Kind};
use crate::attr::infer::{enum_of, inside_option};

/// The enums that the fields declare.
pub fn enums<'f>(fields: impl Iterator<Item = &'f Field>) -> TokenStream {
    fields.filter_map(declared).collect()
}

fn declared(field: &Field) -> Option<TokenStream> {
    let kind = field.kind.as_ref()?;
    let name = enum_of(kind, inside_option(&field.ty).unwrap_or(&field.ty))?;
    let named = |text: String, like: &Ident| Ident::new(&text, like.span());
    let variants: Vec<Ident> = kind.variants()?.into_iter().map(|text| named(text, name)).collect();
    let first = variants.first()?;
    let (stored, values) = values(kind)?;
    let doc = format!(" The values of `{}`.", field.name);
    Some(quote! {
        #[doc = #doc]
        #[derive(
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::fmt::Debug,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq,
        )]
        #[allow(dead_code, clippy::enum_variant_names, clippy::upper_case_acronyms, reason = "the YAML names the values")]
        pub enum #name { #(#variants),* }
        #[automatically_derived]
        impl ::charter_runtime::generated::Choice for #name {
            type Stored = #stored;
            const ALL: &'static [(#name, #stored)] = &[#((#name::#variants, #values)),*];
        }
        #[automatically_derived]
        impl ::core::default::Default for #name {
            fn default() -> Self {
                #name::#first
            }
        }
        #[automatically_derived]
        impl ::core::convert::From<#name> for ::charter_runtime::generated::Value {
            fn from(choice: #name) -> Self {
                ::core::convert::Into::into(::charter_runtime::generated::Choice::stored(choice))
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::stored::TryGetable for #name {
            fn try_get_by<I: ::charter_runtime::generated::stored::ColIdx>(
                row: &::charter_runtime::generated::QueryResult,
                index: I,
            ) -> ::core::result::Result<Self, ::charter_runtime::generated::TryGetError> {
                ::charter_runtime::generated::read_choice(row, index)
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::stored::ValueType for #name {
            fn try_from(
                value: ::charter_runtime::generated::Value,
            ) -> ::core::result::Result<Self, ::charter_runtime::generated::stored::ValueTypeErr> {
                ::charter_runtime::generated::choice_of(value)
            }
            fn type_name() -> ::std::string::String {
                ::core::stringify!(#name).to_owned()
            }
            fn array_type() -> ::charter_runtime::generated::ArrayType {
                <#stored as ::charter_runtime::generated::StoredChoice>::ARRAY
            }
            fn column_type() -> ::charter_runtime::generated::stored::ColumnType {
                <#stored as ::charter_runtime::generated::StoredChoice>::column()
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::stored::Nullable for #name {
            fn null() -> ::charter_runtime::generated::Value {
                <#stored as ::charter_runtime::generated::StoredChoice>::NULL
            }
        }
    })
}

/// The type of the stored values, and the values.
fn values(kind: &Kind) -> Option<(TokenStream, Vec<TokenStream>)> {
    match kind.arguments() {
        Arguments::Words(words) => {
            let words = words.iter().map(|word| &word.text);
            Some((quote!(&'static str), words.map(|word| quote!(#word)).collect()))
        }
        Arguments::Codes(codes) => {
            let codes = codes.iter().map(|(code, _)| code);
            Some((quote!(i32), codes.map(|code| quote!(#code)).collect()))
        }
        _ => None,
    }
}
