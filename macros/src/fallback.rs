//! Stub implementations for a struct with reported misuses, which keep its uses from being errors too. They never run,
//! because the crate does not compile.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::ast::Resource;
use crate::expand::{action, entity, id_variant};

pub fn resource(resource: &Resource) -> TokenStream {
    let Some(id) = id_variant(resource) else { return TokenStream::new() };
    let entity = entity::expand(resource, false);
    let (event, event_type) = action::events(&resource.settings);
    let (action, action_type) = action::actions(&resource.settings);
    quote! {
        #entity
        #event
        #action
        impl ::charter_runtime::generated::Resource for Entity {
            const ID: Column = Column::#id;
            type Event = #event_type;
            type Action = #action_type;
            fn meta() -> &'static ::charter_runtime::generated::ResourceMeta {
                ::core::unreachable!()
            }
        }
    }
}

pub fn input(input: &DeriveInput) -> TokenStream {
    let ident = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    quote! {
        impl #generics ::charter_runtime::generated::Input for #ident #arguments #bounds {
            const FIELDS: &'static [::charter_runtime::generated::FieldMeta] = &[];
            fn from_values(
                _: ::std::vec::Vec<::charter_runtime::generated::Value>,
            ) -> ::core::result::Result<Self, ::charter_runtime::generated::DbErr> {
                ::core::unreachable!()
            }
        }
    }
}

pub fn output(input: &DeriveInput) -> TokenStream {
    let ident = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    quote! {
        impl #generics ::charter_runtime::generated::Output for #ident #arguments #bounds {
            const FIELDS: &'static [::charter_runtime::generated::FieldMeta] = &[];
            fn into_values(self) -> ::std::vec::Vec<::charter_runtime::generated::Value> {
                ::core::unreachable!()
            }
        }
    }
}
