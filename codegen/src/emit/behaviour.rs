//! Behaviour that the application implements: the inputs and outputs of actions, the trait, and the route.

use charter_model::{ActionOn, Hook, Keyword, naming};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::entity::rust_type;
use super::{action_rule, attributes, ident};
use crate::model::{Action, ActionOutput, Field, Job, Resource};
use crate::output::PLACE;

/// The items after the struct.
pub fn behaviour(resource: &Resource) -> TokenStream {
    if !resource.has_behaviour() {
        return quote! {
            pub fn route() -> Route { Route::of::<Entity>() }
        };
    }
    let parameters = resource.implemented_actions().map(|action| parameters(resource, action));
    let behaviour = behaviour_trait(resource);
    let route = route(resource);
    quote! { #(#parameters)* #behaviour #route }
}

/// One `action(…)` of `#[resource]` for each action.
pub fn attributes(resource: &Resource) -> Vec<TokenStream> {
    let attribute = |action: &Action| {
        let name = action.name.as_str();
        let (on, method) = (action.on.word(), action.method.word());
        let input = input(action).map(|input| quote!(, input = #input));
        let output = output(action).map(|(output, key)| quote!(, output = #output, key = #key));
        let creates = creates(action).then(|| quote!(, creates));
        let event = action.event.as_ref().map(|event| {
            let event = event.as_str();
            quote!(, event = #event)
        });
        let until = action.until.as_ref().map(|until| {
            let until = until.as_str();
            quote!(, until = #until)
        });
        let confirm = action.confirm.as_ref().map(|confirm| {
            let confirm = confirm.as_str();
            quote!(, confirm = #confirm)
        });
        let external = action.external.map(|_| quote!(, external));
        let rule = action_rule::attribute(resource, action);
        let words = action.description.iter().map(|text| text.as_str()).map(|text| quote!(, description = #text));
        quote!(action(name = #name, on = #on, method = #method #input #output #creates #event #until #confirm #external #(#words)* #rule))
    };
    resource.actions.iter().map(attribute).collect()
}

fn input(action: &Action) -> Option<TokenStream> {
    (!action.input.is_empty()).then(|| ident(&format!("{}Input", naming::upper_camel(action.name.as_str()))))
}

fn creates(action: &Action) -> bool {
    matches!(action.output, ActionOutput::Created)
}

fn output(action: &Action) -> Option<(TokenStream, &str)> {
    match &action.output {
        ActionOutput::Record | ActionOutput::Created | ActionOutput::Unknown => None,
        ActionOutput::Fields { key, .. } => {
            Some((ident(&format!("{}Output", naming::upper_camel(action.name.as_str()))), key.as_str()))
        }
    }
}

fn parameters(resource: &Resource, action: &Action) -> TokenStream {
    let structure = |name: TokenStream, derive: &str, fields: &[Field]| {
        let fields = fields.iter().map(|field| {
            let kind = rust_type(resource, field);
            let (attribute, name) = (attributes::parameter(field), ident(field.name.as_str()));
            quote! { #attribute pub #name: #kind }
        });
        let derive = format_ident!("{derive}");
        quote! {
            #[derive(Clone, Debug, #derive)]
            pub struct #name { #(#fields),* }
        }
    };
    let input = input(action).map(|name| structure(name, "Input", &action.input));
    let output = match &action.output {
        ActionOutput::Fields { fields, .. } => output(action).map(|(name, _)| structure(name, "Output", fields)),
        _ => None,
    };
    quote! { #input #output }
}

fn behaviour_trait(resource: &Resource) -> TokenStream {
    let name = resource.name.as_str();
    let message = format!("`{name}` declares hooks, actions or jobs without an implementation");
    let note = format!(
        "{} declares them; write `impl {name}::Behaviour for {name}::Entity` in src/resources/{name}.rs",
        resource.behaviour_place.as_deref().unwrap_or_default()
    );
    let hooks = resource.hooks.iter().map(|point| {
        let (place, function) = (format!(" {PLACE}{}", point.place), hook_function(point.hook));
        quote! { #[doc = #place] #function }
    });
    let actions = resource.implemented_actions().map(|action| {
        let (place, function) = (format!(" {PLACE}{}", action.place), action_function(action));
        quote! { #[doc = #place] #function }
    });
    let jobs = resource.jobs.iter().map(|job| {
        let (place, name) = (format!(" {PLACE}{}", job.place), ident(job.name.as_str()));
        quote! {
            #[doc = #place]
            fn #name(context: &Context<'_>) -> impl Future<Output = Result<()>> + Send;
        }
    });
    quote! {
        #[diagnostic::on_unimplemented(message = #message, note = #note)]
        pub trait Behaviour {
            #(#hooks)*
            #(#actions)*
            #(#jobs)*
        }
    }
}

fn hook_function(hook: Hook) -> TokenStream {
    let name = ident(hook.word());
    let subject = match hook {
        Hook::Scope => return quote!(fn #name(context: &Context<'_>) -> Option<Condition>;),
        Hook::Consequences => {
            let output = quote!(Result<Vec<Consequence>>);
            return quote!(fn #name(context: &Context<'_>, verb: &str, ids: &[i64]) -> impl Future<Output = #output> + Send;);
        }
        Hook::Check | Hook::BeforeSave => quote!(draft: &mut Draft<Entity>),
        Hook::AfterSave | Hook::AfterCommit => quote!(record: &Model, before: Option<&Model>),
        Hook::BeforeDelete | Hook::AfterDelete => quote!(record: &Model),
    };
    quote!(fn #name(context: &Context<'_>, #subject) -> impl Future<Output = Result<()>> + Send;)
}

fn action_function(action: &Action) -> TokenStream {
    let name = ident(action.name.as_str());
    let output = output(action).map(|(output, _)| output);
    let subject = match (action.on, &output) {
        (ActionOn::Collection, _) => None,
        (ActionOn::Record, None) if creates(action) => Some(quote!(, record: &Model, draft: &mut Draft<Entity>)),
        (ActionOn::Record, None) => Some(quote!(, draft: &mut Draft<Entity>)),
        (ActionOn::Record, Some(_)) => Some(quote!(, record: &Model)),
    };
    let input = input(action).map(|input| quote!(, input: #input));
    let output = output.unwrap_or_else(|| quote!(()));
    quote!(fn #name(context: &Context<'_> #subject #input) -> impl Future<Output = Result<#output>> + Send;)
}

/// `remind_overdue: Schedule { … }`, with what differs from the default.
fn job(job: &Job) -> TokenStream {
    let name = ident(job.name.as_str());
    let every = job.seconds().map(Literal::u64_unsuffixed);
    let timeout = job.timeout_seconds().map(Literal::u64_unsuffixed).map(|seconds| quote!(timeout: #seconds,));
    let attempts = job.attempts.as_ref().map(|attempts| Literal::u32_unsuffixed(attempts.value));
    let attempts = attempts.map(|attempts| quote!(attempts: #attempts,));
    let external = job.external.then(|| quote!(external: true,));
    quote!(#name: Schedule { #timeout #attempts #external ..Schedule::every(#every) })
}

fn route(resource: &Resource) -> TokenStream {
    let hooks = resource.hooks.iter().map(|point| ident(point.hook.word()));
    let actions = resource.implemented_actions().map(|action| {
        let form = match (action.on, input(action).is_some(), output(action).is_some()) {
            (ActionOn::Record, false, false) if creates(action) => "record_created",
            (ActionOn::Record, true, false) if creates(action) => "record_input_created",
            (ActionOn::Record, false, false) => "record",
            (ActionOn::Record, true, false) => "record_input",
            (ActionOn::Record, false, true) => "record_output",
            (ActionOn::Record, true, true) => "record_input_output",
            (ActionOn::Collection, false, _) => "collection",
            (ActionOn::Collection, true, _) => "collection_input",
        };
        let (form, name) = (format_ident!("{form}"), ident(action.name.as_str()));
        let input = input(action).map(|input| quote!(: #input));
        quote!(#form #name #input)
    });
    let jobs = resource.jobs.iter().map(job);
    let jobs = (!resource.jobs.is_empty()).then(|| quote!(, jobs(#(#jobs),*)));
    quote! {
        pub fn route() -> Route { route!(Entity, Behaviour, hooks(#(#hooks),*), actions(#(#actions),*) #jobs) }
    }
}
