//! The index: one module for each resource, all routes, and the files to seed from.

use proc_macro2::TokenStream;
use quote::quote;

use super::ident;
use crate::model::Schema;

/// What the application includes.
pub fn index(schema: &Schema) -> TokenStream {
    let names: Vec<TokenStream> = schema.declared().map(|resource| ident(resource.name.as_str())).collect();
    let seeds = schema.seeded().into_iter().map(|(resource, seed)| {
        let (name, text) = (resource.name.as_str(), seed.path.to_string_lossy());
        // Within the package, so that what is generated is the same on every machine.
        match seed.path.is_absolute() {
            true => quote!((#name, include_str!(#text))),
            false => quote!((#name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", #text)))),
        }
    });
    quote! {
        // Two includes may go by fields of one name, in which the lint sees one attribute twice.
        #(#[allow(clippy::duplicated_attributes)] pub mod #names;)*

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
