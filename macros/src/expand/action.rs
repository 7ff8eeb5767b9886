//! Expansion of actions to metadata.

use charter_model::naming::upper_camel;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::meta::{optional, variant};
use crate::ast::{Action, ActionRule, SetValue, Settings, StateChange, Word};

/// The enum of the events that a resource declares, and its name; without events, the runtime's empty enum.
pub fn events(settings: &Settings) -> (TokenStream, TokenStream) {
    let of_actions = settings.actions.iter().filter_map(|action| action.event.as_ref());
    let words = of_actions.chain(&settings.extra_events);
    let declared = named("Event", " The events of the resource beyond those of the standard operations.", words);
    declared.map_or_else(
        || (TokenStream::new(), quote!(::charter_runtime::generated::NoEvent)),
        |(declared, names)| {
            let declared = quote! {
                #declared
                #[automatically_derived]
                impl ::charter_runtime::generated::ResourceEvent for Event {
                    fn name(self) -> &'static str {
                        [#(#names),*][self as usize]
                    }
                }
            };
            (declared, quote!(Event))
        },
    )
}

/// The enum of the actions, and its name; without actions, the runtime's empty type.
pub fn actions(settings: &Settings) -> (TokenStream, TokenStream) {
    let words = settings.actions.iter().map(|action| &action.name);
    named("Action", " The actions of the resource.", words).map_or_else(
        || (TokenStream::new(), quote!(::charter_runtime::generated::NoAction<Entity>)),
        |(declared, names)| {
            let declared = quote! {
                #declared
                #[automatically_derived]
                impl ::charter_runtime::generated::ResourceAction for Action {
                    type Resource = Entity;
                    fn name(self) -> &'static str {
                        [#(#names),*][self as usize]
                    }
                }
            };
            (declared, quote!(Action))
        },
    )
}

/// An enum with a variant for each word, and the words in their order. `None` without words.
fn named<'w>(name: &str, doc: &str, words: impl Iterator<Item = &'w Word>) -> Option<(TokenStream, Vec<&'w String>)> {
    let (mut names, mut variants) = (Vec::new(), Vec::<Ident>::new());
    for word in words {
        // An invalid name was reported; two actions may have the same event.
        let Ok(mut variant) = syn::parse_str::<Ident>(&upper_camel(&word.text)) else { continue };
        variant.set_span(word.span);
        if !variants.contains(&variant) {
            names.push(&word.text);
            variants.push(variant);
        }
    }
    let name = Ident::new(name, Span::call_site());
    let declared = quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        #[allow(dead_code, clippy::enum_variant_names, reason = "an application may use none of them")]
        pub enum #name { #(#variants),* }
    };
    (!names.is_empty()).then_some((declared, names))
}

/// The metadata of one action.
pub fn action(action: &Action) -> TokenStream {
    let (name, on) = (&action.name.text, variant(&action.on.text));
    let method = variant(action.method.as_ref().map_or("post", |word| &word.text));
    let input = match &action.input {
        None => quote!(&[]),
        Some(ty) => quote!(<#ty as ::charter_runtime::generated::Input>::FIELDS),
    };
    let output = match (&action.output, &action.key) {
        (Some(ty), Some(key)) => {
            let key = &key.text;
            quote!(Fields { key: #key, fields: <#ty as ::charter_runtime::generated::Output>::FIELDS })
        }
        _ if action.creates.is_some() => quote!(Created),
        _ => quote!(Record),
    };
    let event = optional(&action.event);
    let until = until(action.until.as_ref());
    let confirm = action.confirm.as_ref().map_or("", |word| &word.text);
    let description = action.description.as_ref().map_or("", |word| &word.text);
    let (external, needs_write) = (action.external.is_some(), action.needs_write.is_some());
    let reveals = reveals(&action.reveals);
    let rule = rule(action.rule.as_ref());
    quote! {
        ::charter_runtime::generated::ActionMeta {
            name: #name,
            description: #description,
            on: ::charter_runtime::generated::ActionOn::#on,
            method: ::charter_runtime::generated::ActionMethod::#method,
            input: #input,
            output: ::charter_runtime::generated::ActionOutput::#output,
            event: #event,
            until: #until,
            confirm: #confirm,
            external: #external,
            needs_write: #needs_write,
            reveals: #reveals,
            rule: #rule,
        }
    }
}

/// Secrets that an answer shows, each with its description.
pub fn reveals(reveals: &[(Word, Word)]) -> TokenStream {
    let pairs = reveals.iter().map(|(name, description)| {
        let (name, description) = (&name.text, &description.text);
        quote!((#name, #description))
    });
    quote!(&[#(#pairs),*])
}

/// The field of `until`, and its value once the action is done.
fn until(written: Option<&Word>) -> TokenStream {
    let Some(written) = written else { return quote!(None) };
    let (field, is) = match written.text.strip_prefix("not ") {
        Some(field) => (field, false),
        None => (written.text.as_str(), true),
    };
    quote!(Some(::charter_runtime::generated::Until { field: #field, is: #is }))
}

/// The state, the condition and the values.
fn rule(written: Option<&ActionRule>) -> TokenStream {
    let Some(ActionRule { change, guard, permission, message, set }) = written else {
        return quote!(::core::option::Option::None);
    };
    let change = change.as_ref().map_or_else(|| quote!(::core::option::Option::None), change_of_state);
    let [guard, permission, message] = [guard, permission, message].map(optional);
    let set = set.iter().map(|(name, value)| {
        let (name, value) = (&name.text, set_value(value));
        quote!((#name, ::charter_runtime::generated::SetValue::#value))
    });
    quote! {
        ::core::option::Option::Some(::charter_runtime::generated::ActionRule {
            change: #change,
            guard: #guard,
            permission: #permission,
            message: #message,
            set: &[#(#set),*],
        })
    }
}

fn change_of_state(StateChange { field, from, to }: &StateChange) -> TokenStream {
    let (field, to) = (&field.text, &to.text);
    let from = from.iter().map(|state| &state.text);
    quote! {
        ::core::option::Option::Some(::charter_runtime::generated::StateChange {
            field: #field,
            from: &[#(#from),*],
            to: #to,
        })
    }
}

fn set_value(value: &SetValue) -> TokenStream {
    match value {
        SetValue::Null => quote!(Null),
        SetValue::Literal(word) => {
            let text = &word.text;
            quote!(Literal(#text))
        }
        SetValue::Expression(word) => {
            let text = &word.text;
            quote!(Expression(#text))
        }
        SetValue::Now => quote!(Now),
        SetValue::Today => quote!(Today),
        SetValue::Caller => quote!(Caller),
    }
}
