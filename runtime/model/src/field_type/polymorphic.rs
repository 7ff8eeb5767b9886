//! `ref(x | y)`: the two columns of a reference to one of several resources, its type and its id.

use super::{Parameters, TypeFacts, reference};
use crate::literal::Misfit;
use crate::naming::upper_camel;
use crate::{Group, Storage};

/// `<name>_type`: the type name of the other record.
pub static TYPE: TypeFacts = TypeFacts {
    variant: "PolymorphicType",
    word: "ref",
    attribute: "polymorphic_type",
    usage: "polymorphic_type(\"member\", \"product\")",
    signature: "type_of({})",
    parameters: Parameters::Targets,
    rust: &["String"],
    storage: Some(Storage::Word),
    predicates: &[Group::Every],
    is_folded: true,
    has_few_values: true,
    can_be_unique: false,
    can_be_filled: false,
    literal: |key, _| literal(key),
    ..TypeFacts::PLAIN
};

/// `<name>_id`: the id of the other record.
pub static ID: TypeFacts = TypeFacts {
    variant: "PolymorphicRef",
    word: "ref",
    attribute: "polymorphic_id",
    usage: "polymorphic_id(type_field = \"…\")",
    signature: "id_of_type",
    parameters: Parameters::TypeField,
    rust: &["i64"],
    storage: Some(Storage::BigInt),
    predicates: &[Group::Every, Group::Ordered],
    family: Some("id"),
    can_be_unique: false,
    can_be_filled: false,
    literal: |key, _| literal(key),
    value: Some(reference::value),
    ..TypeFacts::PLAIN
};

/// The type has no literals: no records exist when the application is built.
fn literal(key: &str) -> Result<(), Misfit> {
    Err(Misfit::new("no record exists when the application is built", format!("remove `{key}`")))
}

/// A value is the type name of one of the resources: `StockLevel`.
pub fn type_name(targets: &[&str], text: &str) -> Result<(), Misfit> {
    let known: Vec<String> = targets.iter().map(|target| upper_camel(target)).collect();
    match known.iter().any(|name| name == text) {
        true => Ok(()),
        false => Err(Misfit::new(format!("`{text}` is not one of its types"), format!("one of: {}", known.join(", ")))),
    }
}
