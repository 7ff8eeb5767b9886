//! Expansion of one field to its `FieldMeta`.

use charter_model::naming::upper_camel;
use charter_model::{Access, Arguments, Keyword, OptionTakes, RuleArgument};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::meta::{optional, texts, variant};
use crate::ast::{Computed, DefaultValue, Derived, Embedded, Field, Flags, Kind, Links, Member, Resource, SpannedRule};

/// The field of a member of the struct.
pub fn member(member: &Member, resource: &Resource) -> TokenStream {
    match member {
        Member::Column(field) => column(field),
        Member::Derived(field) => derived(field, resource),
        Member::Embedded(field) => embedded(field),
        Member::Links(field) => links(field),
        Member::Computed(field) => computed(field),
    }
}

/// One column, or one parameter.
pub fn column(field: &Field) -> TokenStream {
    let mut values = Vec::new();
    if field.nullable {
        values.push(quote!(nullable: true));
    }
    if field.flags.required.is_some() {
        values.push(quote!(required: true));
    }
    match &field.default {
        None => {}
        Some(DefaultValue::Literal(word)) => {
            let text = &word.text;
            values.push(quote!(default: ::charter_runtime::generated::DefaultValue::Literal(#text)));
        }
        Some(DefaultValue::Expression(word)) => {
            let text = &word.text;
            values.push(quote!(default: ::charter_runtime::generated::DefaultValue::Expression(#text)));
        }
        Some(DefaultValue::Now(_)) => values.push(quote!(default: ::charter_runtime::generated::DefaultValue::Now)),
        Some(DefaultValue::Hook(_)) => values.push(quote!(default: ::charter_runtime::generated::DefaultValue::Hook)),
        Some(DefaultValue::Caller(_)) => {
            values.push(quote!(default: ::charter_runtime::generated::DefaultValue::Caller))
        }
    }
    if !field.rules.is_empty() {
        let rules = field.rules.iter().map(rule);
        values.push(quote!(rules: &[#(#rules),*]));
    }
    // A field without a kind was reported; the metadata is never used.
    let known = field.kind.as_ref();
    values.extend(flags(&field.flags, known.is_none_or(|kind| kind.facts().has_order)));
    meta(&field.name, known.map_or_else(|| quote!(Text), kind), &values)
}

fn derived(field: &Derived, resource: &Resource) -> TokenStream {
    let (via, other) = (&field.via.text, &field.field.text);
    // The nullability of the other resource's field is unknown here. A label is nullable if its code is.
    let nullable =
        resource.column(via).is_none_or(|column| column.nullable || !matches!(column.kind, Some(Kind::Code { .. })));
    let mut values = vec![quote!(access: ::charter_runtime::generated::Access::ReadOnly)];
    if nullable {
        values.push(quote!(nullable: true));
    }
    values.extend(flags(&field.flags, true));
    meta(&field.name.text, quote!(Derived { via: #via, field: #other }), &values)
}

fn embedded(field: &Embedded) -> TokenStream {
    let (resource, by) = (&field.resource.text, &field.by.text);
    let mut values = flags(&field.flags, false);
    if field.flags.detail.is_none() {
        values.push(quote!(filter: ::charter_runtime::generated::Filter::Off));
    }
    meta(&field.name.text, quote!(Embedded { resource: #resource, by: #by }), &values)
}

fn links(field: &Links) -> TokenStream {
    let [resource, through, by, to] = [&field.resource, &field.through, &field.by, &field.to].map(|word| &word.text);
    let mut values = flags(&field.flags, false);
    if field.flags.detail.is_none() {
        values.push(quote!(filter: ::charter_runtime::generated::Filter::Off));
    }
    let kind = quote!(Links { resource: #resource, through: #through, by: #by, to: #to });
    meta(&field.name.text, kind, &values)
}

fn computed(field: &Computed) -> TokenStream {
    let from = texts(&field.from);
    let mut values = vec![
        quote!(access: ::charter_runtime::generated::Access::ReadOnly),
        quote!(filter: ::charter_runtime::generated::Filter::Off),
        quote!(sortable: false),
    ];
    if field.nullable.is_some() {
        values.push(quote!(nullable: true));
    }
    meta(&field.name.text, quote!(Computed { from: #from }), &values)
}

/// The metadata of a field: a plain field with the values that differ from it.
fn meta(name: &str, kind: TokenStream, values: &[TokenStream]) -> TokenStream {
    let plain = quote! {
        ::charter_runtime::generated::FieldMeta::new(#name, ::charter_runtime::generated::Kind::#kind)
    };
    if values.is_empty() {
        return plain;
    }
    quote!(::charter_runtime::generated::FieldMeta { #(#values,)* ..#plain })
}

fn flags(flags: &Flags, ordered: bool) -> Vec<TokenStream> {
    let mut values = Vec::new();
    if let Some(word) = flags.access.first().and_then(|(access, _)| access.word()) {
        let access = variant(word);
        values.push(quote!(access: ::charter_runtime::generated::Access::#access));
    }
    let is_hidden = |access: &Access| matches!(access, Access::WriteOnly | Access::Secret | Access::Internal);
    let hidden = flags.access.iter().any(|(access, _)| is_hidden(access));
    if hidden {
        values.push(quote!(shown: ::charter_runtime::generated::Shown::Never));
    } else if flags.detail.is_some() {
        values.push(quote!(shown: ::charter_runtime::generated::Shown::Detail));
    }
    // Lists filter and sort by the fields that their items show: a field with `detail` is not sorted by, and is filtered
    // only if it has `filter`.
    let unlisted = flags.detail.is_some();
    if let (false, Some(allowed)) = (hidden, &flags.filter) {
        let allowed = texts(allowed);
        values.push(quote!(filter: ::charter_runtime::generated::Filter::Only(#allowed)));
    } else if hidden || unlisted || flags.no_filter.is_some() {
        values.push(quote!(filter: ::charter_runtime::generated::Filter::Off));
    }
    if hidden || unlisted || !ordered || flags.no_sort.is_some() {
        values.push(quote!(sortable: false));
    }
    for (option, word) in &flags.display {
        let (key, text) = (format_ident!("{}", option.meta_field()), &word.text);
        values.push(match option.facts().takes {
            OptionTakes::Text
            | OptionTakes::Literal
            | OptionTakes::Right
            | OptionTakes::Sequence
            | OptionTakes::Expression => {
                quote!(#key: #text)
            }
            OptionTakes::Widget => {
                let widget = variant(text);
                quote!(#key: ::core::option::Option::Some(::charter_runtime::generated::Widget::#widget))
            }
            OptionTakes::Numbering => {
                let numbering = variant(text);
                quote!(#key: ::charter_runtime::generated::Numbering::#numbering)
            }
            OptionTakes::OnDelete => {
                let effect = variant(text);
                quote!(#key: ::core::option::Option::Some(::charter_runtime::generated::OnDelete::#effect))
            }
        });
    }
    if let Some(rollup) = &flags.rollup {
        let (function, of, by) = (variant(&rollup.function.text), &rollup.of.text, &rollup.by.text);
        let (field, rows) = (optional(&rollup.field), optional(&rollup.rows));
        values.push(quote!(rollup: ::core::option::Option::Some(::charter_runtime::generated::RollupMeta {
            function: ::charter_runtime::generated::RollupFunction::#function,
            of: #of,
            by: #by,
            field: #field,
            rows: #rows
        })));
    }
    if let Some(schema) = &flags.schema {
        values.push(quote!(schema: ::core::option::Option::Some(#schema)));
    }
    values
}

fn kind(kind: &Kind) -> TokenStream {
    let variant = Ident::new(kind.facts().variant, Span::call_site());
    match kind.arguments() {
        Arguments::None => quote!(#variant),
        Arguments::Length(max) => quote!(#variant { max: #max }),
        Arguments::Digits { precision, places } => quote!(#variant { precision: #precision, places: #places }),
        Arguments::Form(form) => {
            let form = self::variant(form.word());
            quote!(#variant { form: ::charter_runtime::generated::TimestampForm::#form })
        }
        Arguments::Words(words) => {
            let words = texts(&words);
            quote!(#variant { values: #words })
        }
        Arguments::Codes(codes) => {
            let codes = codes.iter().map(|(code, label)| {
                let label = &label.text;
                quote!((#code, #label))
            });
            quote!(#variant { values: &[#(#codes),*] })
        }
        Arguments::Resource(other) => {
            let other = &other.text;
            quote!(#variant { resource: #other })
        }
        Arguments::TypeField(other) => {
            let other = &other.text;
            quote!(#variant { type_field: #other })
        }
        Arguments::Targets(words) => {
            // The metadata has type names: `StockLevel` for the resource `stock_level`.
            let names = words.iter().map(|word| upper_camel(&word.text));
            quote!(#variant { type_names: &[#(#names),*] })
        }
    }
}

fn rule(written: &SpannedRule) -> TokenStream {
    let variant = variant(written.rule.attribute());
    let variant = match written.rule.argument() {
        RuleArgument::Flag => quote!(#variant),
        RuleArgument::Count(count) => quote!(#variant(#count)),
        RuleArgument::Text(word) => {
            let text = &word.text;
            quote!(#variant(#text))
        }
        RuleArgument::Path { resource, field } => {
            let (resource, field) = (&resource.text, &field.text);
            quote!(#variant { resource: #resource, field: #field })
        }
    };
    quote!(::charter_runtime::generated::Rule::#variant)
}
