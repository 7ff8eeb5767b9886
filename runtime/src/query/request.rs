//! What a client asks of a list, as written: not yet checked against any resource.

use percent_encoding::percent_decode_str;

use super::plan::{MAX_CONDITIONS, MAX_LIST_ELEMENTS};
use super::predicate::Predicate;
use crate::error::{Error, FieldErrors, Result};

/// The parts of a list's query string.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    pub terms: Vec<Term>,
    /// The keys of the order, each with a leading `-` when it descends.
    pub sort: Option<Vec<String>>,
    pub page: Option<String>,
    pub per_page: Option<String>,
    pub cursor: Option<String>,
    pub count: Option<String>,
    pub explain: Option<String>,
    /// Whether deleted records are meant: `only`.
    pub deleted: Option<String>,
    pub include: Vec<String>,
    pub fields: Option<Vec<String>>,
    pub view_id: Option<String>,
    /// Conditions as a saved view has them, as JSON.
    pub filters: Option<String>,
}

impl Request {
    /// What a name may mean is looked at only where there are not too many: each costs a comparison with every known one.
    ///
    /// # Errors
    /// 422 under what there is too much of.
    pub fn check_size(&self) -> Result<()> {
        let mut errors = FieldErrors::default();
        let fields = self.fields.as_ref().map_or(0, Vec::len);
        let keys = self.sort.as_ref().map_or(0, Vec::len);
        for (parameter, count, most, what) in [
            ("q", self.terms.len(), MAX_CONDITIONS, "conditions"),
            ("q[s]", keys, MAX_CONDITIONS, "keys"),
            ("include", self.include.len(), MAX_LIST_ELEMENTS, "names"),
            ("fields", fields, MAX_LIST_ELEMENTS, "names"),
        ] {
            if count > most {
                errors.add(parameter, format!("must have at most {most} {what}"));
            }
        }
        errors.into_result()
    }
}

/// One `q[...]` parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The parameter's own name, under which its problems are reported: `q[name_or_sku_cont]`.
    pub parameter: String,
    /// What stands before the predicate: `name_or_sku`. The whole key when no predicate is known.
    pub name: String,
    pub predicate: Option<Predicate>,
    /// The whole key, `name_or_sku_cont`, where it stood in one piece: its predicate may begin elsewhere after all.
    pub key: Option<String>,
    pub values: Values,
}

/// The value of a parameter, in the two ways to give several.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// `q[id_in]=1,2`
    One(String),
    /// `q[id_in][]=1&q[id_in][]=2`
    Repeated(Vec<String>),
}

/// A decoded parameter of a query string.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub name: String,
    pub value: String,
}

/// Decodes a query string, or a form.
///
/// # Errors
/// [`Error::Malformed`] when an escape is not two hexadecimal digits or the bytes are not UTF-8.
pub fn decode(query: &str) -> Result<Vec<Pair>> {
    query
        .split('&')
        .filter(|piece| !piece.is_empty())
        .map(|piece| {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            Ok(Pair { name: decode_piece(name)?, value: decode_piece(value)? })
        })
        .collect()
}

fn decode_piece(piece: &str) -> Result<String> {
    let mut escapes = piece.split('%').skip(1);
    if !escapes.all(|rest| rest.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))) {
        return Err(Error::Malformed("The query string or form holds a `%` that is not an escape.".into()));
    }
    let spaced = piece.replace('+', " ");
    percent_decode_str(&spaced)
        .decode_utf8()
        .map(|text| text.into_owned())
        .map_err(|_| Error::Malformed("The query string or form is not UTF-8.".into()))
}
