//! Attributes for the derives: `#[resource(…)]`, `#[field(…)]`, `#[derived(…)]`, `#[embedded(…)]` and `#[links(…)]`.

use charter_model::{Arguments, Keyword, Operation, RuleArgument};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{behaviour, ident};
use crate::model::{
    Access, Default, Field, Filter, IncludeTarget, Kind, Name, OrderKey, Resource, Rollup, Rule, Shown, Type,
};

/// The attributes of the struct, grouped: names, nature, access, order, relations.
pub fn resource(resource: &Resource) -> Vec<TokenStream> {
    let (name, plural, label) = (resource.name.as_str(), resource.plural.as_str(), resource.label.as_str());
    let (type_name, path) = (&resource.type_name, resource.path.as_str());
    let (table, ability) = (resource.table.as_str(), resource.ability.as_str());
    let names = quote! {
        name = #name, plural = #plural, table = #table, label = #label, type_name = #type_name, path = #path, ability = #ability
    };
    let title = resource.title.iter().map(|text| text.as_str()).map(|text| quote!(title = #text));
    let words = resource.description.iter().map(|text| text.as_str()).map(|text| quote!(description = #text));
    let words =
        title.chain(words).chain(resource.menu.iter().map(|text| text.as_str()).map(|text| quote!(menu = #text)));
    let groups = [
        vec![names],
        words.collect(),
        nature(resource),
        access(resource),
        rules(resource),
        order(resource),
        includes(resource),
        deprecated(resource),
    ];
    let groups = groups.into_iter().chain(behaviour::attributes(resource).into_iter().map(|action| vec![action]));
    groups.filter(|items| !items.is_empty()).map(|items| quote!(#[resource(#(#items),*)])).collect()
}

fn nature(resource: &Resource) -> Vec<TokenStream> {
    let flags = [
        (resource.singleton, quote!(singleton)),
        (resource.soft_delete, quote!(soft_delete)),
        (resource.custom_fields, quote!(custom_fields)),
        (resource.attachments, quote!(attachments)),
        (resource.events, quote!(events)),
    ];
    let mut items: Vec<_> = flags.into_iter().filter(|(on, _)| *on).map(|(_, flag)| flag).collect();
    if !resource.emits.is_empty() {
        let events = resource.emits.iter().map(Name::as_str);
        items.push(quote!(emits(#(#events),*)));
    }
    if let Some(under) = &resource.under {
        let (parent, field) = (under.resource.as_str(), &under.field);
        items.push(quote!(under(resource = #parent, field = #field)));
    }
    if !resource.singleton && resource.operations.len() < Operation::ALL.len() {
        let words = resource.operations.iter().map(|operation| operation.value.word());
        items.push(quote!(operations(#(#words),*)));
    }
    items
}

fn access(resource: &Resource) -> Vec<TokenStream> {
    let options = [
        ("read_permission", &resource.read_permission),
        ("write_permission", &resource.write_permission),
        ("owner", &resource.owner),
        ("read_rule", &resource.read_rule),
        ("write_rule", &resource.write_rule),
    ];
    let options = options.into_iter().filter_map(|(key, name)| Some((format_ident!("{key}"), name.as_ref()?.as_str())));
    let public = resource.public.iter().map(|public| {
        let names = public.create.iter().map(Name::as_str);
        let limit = public.limit.iter().map(|limit| limit.as_str()).map(|limit| quote!(, limit = #limit));
        quote!(public(create(#(#names),*) #(#limit)*))
    });
    options.map(|(key, name)| quote!(#key = #name)).chain(public).collect()
}

/// Conditions over a whole record.
fn rules(resource: &Resource) -> Vec<TokenStream> {
    let checks = resource.checks.iter().map(|check| {
        let that = check.that.as_str();
        let field = check.field.iter().map(|name| name.as_str()).map(|name| quote!(, field = #name));
        let message = check.message.iter().map(|text| text.as_str()).map(|text| quote!(, message = #text));
        quote!(check(that = #that #(#field)* #(#message)*))
    });
    let frozen = resource.frozen.iter().map(|condition| condition.as_str()).map(|text| quote!(frozen = #text));
    checks.chain(frozen).collect()
}

fn order(resource: &Resource) -> Vec<TokenStream> {
    let unique = resource.unique.iter().map(|set| {
        let names = set.fields.value.iter().map(Name::as_str);
        if set.is_plain() {
            return quote!(unique(#(#names),*));
        }
        let rows = set.rows.iter().map(|text| text.as_str()).map(|text| quote!(, where = #text));
        let ignore_case = set.ignore_case.then(|| quote!(, ignore_case));
        quote!(unique(fields(#(#names),*) #(#rows)* #ignore_case))
    });
    let indexing = resource.indexing();
    let wanted = |key: &str, names: &[String]| {
        let key = format_ident!("{key}");
        quote!(#key(#(#names),*))
    };
    let indexes = indexing.sets.iter().map(|names| wanted("index", names));
    let order = resource.order.iter().map(OrderKey::text).collect();
    let columns = resource.columns.iter().map(|name| name.value.clone()).collect();
    let lists =
        [("ordered", &indexing.ordered), ("order", &order), ("search", &indexing.search), ("columns", &columns)];
    let lists = lists.into_iter().filter(|(_, names)| !names.is_empty()).map(|(key, names)| wanted(key, names));
    unique.chain(indexes).chain(lists).collect()
}

fn includes(resource: &Resource) -> Vec<TokenStream> {
    let includes = resource.includes.iter().map(|include| {
        let name = include.name.as_str();
        let target = match &include.target {
            IncludeTarget::One { via } => {
                // A polymorphic reference is followed from its id.
                let referring = resource.fields.iter().rfind(|field| field.declared == via.value);
                let column = referring.map_or(via.as_str(), |field| field.name.as_str());
                quote!(via = #column)
            }
            IncludeTarget::Many { resource, by } => {
                let (resource, by) = (resource.as_str(), by.as_str());
                quote!(many = #resource, by = #by)
            }
            IncludeTarget::Links { field, .. } => quote!(links = #field),
            IncludeTarget::CustomFields(_) => quote!(custom_fields),
            IncludeTarget::AllowedActions => quote!(allowed_actions),
        };
        let fields = include.fields.iter().map(Name::as_str);
        let fields = (!include.fields.is_empty()).then(|| quote!(, fields(#(#fields),*)));
        quote!(include(name = #name, #target #fields))
    });
    includes.collect()
}

fn deprecated(resource: &Resource) -> Vec<TokenStream> {
    let deprecated = resource.deprecated.iter().map(|deprecation| {
        let (of, name) = (format_ident!("{}", deprecation.of.word()), deprecation.name.as_str());
        let since = deprecation.since.as_str();
        let sunset = deprecation.sunset.iter().map(|day| day.as_str()).map(|day| quote!(, sunset = #day));
        let instead = deprecation.instead.iter().map(|name| name.as_str()).map(|name| quote!(, instead = #name));
        quote!(deprecated(#of = #name, since = #since #(#sunset)* #(#instead)*))
    });
    deprecated.collect()
}

/// The attribute of a column; none if the derive knows everything by the column's name.
pub fn column(resource: &Resource, field: &Field) -> Option<TokenStream> {
    let implied = matches!(field.name.as_str(), "id" | "custom_fields");
    let mut items = Vec::new();
    if !implied {
        items.push(kind(&field.kind));
        items.extend(writing(field));
    }
    items.extend(querying(resource, field));
    let attributes = one_attribute_each(items, field);
    (!attributes.is_empty()).then_some(attributes)
}

/// Text for people has an attribute of its own: in a long attribute each item takes a line.
fn one_attribute_each(items: Vec<TokenStream>, field: &Field) -> TokenStream {
    let attributes = [items, words(field)].into_iter().filter(|items| !items.is_empty());
    attributes.map(|items| quote!(#[field(#(#items),*)])).collect()
}

/// The attribute of a parameter or of a field of an output.
pub fn parameter(field: &Field) -> TokenStream {
    one_attribute_each([kind(&field.kind)].into_iter().chain(writing(field)).collect(), field)
}

/// The attribute of a field without a column.
pub fn virtual_field(resource: &Resource, field: &Field) -> TokenStream {
    let name = field.name.as_str();
    let words = words(field);
    let items = querying(resource, field).into_iter().chain(words.clone());
    match known(&field.kind) {
        Type::Derived { via, field } => {
            let path = format!("{}.{}", via.value, field.value);
            quote!(#[derived(#name, from = #path #(, #items)*)])
        }
        Type::Embedded { resource, by } => {
            // Embedded records are never filtered or sorted, so only `detail` is options.
            let (resource, by) = (resource.as_str(), by.as_str());
            let detail = (field.shown == Shown::Detail).then(|| quote!(, detail));
            quote!(#[embedded(#name, resource = #resource, by = #by #detail #(, #words)*)])
        }
        Type::Links { resource, through, by, to } => {
            let [resource, through, by, to] = [resource, through, by, to].map(|name| name.as_str());
            let detail = (field.shown == Shown::Detail).then(|| quote!(, detail));
            quote!(#[links(#name, resource = #resource, through = #through, by = #by, to = #to #detail #(, #words)*)])
        }
        _ => unreachable!("every other kind has a column"),
    }
}

/// The type with its arguments: `decimal(12, 2)`.
fn kind(kind: &Kind) -> TokenStream {
    let known = known(kind);
    let key = ident(known.facts().attribute);
    match known.arguments() {
        Arguments::None => key,
        Arguments::Length(max) => {
            let max = Literal::u32_unsuffixed(max);
            quote!(#key(#max))
        }
        Arguments::Digits { precision, places } => {
            let (precision, places) = (Literal::u8_unsuffixed(precision), Literal::u8_unsuffixed(places));
            quote!(#key(#precision, #places))
        }
        Arguments::Form(form) => {
            let form = format_ident!("{}", form.word());
            quote!(#key(#form))
        }
        Arguments::Words(names) | Arguments::Targets(names) => {
            let names = names.iter().map(Name::as_str);
            quote!(#key(#(#names),*))
        }
        Arguments::Codes(values) => {
            let values = values.iter().map(|value| {
                let number = Literal::i32_unsuffixed(value.number.value);
                let label = value.label.as_str();
                quote!(#number = #label)
            });
            quote!(#key(#(#values),*))
        }
        Arguments::Resource(target) => {
            let target = target.as_str();
            quote!(#key(#target))
        }
        Arguments::TypeField(field) => {
            let field = field.as_str();
            quote!(#key(type_field = #field))
        }
    }
}

/// The type of a field, which a checked schema has.
pub fn known(kind: &Kind) -> &Type {
    kind.known().expect("a checked schema has no unknown types")
}

/// Access, default and rules.
fn writing(field: &Field) -> Vec<TokenStream> {
    let mut items = Vec::new();
    if field.required {
        items.push(quote!(required));
    }
    let access = if field.shown == Shown::Never { Access::Internal } else { field.access };
    // The derive knows that a computed field and a rollup are read-only.
    let is_set_elsewhere = field.value().is_some() || field.rollup.is_some();
    items.extend(access.word().filter(|_| !is_set_elsewhere).map(ident));
    match &field.default {
        Default::None => {}
        Default::Hook => items.push(quote!(default_hook)),
        Default::Literal(text) => items.push(quote!(default = #text)),
        Default::Now => items.push(quote!(default_now)),
        Default::Caller => items.push(quote!(default_caller)),
        Default::Expression(text) => items.push(quote!(default_value = #text)),
    }
    items.extend(field.rules.iter().map(|found| rule(&found.value)));
    items.extend(field.rollup.as_ref().map(rollup));
    items
}

fn rollup(rollup: &Rollup) -> TokenStream {
    let (function, of, by) = (rollup.function.word(), rollup.resource.as_str(), rollup.by.as_str());
    let field = rollup.field.iter().map(|name| name.as_str()).map(|name| quote!(, field = #name));
    let rows = rollup.rows.iter().map(|text| text.as_str()).map(|text| quote!(, where = #text));
    quote!(rollup(function = #function, of = #of, by = #by #(#field)* #(#rows)*))
}

fn rule(rule: &Rule) -> TokenStream {
    let key = format_ident!("{}", rule.attribute());
    match rule.argument() {
        RuleArgument::Flag => quote!(#key),
        RuleArgument::Count(count) => {
            let count = Literal::u32_unsuffixed(count);
            quote!(#key = #count)
        }
        RuleArgument::Text(_) | RuleArgument::Path { .. } => {
            let text = rule.written();
            quote!(#key = #text)
        }
    }
}

/// The display options.
fn words(field: &Field) -> Vec<TokenStream> {
    let options = field.described.iter().map(|(option, text)| (format_ident!("{}", option.key()), text.as_str()));
    options.map(|(key, text)| quote!(#key = #text)).collect()
}

/// True if the field is shown in lists, filtered and sorted.
fn querying(resource: &Resource, field: &Field) -> Vec<TokenStream> {
    let mut items = Vec::new();
    if field.shown == Shown::Detail {
        items.push(quote!(detail));
    }
    if !field.is_listed() {
        // The derive knows that only fields of a list item are filtered and sorted.
        return items;
    }
    match resource.filter(field) {
        None => {}
        Some(Filter::Only(predicates)) if predicates.is_empty() => items.push(quote!(no_filter)),
        Some(Filter::Only(predicates)) => {
            let words = predicates.iter().map(|predicate| predicate.value.word());
            items.push(quote!(filter(#(#words),*)));
        }
        Some(Filter::All) => {}
    }
    if field.kind.has_order() && !resource.sorts_by(field) {
        items.push(quote!(no_sort));
    }
    items
}
