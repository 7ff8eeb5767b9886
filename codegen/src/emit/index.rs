//! Index of the generated code: one module for each resource, all routes, the seed files and the files of texts.

use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;

use super::ident;
use crate::model::Schema;

/// The file that the application includes.
pub fn index(schema: &Schema) -> TokenStream {
    let names: Vec<TokenStream> = schema.declared().map(|resource| ident(resource.name.as_str())).collect();
    let seeds = schema.seeded().into_iter().map(|(resource, seed)| included(resource.name.as_str(), &seed.path));
    let languages = schema.languages.iter().map(|(code, path)| included(code, path));
    quote! {
        // Two includes may use fields of the same name, which the lint takes for one attribute twice.
        #(#[allow(clippy::duplicated_attributes)] pub mod #names;)*

        /// The routes of all resources.
        pub fn routes() -> Vec<charter_runtime::generated::Route> {
            vec![#(#names::route()),*]
        }

        /// The seeds: the name of a resource, and YAML.
        pub fn seeds() -> &'static [(&'static str, &'static str)] {
            &[#(#seeds),*]
        }

        /// The texts in other languages: the code of a language, and YAML.
        pub fn languages() -> &'static [(&'static str, &'static str)] {
            &[#(#languages),*]
        }
    }
}

/// A name and the text of a file.
fn included(name: &str, path: &Path) -> TokenStream {
    let text = path.to_string_lossy();
    // A path within the package, so that the generated text is the same on every machine.
    match path.is_absolute() {
        true => quote!((#name, include_str!(#text))),
        false => quote!((#name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", #text)))),
    }
}
