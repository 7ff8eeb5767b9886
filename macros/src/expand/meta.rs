//! Expansion of a struct to its `ResourceMeta`, with all defaults filled in.

use charter_model::Keyword;
use charter_model::naming::{label, plural, upper_camel};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::{action, field, id_variant};
use crate::ast::{Check, Deprecation, Include, Resource, Target, Unique, Word};

pub fn resource(resource: &Resource) -> TokenStream {
    let settings = &resource.settings;
    let text = |word: &Option<Word>| word.as_ref().map(|word| word.text.clone());
    let name = text(&settings.name).unwrap_or_default();
    let plural = text(&settings.plural).unwrap_or_else(|| plural(&name));
    let or_plural = |word: &Option<Word>| text(word).unwrap_or_else(|| plural.clone());
    let (table, path, ability) = (or_plural(&settings.table), or_plural(&settings.path), or_plural(&settings.ability));
    let label = text(&settings.label).unwrap_or_else(|| label(&name));
    let description = text(&settings.description).unwrap_or_default();
    let title = text(&settings.title).unwrap_or_default();
    let menu = text(&settings.menu).unwrap_or_default();
    let columns = texts(&settings.columns);
    let type_name = text(&settings.type_name).unwrap_or_else(|| upper_camel(&name));
    let read_permission = optional(&settings.read_permission);
    let write_permission = optional(&settings.write_permission);
    let owner = optional(&settings.owner);
    let public = match &settings.public {
        None => quote!(::core::option::Option::None),
        Some(public) => {
            let (create, requests, seconds) = (texts(&public.create), public.limit.requests, public.limit.seconds);
            quote! {
                ::core::option::Option::Some(::charter_runtime::generated::PublicMeta {
                    create: #create,
                    limit: ::charter_runtime::generated::Rate { requests: #requests, seconds: #seconds },
                })
            }
        }
    };
    let read_rule = optional(&settings.read_rule);
    let write_rule = optional(&settings.write_rule);
    let under = match &settings.under {
        None => quote!(::core::option::Option::None),
        Some(under) => {
            let (resource, field) = (&under.resource.text, &under.field.text);
            quote! {
                ::core::option::Option::Some(::charter_runtime::generated::Under { resource: #resource, field: #field })
            }
        }
    };
    let operations = match &settings.operations {
        None => quote!(::charter_runtime::generated::Operation::ALL),
        Some(words) => {
            let variants = words.iter().map(|word| variant(&word.text));
            quote!(&[#(::charter_runtime::generated::Operation::#variants),*])
        }
    };
    let singleton = settings.singleton.is_some();
    let soft_delete = settings.soft_delete.is_some();
    let custom_fields = settings.custom_fields.is_some();
    let attachments = settings.attachments.is_some();
    let events = settings.events.is_some();
    let fields = resource.members.iter().map(|member| field::member(member, resource));
    let unique = settings.unique.iter().map(unique);
    let checks = settings.checks.iter().map(check);
    let frozen = optional(&settings.frozen);
    let indexes = settings.indexes.iter().map(|set| texts(set));
    let search = texts(&settings.search);
    let ordered = texts(&settings.ordered);
    let order = texts(&settings.order);
    let includes = settings.includes.iter().map(include);
    let actions = settings.actions.iter().map(action::action);
    let reveals = action::reveals(&settings.reveals);
    let deprecated = settings.deprecated.iter().map(deprecation);
    let id = id_variant(resource);
    let extra_events = texts(&settings.extra_events);
    let (event, event_type) = action::events(settings);
    let (action, action_type) = action::actions(settings);
    quote! {
        #event
        #action
        #[automatically_derived]
        impl ::charter_runtime::generated::Resource for Entity {
            const ID: Column = Column::#id;
            type Event = #event_type;
            type Action = #action_type;
            fn meta() -> &'static ::charter_runtime::generated::ResourceMeta {
                static META: ::charter_runtime::generated::ResourceMeta = ::charter_runtime::generated::ResourceMeta {
                    name: #name,
                    plural: #plural,
                    label: #label,
                    title: #title,
                    description: #description,
                    menu: #menu,
                    columns: #columns,
                    type_name: #type_name,
                    table: #table,
                    path: #path,
                    under: #under,
                    ability: #ability,
                    read_permission: #read_permission,
                    write_permission: #write_permission,
                    owner: #owner,
                    public: #public,
                    read_rule: #read_rule,
                    write_rule: #write_rule,
                    operations: #operations,
                    singleton: #singleton,
                    soft_delete: #soft_delete,
                    custom_fields: #custom_fields,
                    attachments: #attachments,
                    events: #events,
                    extra_events: #extra_events,
                    fields: &[#(#fields),*],
                    unique: &[#(#unique),*],
                    checks: &[#(#checks),*],
                    frozen: #frozen,
                    indexes: &[#(#indexes),*],
                    search: #search,
                    ordered: #ordered,
                    order: #order,
                    includes: &[#(#includes),*],
                    actions: &[#(#actions),*],
                    reveals: #reveals,
                    deprecated: &[#(#deprecated),*],
                };
                &META
            }
        }
    }
}

fn include(include: &Include) -> TokenStream {
    let name = &include.name.text;
    let target = match &include.target {
        Target::One { via } => {
            let via = &via.text;
            quote!(One { via: #via })
        }
        Target::Many { resource, by } => {
            let (resource, by) = (&resource.text, &by.text);
            quote!(Many { resource: #resource, by: #by })
        }
        Target::Links { field } => {
            let field = &field.text;
            quote!(Links { field: #field })
        }
        Target::CustomFieldValues => quote!(CustomFieldValues),
        Target::AllowedActions => quote!(AllowedActions),
    };
    let fields = texts(&include.fields);
    quote! {
        ::charter_runtime::generated::IncludeMeta {
            name: #name,
            target: ::charter_runtime::generated::IncludeTarget::#target,
            fields: #fields,
        }
    }
}

fn unique(set: &Unique) -> TokenStream {
    let (fields, rows, ignore_case) = (texts(&set.fields), optional(&set.rows), set.ignore_case.is_some());
    quote!(::charter_runtime::generated::UniqueMeta { fields: #fields, rows: #rows, ignore_case: #ignore_case })
}

fn check(check: &Check) -> TokenStream {
    let (that, field, message) = (&check.that.text, optional(&check.field), optional(&check.message));
    quote!(::charter_runtime::generated::CheckMeta { that: #that, field: #field, message: #message })
}

pub fn deprecation(deprecation: &Deprecation) -> TokenStream {
    let (of, name, since) = (variant(deprecation.of.word()), &deprecation.name.text, &deprecation.since.text);
    let (sunset, instead) = (optional(&deprecation.sunset), optional(&deprecation.instead));
    quote! {
        ::charter_runtime::generated::DeprecationMeta {
            of: ::charter_runtime::generated::Deprecated::#of,
            name: #name,
            since: #since,
            sunset: #sunset,
            instead: #instead,
        }
    }
}

/// The variant of a word in an attribute: `ReadOnly` for `read_only`.
pub fn variant(word: &str) -> Ident {
    Ident::new(&upper_camel(word), Span::call_site())
}

pub fn optional(word: &Option<Word>) -> TokenStream {
    match word {
        None => quote!(::core::option::Option::None),
        Some(word) => {
            let text = &word.text;
            quote!(::core::option::Option::Some(#text))
        }
    }
}

pub fn texts(words: &[Word]) -> TokenStream {
    let words = words.iter().map(|word| &word.text);
    quote!(&[#(#words),*])
}
