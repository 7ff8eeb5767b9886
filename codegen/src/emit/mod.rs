//! Rust from a checked schema: data and one line of routing for each resource. Nothing is checked here.

mod action_rule;
mod attributes;
mod behaviour;
mod choices;
mod entity;
mod index;

use charter_model::reserved;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::check::Checked;
use crate::model::{Resource, Schema};
use crate::output::{Generated, MARK};

/// The name of the index.
pub const INDEX: &str = "resources";

/// The name of the list of migrations, which `migrations.rs` writes into the same folder.
pub const MIGRATIONS: &str = "migrations";

/// The crate that generated code names. No resource can have its name.
pub const RUNTIME: &str = "charter_runtime";

/// One file for each declared resource, and the index.
pub fn emit(schema: &Checked<Schema>) -> Vec<Generated> {
    let mut files: Vec<Generated> = schema.declared().map(resource).collect();
    let header = format!("{MARK}by charter-codegen: the index of all resources.");
    files.push(Generated::new(INDEX, header, index::index(schema)));
    files
}

fn resource(resource: &Resource) -> Generated {
    let entity = entity::entity(resource);
    let behaviour = behaviour::behaviour(resource);
    let tokens = quote! {
        use charter_runtime::generated::*;
        #entity
        #behaviour
    };
    let name = resource.name.as_str();
    let file = resource.file.as_deref().unwrap_or_default();
    let header = format!("{MARK}from {file}. `cargo charter expand {name}` prints it.");
    Generated::new(name, header, tokens)
}

/// A name in Rust: `type` is `r#type`.
fn ident(name: &str) -> TokenStream {
    let ident = if reserved::is_keyword(name) { format_ident!("r#{}", name) } else { format_ident!("{}", name) };
    quote!(#ident)
}
