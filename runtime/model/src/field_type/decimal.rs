//! `decimal(p, s)`: an exact number with a fixed number of decimal places.

use super::{Parameters, Takes, TypeFacts, TypeWord};
use crate::literal::Misfit;
use crate::{Group, Number, Widget};

/// Maximum of digits in all. They fit the 64-bit integers in which SQLite stores decimals exactly.
pub const MAX_DIGITS: u8 = 18;

pub static WORD: TypeWord = TypeWord {
    word: "decimal",
    written: "decimal(p, s)",
    example: "decimal(12, 4)",
    pattern: "decimal\\( *({p}|{digits}) *",
    json: "string with s places",
    rust: "Decimal<s>",
    meaning: "An exact number of at most p digits (18 at most), of which s are decimal places.",
    takes: Takes::Digits,
    facts: &FACTS,
    elsewhere: &[(&["float", "double", "number", "numeric", "money"], "decimal(12, 2)")],
};

pub static FACTS: TypeFacts = TypeFacts {
    variant: "Decimal",
    word: "decimal",
    attribute: "decimal",
    usage: "decimal(12, 2)",
    signature: "decimal({})",
    parameters: Parameters::Digits,
    rust: &["Decimal"],
    predicates: &[Group::Every, Group::Ordered],
    family: Some("decimal"),
    is_number: true,
    widgets: &[Widget::Money],
    ..TypeFacts::PLAIN
};

/// True if `decimal(precision, places)` holds the number.
pub fn holds(precision: u8, places: u8, number: Number) -> bool {
    number.places <= places.into() && number.fits_digits((precision - places).into())
}

pub fn literal(precision: u8, places: u8, text: &str) -> Result<(), Misfit> {
    match Number::read(text).filter(|number| holds(precision, places, *number)) {
        Some(_) => Ok(()),
        None => Err(Misfit::new(
            format!("`{text}` is not a number of at most {precision} digits with at most {places} decimal places"),
            "for example `0`",
        )),
    }
}
