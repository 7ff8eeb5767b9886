//! Entries of an attribute's list, as written.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{LitInt, LitStr, Token, Type, parenthesized};

use crate::ast::Word;
use crate::names::plain;

/// `required`, `min = "0"`, `string(255)`, `"eq"` or `1 = "Bulk"`.
pub enum Entry {
    Word(Ident),
    Pair(Ident, Value),
    List(Ident, Vec<Entry>),
    Literal(Value),
    Labelled(Number, Word),
}

pub enum Value {
    Text(Word),
    Number(Number),
    Type(Box<Type>),
    /// A literal that no key takes: `true`, `1.5`.
    Other(Span),
}

pub struct Number {
    pub value: i64,
    pub span: Span,
}

impl Entry {
    pub fn key(&self) -> String {
        match self {
            Entry::Word(ident) | Entry::Pair(ident, _) | Entry::List(ident, _) => plain(ident),
            Entry::Literal(_) | Entry::Labelled(..) => String::new(),
        }
    }

    pub fn span(&self) -> Span {
        match self {
            Entry::Word(ident) | Entry::Pair(ident, _) | Entry::List(ident, _) => ident.span(),
            Entry::Literal(value) => value.span(),
            Entry::Labelled(number, _) => number.span,
        }
    }
}

impl Value {
    pub fn span(&self) -> Span {
        match self {
            Value::Text(word) => word.span,
            Value::Number(number) => number.span,
            Value::Type(ty) => ty.span(),
            Value::Other(span) => *span,
        }
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return Ok(Entry::Literal(Value::Text(input.parse()?)));
        }
        if input.peek(LitInt) || input.peek(Token![-]) {
            let number = input.parse()?;
            if input.peek(Token![=]) {
                input.parse::<Token![=]>()?;
                return Ok(Entry::Labelled(number, input.parse()?));
            }
            return Ok(Entry::Literal(Value::Number(number)));
        }
        // Keywords are names too, so that `ref(…)` or `enum(…)` gets a helpful error.
        let ident = input.call(Ident::parse_any)?;
        if input.peek(syn::token::Paren) {
            let inside;
            parenthesized!(inside in input);
            let entries = Punctuated::<Entry, Token![,]>::parse_terminated(&inside)?;
            return Ok(Entry::List(ident, entries.into_iter().collect()));
        }
        if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            return Ok(Entry::Pair(ident, input.parse()?));
        }
        Ok(Entry::Word(ident))
    }
}

impl Parse for Value {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            Ok(Value::Text(input.parse()?))
        } else if input.peek(LitInt) || input.peek(Token![-]) {
            Ok(Value::Number(input.parse()?))
        } else if input.peek(syn::Lit) {
            Ok(Value::Other(input.parse::<syn::Lit>()?.span()))
        } else {
            Ok(Value::Type(Box::new(input.parse()?)))
        }
    }
}

impl Parse for Number {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let negative = input.parse::<Option<Token![-]>>()?.is_some();
        let literal: LitInt = input.parse()?;
        let magnitude: i64 = literal.base10_parse()?;
        Ok(Number { value: if negative { -magnitude } else { magnitude }, span: literal.span() })
    }
}

impl Parse for Word {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let literal: LitStr = input.parse()?;
        Ok(Word { text: literal.value(), span: literal.span() })
    }
}
