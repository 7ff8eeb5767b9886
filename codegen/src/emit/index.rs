//! The index: one module for each resource, all routes, and the files to seed from.

use proc_macro2::TokenStream;
use quote::quote;

use super::ident;
use crate::model::Schema;

/// What the application includes.
pub fn index(schema: &Schema) -> TokenStream {
    let names: Vec<TokenStream> = schema.declared().map(|resource| ident(resource.name.as_str())).collect();
    let seeds = schema.declared().filter_map(|resource| {
        let (name, path) = (resource.name.as_str(), resource.seed.as_ref()?.path.to_string_lossy());
        Some(quote!((#name, include_str!(#path))))
    });
    quote! {
        #(pub mod #names;)*

        /// The route of every resource.
        pub fn routes() -> Vec<charter_runtime::generated::Route> {
            vec![#(#names::route()),*]
        }

        /// The rows that every installation has: the name of a resource, and YAML.
        pub fn seeds() -> &'static [(&'static str, &'static str)] {
            &[#(#seeds),*]
        }
    }
}
