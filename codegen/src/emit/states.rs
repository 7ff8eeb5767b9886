//! Attribute of a transition, at its action.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::{Action, Name, Resource, SetValue};

/// `, transition(field = "status", from("open"), to = "solved", …)`; none for an action that the application
/// implements.
pub fn attribute(resource: &Resource, action: &Action) -> Option<TokenStream> {
    let (transition, field) = (action.transition.as_ref()?, resource.state_field.as_ref()?.as_str());
    let (from, to) = (transition.from.iter().map(Name::as_str), transition.to.as_str());
    let guard = transition.guard.iter().map(Name::as_str).map(|text| quote!(, guard = #text));
    let permission = transition.permission.iter().map(Name::as_str).map(|text| quote!(, permission = #text));
    let message = transition.message.iter().map(Name::as_str).map(|text| quote!(, message = #text));
    let set = transition.set.iter().map(|(name, value)| {
        let (name, value) = (name.as_str(), self::value(&value.value));
        quote!(, set(field = #name, #value))
    });
    let parts = guard.chain(permission).chain(message).chain(set);
    Some(quote!(, transition(field = #field, from(#(#from),*), to = #to #(#parts)*)))
}

fn value(value: &SetValue) -> TokenStream {
    match value {
        SetValue::Literal(text) => quote!(value = #text),
        SetValue::Now => quote!(now),
        SetValue::Today => quote!(today),
        SetValue::Caller => quote!(caller),
        // A checked schema has no unreadable values.
        SetValue::Null | SetValue::Unreadable => quote!(null),
    }
}
