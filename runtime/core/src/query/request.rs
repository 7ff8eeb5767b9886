//! List request as written by the client, not yet checked against a resource.

use charter_model::Predicate;
use percent_encoding::percent_decode_str;

use super::plan::{MAX_CONDITIONS, MAX_LIST_ELEMENTS};
use crate::error::{Error, FieldErrors, Result};

/// Parameters of a list's query string.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    pub terms: Vec<Term>,
    /// Conditions that one record of a relation meets together.
    pub groups: Vec<Group>,
    /// Order keys. A leading `-` means descending.
    pub sort: Option<Vec<String>>,
    pub page: Option<String>,
    pub per_page: Option<String>,
    pub cursor: Option<String>,
    pub count: Option<String>,
    pub explain: Option<String>,
    /// Form of a CSV export.
    pub csv: Option<String>,
    /// `only` selects deleted records.
    pub deleted: Option<String>,
    pub include: Vec<String>,
    pub fields: Option<Vec<String>>,
    /// Words to find in the text fields of the resource.
    pub search: Option<String>,
    pub view_id: Option<String>,
    /// A reference field, `order.product_id`, whose choices are wanted.
    pub choices_of: Option<String>,
    /// Conditions in the JSON form of a saved view.
    pub filters: Option<String>,
}

impl Request {
    /// Checks the number of terms and names before they are resolved, because each is compared with every known name.
    ///
    /// # Errors
    /// 422 for each parameter that exceeds its limit.
    pub fn check_size(&self) -> Result<()> {
        let mut errors = FieldErrors::default();
        let fields = self.fields.as_ref().map_or(0, Vec::len);
        let keys = self.sort.as_ref().map_or(0, Vec::len);
        for (parameter, count, limit, unit) in [
            ("q", self.all_terms().count(), MAX_CONDITIONS, "conditions"),
            ("q[s]", keys, MAX_CONDITIONS, "keys"),
            ("include", self.include.len(), MAX_LIST_ELEMENTS, "names"),
            ("fields", fields, MAX_LIST_ELEMENTS, "names"),
        ] {
            if count > limit {
                errors.add(parameter, format!("must have at most {limit} {unit}"));
            }
        }
        errors.into_result()
    }

    /// The terms, also those of groups.
    pub fn all_terms(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().chain(self.groups.iter().flat_map(|group| &group.terms))
    }
}

/// The parameters `q[lines.some][...]` of one relation and one quantifier.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// `q[lines.some]`
    pub parameter: String,
    pub relation: String,
    pub quantifier: Quantifier,
    /// Their parameters are whole: `q[lines.some][quantity_gt]`.
    pub terms: Vec<Term>,
}

/// How many records of a relation meet a group of conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// At least one.
    Some,
    None,
}

impl Quantifier {
    /// The words, as in `q` and as predicates of a saved view.
    pub const WORDS: [&'static str; 2] = ["some", "none"];

    pub fn from_word(word: &str) -> Option<Quantifier> {
        match word {
            "some" => Some(Quantifier::Some),
            "none" => Some(Quantifier::None),
            _ => None,
        }
    }
}

/// One `q[...]` parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The parameter's full name, which its errors are reported for: `q[name_or_sku_cont]`.
    pub parameter: String,
    /// The part before the predicate: `name_or_sku`. The whole key if the predicate is unknown.
    pub name: String,
    pub predicate: Option<Predicate>,
    /// The whole key, `name_or_sku_cont`, so that the predicate can be split off again when the fields are known.
    pub key: Option<String>,
    pub values: Values,
}

/// Value of a parameter, in one of two notations for lists.
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

/// Decodes a query string or an urlencoded form.
///
/// # Errors
/// [`Error::Malformed`] if an escape is not two hexadecimal digits, or if the bytes are not UTF-8.
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

/// Splits `a, b` into `a` and `b`.
pub(super) fn split_names(value: &str) -> impl Iterator<Item = String> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(String::from)
}
