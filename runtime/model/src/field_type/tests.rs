//! Tests of the field types and their facts.

use super::*;
use crate::Constant;

fn examples() -> Vec<FieldType<Constant>> {
    vec![
        FieldType::String { max: 255 },
        FieldType::Text,
        FieldType::Integer,
        FieldType::BigInt,
        FieldType::Boolean,
        FieldType::Decimal { precision: 12, places: 2 },
        FieldType::Timestamp { form: TimestampForm::Seconds },
        FieldType::Date,
        FieldType::Time,
        FieldType::Enum { values: &["draft"] },
        FieldType::Code { values: &[(1, "Bulk")] },
        FieldType::StringList { max: 50 },
        FieldType::RefList { resource: "role" },
        FieldType::Json,
        FieldType::Uuid,
        FieldType::Ref { resource: "user" },
        FieldType::PolymorphicRef { type_field: "owner_type" },
        FieldType::PolymorphicType { type_names: &["User"] },
        FieldType::CustomFields,
    ]
}

#[test]
fn every_column_type_is_made_of_its_facts_and_arguments() {
    let examples = examples();
    assert_eq!(examples.len(), TypeFacts::COLUMNS.len());
    for (of_type, facts) in examples.iter().zip(TypeFacts::COLUMNS) {
        assert!(std::ptr::eq(of_type.facts(), *facts), "{}", facts.variant);
        assert_eq!(FieldType::read(facts, of_type.arguments()), Some(*of_type));
        assert!(format!("{of_type:?}").starts_with(facts.variant) && of_type.storage().is_some());
    }
}

#[test]
fn only_booleans_are_true_or_false() {
    let (boolean, integer) = (FieldType::<Constant>::Boolean, FieldType::<Constant>::Integer);
    assert!(boolean.accepts(Predicate::True) && !integer.accepts(Predicate::True));
}

#[test]
fn text_has_parts_and_numbers_have_an_order() {
    let (text, integer) = (FieldType::<Constant>::Text, FieldType::<Constant>::Integer);
    assert!(text.accepts(Predicate::Cont) && !integer.accepts(Predicate::Cont));
    assert!(integer.accepts(Predicate::Gteq) && !FieldType::<Constant>::Uuid.accepts(Predicate::Gteq));
}

#[test]
fn lists_and_objects_cannot_be_filtered() {
    assert!(!FieldType::<Constant>::Json.is_filterable());
    assert!(!FieldType::<Constant>::StringList { max: 50 }.is_filterable());
}

#[test]
fn an_id_is_compared_with_a_reference() {
    let (id, user) = (FieldType::<Constant>::BigInt, FieldType::<Constant>::Ref { resource: "user" });
    assert!(id.is_comparable_with(&user) && user.is_comparable_with(&id));
    assert!(
        !id.is_comparable_with(&FieldType::Integer)
            && !FieldType::<Constant>::Json.is_comparable_with(&FieldType::Json)
    );
}

#[test]
fn the_names_of_other_systems_lead_to_a_type() {
    for (name, here) in
        [("varchar", "string(255)"), ("TextField", "text"), ("Float", "decimal(12, 2)"), ("IP", "string(45)")]
    {
        assert_eq!(TypeWord::elsewhere(name), Some(here), "{name}");
    }
    assert_eq!((TypeWord::elsewhere("text"), TypeWord::elsewhere("blob")), (None, None));
}
