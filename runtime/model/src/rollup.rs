//! Types of rollups: the values that a record has from the records that refer to it.

use crate::field_type::decimal;
use crate::{FieldType, Notation, RollupFunction};

impl RollupFunction {
    /// True for a smallest or a largest value, which there is only if a record has one.
    pub fn is_extreme(self) -> bool {
        matches!(self, RollupFunction::Min | RollupFunction::Max)
    }
}

/// The type of a rollup without a declared one, from that of the field that it reads; none if the function does not apply to
/// the field. A count reads no field.
pub fn rollup_type<N: Notation>(function: RollupFunction, field: Option<&FieldType<N>>) -> Option<FieldType<N>>
where
    FieldType<N>: Clone,
{
    match (function, field) {
        (RollupFunction::Count, _) => Some(FieldType::BigInt),
        (RollupFunction::Sum, Some(FieldType::Integer | FieldType::BigInt)) => Some(FieldType::BigInt),
        (RollupFunction::Sum, Some(FieldType::Decimal { places, .. })) => {
            Some(FieldType::Decimal { precision: decimal::MAX_DIGITS, places: *places })
        }
        (RollupFunction::Min | RollupFunction::Max, Some(kind)) => match kind {
            FieldType::Integer
            | FieldType::BigInt
            | FieldType::Decimal { .. }
            | FieldType::Date
            | FieldType::Time
            | FieldType::Timestamp { .. } => Some(kind.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// True if a column of a type can have the values of a rollup: a sum of decimals may have fewer digits.
pub fn takes_rollup<N: Notation>(
    declared: &FieldType<N>,
    function: RollupFunction,
    field: Option<&FieldType<N>>,
) -> bool
where
    FieldType<N>: Clone + PartialEq,
{
    let Some(own) = rollup_type(function, field) else { return false };
    match (declared, &own) {
        (FieldType::Decimal { places, .. }, FieldType::Decimal { places: of_field, .. }) => places == of_field,
        _ => *declared == own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Constant;

    type Kind = FieldType<Constant>;

    #[test]
    fn sums_are_wider_than_their_fields_and_extremes_are_like_them() {
        let price: Kind = FieldType::Decimal { precision: 8, places: 2 };
        assert_eq!(rollup_type::<Constant>(RollupFunction::Count, None), Some(FieldType::BigInt));
        assert_eq!(rollup_type(RollupFunction::Sum, Some(&Kind::Integer)), Some(FieldType::BigInt));
        let sum = rollup_type(RollupFunction::Sum, Some(&price));
        assert_eq!(sum, Some(FieldType::Decimal { precision: 18, places: 2 }));
        assert_eq!(rollup_type(RollupFunction::Max, Some(&Kind::Date)), Some(FieldType::Date));
        for (function, kind) in [(RollupFunction::Sum, Kind::Date), (RollupFunction::Min, Kind::Text)] {
            assert_eq!(rollup_type(function, Some(&kind)), None);
        }
        assert_eq!(rollup_type::<Constant>(RollupFunction::Sum, None), None);
    }

    #[test]
    fn declared_sum_has_the_places_of_its_field() {
        let price: Kind = FieldType::Decimal { precision: 8, places: 2 };
        let takes =
            |precision, places| takes_rollup(&Kind::Decimal { precision, places }, RollupFunction::Sum, Some(&price));
        assert!(takes(12, 2) && takes(18, 2) && !takes(12, 3) && !takes(12, 0));
        assert!(!takes_rollup(&Kind::Integer, RollupFunction::Count, None));
    }
}
