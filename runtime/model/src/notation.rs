//! Representations of the names in a field type or a rule, so that one enum serves constants and source text.

use std::fmt::Debug;

/// How a crate represents names: as constants, as owned text, or as text with its place in a source file.
pub trait Notation: 'static {
    /// The name of a resource or a field, or the text of a rule.
    type Name: Debug + Clone + PartialEq;
    /// Several names, or the words of an enum.
    type Names: Debug + Clone + PartialEq;
    /// The numbers of a code, each with its label.
    type Codes: Debug + Clone + PartialEq;

    fn text(name: &Self::Name) -> &str;

    fn texts(names: &Self::Names) -> Vec<&str>;

    fn codes(codes: &Self::Codes) -> Vec<(i32, &str)>;
}

/// Constants: the metadata that the derive writes and the runtime reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant;

impl Notation for Constant {
    type Name = &'static str;
    type Names = &'static [&'static str];
    type Codes = &'static [(i32, &'static str)];

    fn text(name: &Self::Name) -> &str {
        name
    }

    fn texts(names: &Self::Names) -> Vec<&str> {
        names.to_vec()
    }

    fn codes(codes: &Self::Codes) -> Vec<(i32, &str)> {
        codes.to_vec()
    }
}
