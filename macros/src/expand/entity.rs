//! SeaORM entity of a `Model`: tables of names, and delegations to the runtime.
//!
//! It replaces SeaORM's `DeriveEntityModel`, whose expansion has a dozen `match`es with an arm per field and takes three
//! times as long to compile. One `match` per struct finds a field by its position, behind a trait object; the rest is in
//! `charter_runtime::resource`.

use charter_model::naming::plural;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Type;

use super::{choice, variant_of};
use crate::ast::{Resource, Word};

/// Token parts of an entity.
struct Parts<'r> {
    model: &'r Ident,
    /// By position: the variants of the columns, and the fields of the struct with their types and names.
    variants: Vec<Ident>,
    idents: Vec<&'r Ident>,
    types: Vec<&'r Type>,
    names: Vec<&'r String>,
    positions: Vec<usize>,
}

/// Writes the entity. `sound` is false for a struct with misuses, which were reported: the implementations are then
/// stubs.
pub fn expand(resource: &Resource, sound: bool) -> TokenStream {
    let parts = Parts::of(resource);
    let enums = choice::enums(resource.columns());
    let declarations = declarations(&parts);
    let entity = entity(&parts, &table(resource));
    let column = column(&parts);
    let model = model(&parts, sound);
    let active_model = active_model(&parts);
    quote!(#enums #declarations #entity #column #model #active_model)
}

impl<'r> Parts<'r> {
    fn of(resource: &'r Resource) -> Parts<'r> {
        let mut variants: Vec<Ident> = Vec::new();
        let (mut idents, mut types, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for column in resource.columns() {
            let variant = variant_of(column);
            // Columns that collide or have no valid type were reported; their declaration would be a second error.
            if variants.contains(&variant) || !column.known_type {
                continue;
            }
            variants.push(variant);
            idents.push(&column.ident);
            types.push(&column.ty);
            names.push(&column.name);
        }
        let positions = (0..names.len()).collect();
        Parts { model: &resource.ident, variants, idents, types, names, positions }
    }
}

/// The types.
fn declarations(parts: &Parts<'_>) -> TokenStream {
    let Parts { variants, idents, types, .. } = parts;
    quote! {
        /// The table of the resource.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Entity;

        /// The columns of the table.
        #[derive(Clone, Copy)]
        pub enum Column { #(#variants),* }

        /// The key of the table.
        pub type PrimaryKey = ::charter_runtime::generated::IdKey<Entity>;

        /// Empty: resources name each other in their metadata.
        pub type Relation = ::charter_runtime::generated::NoRelation;

        /// A row with some columns set.
        #[derive(Clone, Debug)]
        pub struct ActiveModel { #(pub #idents: ::charter_runtime::generated::ActiveValue<#types>),* }
    }
}

/// The table as a type.
fn entity(parts: &Parts<'_>, table: &str) -> TokenStream {
    let Parts { model, .. } = parts;
    quote! {
        #[automatically_derived]
        impl ::charter_runtime::generated::Iden for Entity {
            fn unquoted(&self) -> &str { #table }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::IdenStatic for Entity {
            fn as_str(&self) -> &'static str { #table }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::EntityName for Entity {
            fn table_name(&self) -> &'static str { #table }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::EntityTrait for Entity {
            type Model = #model;
            type ModelEx = #model;
            type ActiveModel = ActiveModel;
            type ActiveModelEx = ActiveModel;
            type Column = Column;
            type Relation = Relation;
            type PrimaryKey = PrimaryKey;
        }
    }
}

/// The columns, found by their position in the list of names.
fn column(parts: &Parts<'_>) -> TokenStream {
    let Parts { model, variants, .. } = parts;
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Debug for Column {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(::charter_runtime::generated::IdenStatic::as_str(self))
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::Iden for Column {
            fn quoted(&self) -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(::charter_runtime::generated::IdenStatic::as_str(self))
            }
            fn unquoted(&self) -> &str {
                ::charter_runtime::generated::IdenStatic::as_str(self)
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::IdenStatic for Column {
            fn as_str(&self) -> &'static str {
                <#model as ::charter_runtime::generated::Record>::COLUMNS[*self as usize]
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::IntoEnumIterator for Column {
            type Iterator = ::charter_runtime::generated::Columns<Column>;
            // `Self::Iterator` would be ambiguous with a column `iterator`.
            fn iter() -> ::charter_runtime::generated::Columns<Column> {
                [#(Column::#variants),*].iter().copied()
            }
        }
        #[automatically_derived]
        impl ::core::str::FromStr for Column {
            type Err = ::charter_runtime::generated::ColumnFromStrErr;
            // `Self::Err` would be ambiguous with a column `err`.
            fn from_str(name: &str) -> ::core::result::Result<Self, ::charter_runtime::generated::ColumnFromStrErr> {
                ::charter_runtime::generated::column_named(name)
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::ResourceColumn for Column {
            type Resource = Entity;
        }
        #[automatically_derived]
        impl ::core::convert::From<Column> for ::std::string::String {
            fn from(column: Column) -> Self {
                ::charter_runtime::generated::IdenStatic::as_str(&column).to_owned()
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::ColumnTrait for Column {
            type EntityName = Entity;
            fn def(&self) -> ::charter_runtime::generated::ColumnDef {
                ::charter_runtime::generated::column_definition::<Entity>(*self)
            }
        }
    }
}

/// A row that was read.
fn model(parts: &Parts<'_>, sound: bool) -> TokenStream {
    let Parts { model, idents, names, positions, .. } = parts;
    // A struct with misuses has no valid conversions; the stub never runs.
    let (assemble, into_active) = if sound {
        (
            quote! {
                let mut source = source;
                let model = #model { #(#idents: source.take()),* };
                source.finish(model)
            },
            quote!(ActiveModel { #(#idents: ::charter_runtime::generated::ActiveValue::Unchanged(self.#idents)),* }),
        )
    } else {
        (quote!(let _ = source; ::core::unreachable!()), quote!(::core::unreachable!()))
    };
    quote! {
        #[automatically_derived]
        impl ::charter_runtime::generated::Record for #model {
            const COLUMNS: &'static [&'static str] = &[#(#names),*];
            fn slot(&self, position: usize) -> &dyn ::charter_runtime::generated::Slot {
                match position {
                    #(#positions => &self.#idents,)*
                    _ => ::charter_runtime::generated::no_column(position),
                }
            }
            fn slot_mut(&mut self, position: usize) -> &mut dyn ::charter_runtime::generated::Slot {
                match position {
                    #(#positions => &mut self.#idents,)*
                    _ => ::charter_runtime::generated::no_column(position),
                }
            }
            fn assemble(
                source: ::charter_runtime::generated::Source<'_>,
            ) -> ::core::result::Result<Self, ::charter_runtime::generated::TryGetError> {
                #assemble
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::ModelTrait for #model {
            type Entity = Entity;
            fn get(&self, column: Column) -> ::charter_runtime::generated::Value {
                ::charter_runtime::generated::Record::slot(self, column as usize).value()
            }
            fn get_value_type(column: Column) -> ::charter_runtime::generated::ArrayType {
                ::charter_runtime::generated::column_type::<Entity>(column)
            }
            fn try_set(
                &mut self,
                column: Column,
                value: ::charter_runtime::generated::Value,
            ) -> ::core::result::Result<(), ::charter_runtime::generated::DbErr> {
                ::charter_runtime::generated::Record::slot_mut(self, column as usize).set(value)
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::FromQueryResult for #model {
            fn from_query_result(
                row: &::charter_runtime::generated::QueryResult,
                prefix: &str,
            ) -> ::core::result::Result<Self, ::charter_runtime::generated::DbErr> {
                ::charter_runtime::generated::read_row(row, prefix)
            }
            fn from_query_result_nullable(
                row: &::charter_runtime::generated::QueryResult,
                prefix: &str,
            ) -> ::core::result::Result<Self, ::charter_runtime::generated::TryGetError> {
                ::charter_runtime::generated::read_nullable_row(row, prefix)
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::IntoActiveModel<ActiveModel> for #model {
            fn into_active_model(self) -> ActiveModel {
                #into_active
            }
        }
    }
}

/// A row with some columns set.
fn active_model(parts: &Parts<'_>) -> TokenStream {
    let Parts { model, idents, positions, .. } = parts;
    quote! {
        #[automatically_derived]
        impl ::core::convert::From<#model> for ActiveModel {
            fn from(model: #model) -> ActiveModel {
                ::charter_runtime::generated::IntoActiveModel::into_active_model(model)
            }
        }
        #[automatically_derived]
        impl ::core::default::Default for ActiveModel {
            fn default() -> ActiveModel {
                ActiveModel { #(#idents: ::charter_runtime::generated::ActiveValue::NotSet),* }
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::ActiveRecord for ActiveModel {
            fn slot(&self, position: usize) -> &dyn ::charter_runtime::generated::ActiveSlot {
                match position {
                    #(#positions => &self.#idents,)*
                    _ => ::charter_runtime::generated::no_column(position),
                }
            }
            fn slot_mut(&mut self, position: usize) -> &mut dyn ::charter_runtime::generated::ActiveSlot {
                match position {
                    #(#positions => &mut self.#idents,)*
                    _ => ::charter_runtime::generated::no_column(position),
                }
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::ActiveModelTrait for ActiveModel {
            type Entity = Entity;
            fn take(
                &mut self,
                column: Column,
            ) -> ::charter_runtime::generated::ActiveValue<::charter_runtime::generated::Value> {
                ::charter_runtime::generated::ActiveRecord::slot_mut(self, column as usize).take()
            }
            fn get(
                &self,
                column: Column,
            ) -> ::charter_runtime::generated::ActiveValue<::charter_runtime::generated::Value> {
                ::charter_runtime::generated::ActiveRecord::slot(self, column as usize).get()
            }
            fn set_if_not_equals(&mut self, column: Column, value: ::charter_runtime::generated::Value) {
                ::charter_runtime::generated::ActiveRecord::slot_mut(self, column as usize).set_if_not_equals(value)
            }
            fn try_set(
                &mut self,
                column: Column,
                value: ::charter_runtime::generated::Value,
            ) -> ::core::result::Result<(), ::charter_runtime::generated::DbErr> {
                ::charter_runtime::generated::ActiveRecord::slot_mut(self, column as usize).set(value)
            }
            fn not_set(&mut self, column: Column) {
                ::charter_runtime::generated::ActiveRecord::slot_mut(self, column as usize).not_set()
            }
            fn is_not_set(&self, column: Column) -> bool {
                ::charter_runtime::generated::ActiveRecord::slot(self, column as usize).is_not_set()
            }
            fn default() -> Self {
                ::core::default::Default::default()
            }
            fn default_values() -> Self {
                ::core::default::Default::default()
            }
            fn reset(&mut self, column: Column) {
                ::charter_runtime::generated::ActiveRecord::slot_mut(self, column as usize).reset()
            }
        }
        #[automatically_derived]
        impl ::charter_runtime::generated::ActiveModelBehavior for ActiveModel {}
    }
}

/// The table: the setting, or else the plural.
fn table(resource: &Resource) -> String {
    let settings = &resource.settings;
    let text = |word: &Option<Word>| word.as_ref().map(|word| word.text.clone());
    text(&settings.table)
        .or_else(|| text(&settings.plural))
        .or_else(|| settings.name.as_ref().map(|name| plural(&name.text)))
        .unwrap_or_default()
}
