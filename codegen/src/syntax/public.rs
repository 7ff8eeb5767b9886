//! `public` as written: the rights of callers without a token.

use super::keys;
use super::mapping::{Mapping, misshapen};
use super::tree::Value;
use crate::source::{Span, Spanned};

/// `public: { create: [subject, message], limit: 20/hour }`
#[derive(Debug, Clone)]
pub struct PublicSyntax {
    pub span: Span,
    pub create: Vec<Spanned<String>>,
    pub limit: Option<Spanned<String>>,
}

/// Reads the key `public`.
pub fn read(mapping: &mut Mapping<'_, '_>) -> Option<PublicSyntax> {
    let node = mapping.node("public")?;
    if !matches!(&node.value, Value::Map(entries) if !entries.is_empty()) {
        let expected = "a mapping with `create`, the fields that anybody may send";
        let help = "for example `public: { create: [subject, message], limit: 20/hour }`";
        mapping.problems.push(misshapen(node, "`public`", expected).help(help));
        return None;
    }
    let mut public = Mapping::open(&keys::PUBLIC, node, mapping.problems);
    public.require("create");
    let (create, limit) = (public.texts("create"), public.text("limit"));
    public.close();
    Some(PublicSyntax { span: node.span, create: create?, limit })
}
