//! Attribute of the rule of an action.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::model::{Action, Name, Resource, SetValue};

/// `, transition(field = "status", from("open"), to = "solved", …)`, or `, rule(guard = "…", …)`; none for an action without
/// a rule.
pub fn attribute(resource: &Resource, action: &Action) -> Option<TokenStream> {
    let rule = action.rule.as_ref()?;
    let change = rule.change.iter().zip(&resource.state_field).map(|(change, field)| {
        let (field, from, to) = (field.as_str(), change.from.iter().map(Name::as_str), change.to.as_str());
        quote!(field = #field, from(#(#from),*), to = #to)
    });
    let guard = rule.guard.iter().map(Name::as_str).map(|text| quote!(guard = #text));
    let permission = rule.permission.iter().map(Name::as_str).map(|text| quote!(permission = #text));
    let message = rule.message.iter().map(Name::as_str).map(|text| quote!(message = #text));
    let set = rule.set.iter().map(|(name, value)| {
        let (name, value) = (name.as_str(), self::value(&value.value));
        quote!(set(field = #name, #value))
    });
    let key = format_ident!("{}", if rule.change.is_some() { "transition" } else { "rule" });
    let parts = change.chain(guard).chain(permission).chain(message).chain(set);
    Some(quote!(, #key(#(#parts),*)))
}

fn value(value: &SetValue) -> TokenStream {
    match value {
        SetValue::Literal(text) => quote!(value = #text),
        SetValue::Now => quote!(now),
        SetValue::Today => quote!(today),
        SetValue::Caller => quote!(caller),
        SetValue::Expression(text) => quote!(expression = #text),
        // A checked schema has no unreadable values.
        SetValue::Null | SetValue::Unreadable => quote!(null),
    }
}
