//! Exact decimal number with a fixed number of places, the Rust type of a `decimal(p, s)` field.
//!
//! PostgreSQL stores it as `numeric`; SQLite, which only has floating point, as an integer scaled by 10^places. The value carries its
//! scale, so that it can be scaled without knowing the column.

use std::fmt;
use std::str::FromStr;

use rust_decimal::RoundingStrategy;
use sea_orm::sea_query::{ArrayType, Nullable, ValueType, ValueTypeErr};
use sea_orm::sqlx::Row;
use sea_orm::sqlx::error::Error as SqlxError;
use sea_orm::{ColIdx, ColumnType, DbErr, QueryResult, RuntimeErr, TryGetError, TryGetable, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::number::{self, Scaled};

/// An exact number with exactly `PLACES` digits after the point. For arithmetic, convert it to [`rust_decimal::Decimal`] and back with
/// [`Decimal::new`] or [`Decimal::round_half_even`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal<const PLACES: u32>(rust_decimal::Decimal);

/// The reason why a number is not a [`Decimal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDecimal {
    /// It is not a number.
    Text,
    /// It has more places than the type, and they are not zero.
    Places { places: u32 },
    /// It has too many digits before the point.
    Range { places: u32 },
}

impl fmt::Display for NotDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotDecimal::Text => f.write_str("not a decimal number"),
            NotDecimal::Places { places } => write!(f, "more than {places} decimal places"),
            NotDecimal::Range { places } => write!(f, "too large for a number with {places} decimal places"),
        }
    }
}

impl std::error::Error for NotDecimal {}

impl<const PLACES: u32> Decimal<PLACES> {
    /// Zero.
    pub const ZERO: Decimal<PLACES> = Decimal::from_scaled(0);

    /// Converts a number exactly.
    ///
    /// # Errors
    /// When it has further places that are not zero, or too many digits.
    pub fn new(number: rust_decimal::Decimal) -> Result<Decimal<PLACES>, NotDecimal> {
        let fitted = Decimal::fit(number)?;
        if fitted.0 == number { Ok(fitted) } else { Err(NotDecimal::Places { places: PLACES }) }
    }

    /// Rounds to the nearest number, and halves to even.
    ///
    /// # Errors
    /// When it has too many digits.
    pub fn round_half_even(number: rust_decimal::Decimal) -> Result<Decimal<PLACES>, NotDecimal> {
        Decimal::fit(number.round_dp_with_strategy(PLACES, RoundingStrategy::MidpointNearestEven))
    }

    /// The number `units` × 10^-`PLACES`, as SQLite stores it.
    pub const fn from_scaled(units: i64) -> Decimal<PLACES> {
        // 28 is what rust_decimal can hold; a larger PLACES does not compile.
        const { assert!(PLACES <= 28, "a decimal has at most 28 places") };
        let magnitude = units.unsigned_abs();
        let (low, middle) = (magnitude as u32, (magnitude >> 32) as u32);
        Decimal(rust_decimal::Decimal::from_parts(low, middle, 0, units < 0, PLACES))
    }

    /// The number × 10^`PLACES`; `None` if it exceeds an `i64`.
    pub fn scaled(self) -> Option<i64> {
        self.0.mantissa().try_into().ok()
    }

    /// The number for arithmetic.
    pub const fn get(self) -> rust_decimal::Decimal {
        self.0
    }

    fn fit(mut number: rust_decimal::Decimal) -> Result<Decimal<PLACES>, NotDecimal> {
        number.rescale(PLACES);
        // `rescale` keeps a smaller scale if the digits would not fit.
        if number.scale() != PLACES {
            return Err(NotDecimal::Range { places: PLACES });
        }
        // Neither database has a negative zero.
        if number.is_zero() {
            number.set_sign_positive(true);
        }
        Ok(Decimal(number))
    }
}

impl<const PLACES: u32> Default for Decimal<PLACES> {
    fn default() -> Self {
        Decimal::ZERO
    }
}

/// Writes all places: `0.0000`.
impl<const PLACES: u32> fmt::Display for Decimal<PLACES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Parses a number exactly, as in bodies and queries.
impl<const PLACES: u32> FromStr for Decimal<PLACES> {
    type Err = NotDecimal;

    fn from_str(text: &str) -> Result<Self, NotDecimal> {
        match number::scale(text, PLACES) {
            Some(Scaled::Exact(units)) => Ok(Decimal::from_scaled(units)),
            Some(Scaled::Between(_)) => Err(NotDecimal::Places { places: PLACES }),
            Some(Scaled::Below | Scaled::Above) => Err(NotDecimal::Range { places: PLACES }),
            None => Err(NotDecimal::Text),
        }
    }
}

impl<const PLACES: u32> From<Decimal<PLACES>> for rust_decimal::Decimal {
    fn from(decimal: Decimal<PLACES>) -> Self {
        decimal.0
    }
}

impl<const PLACES: u32> Serialize for Decimal<PLACES> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const PLACES: u32> Deserialize<'de> for Decimal<PLACES> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The scale of the value is exactly `PLACES`, which the connection needs to write the scaled integer on SQLite.
impl<const PLACES: u32> From<Decimal<PLACES>> for Value {
    fn from(decimal: Decimal<PLACES>) -> Self {
        Value::Decimal(Some(decimal.0))
    }
}

impl<const PLACES: u32> Nullable for Decimal<PLACES> {
    fn null() -> Value {
        Value::Decimal(None)
    }
}

impl<const PLACES: u32> ValueType for Decimal<PLACES> {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        match value {
            Value::Decimal(Some(number)) => Decimal::new(number).map_err(|_| ValueTypeErr),
            _ => Err(ValueTypeErr),
        }
    }

    fn type_name() -> String {
        format!("Decimal<{PLACES}>")
    }

    fn array_type() -> ArrayType {
        ArrayType::Decimal
    }

    fn column_type() -> ColumnType {
        // Both databases store 18 digits.
        ColumnType::Decimal(Some((18, PLACES)))
    }
}

impl<const PLACES: u32> TryGetable for Decimal<PLACES> {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let stored = if let Some(row) = row.try_as_sqlite_row() {
            let units: Option<i64> = row.try_get(index.as_sqlx_sqlite_index()).map_err(query_error)?;
            units.map(|units| Ok(Decimal::from_scaled(units)))
        } else if let Some(row) = row.try_as_pg_row() {
            let number: Option<rust_decimal::Decimal> =
                row.try_get(index.as_sqlx_postgres_index()).map_err(query_error)?;
            number.map(Decimal::new)
        } else {
            return Err(DbErr::Type("a decimal is read from SQLite or PostgreSQL".to_owned()).into());
        };
        match stored {
            Some(Ok(decimal)) => Ok(decimal),
            Some(Err(why)) => Err(DbErr::Type(format!("column {index:?}: {why}")).into()),
            None => Err(TryGetError::Null(format!("{index:?}"))),
        }
    }
}

fn query_error(error: SqlxError) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}

#[cfg(test)]
mod tests {
    use sea_orm::{ConnectionTrait, Database, Statement};

    use super::*;

    fn exact(text: &str) -> rust_decimal::Decimal {
        rust_decimal::Decimal::from_str_exact(text).expect("a number")
    }

    /// Units at and around each power of ten up to 18 digits, and some between.
    fn units() -> impl Iterator<Item = i64> {
        let edges = (0..=18).map(|digits| 10_i64.pow(digits)).flat_map(|power| [power - 1, power, power + 1]);
        let spread = (1..200_i64).map(|step| step.wrapping_mul(48_271 * 1_000_003).wrapping_mul(step) % 10_i64.pow(18));
        let all = edges.chain(spread).flat_map(|units| [units, -units]);
        all.filter(|units| units.unsigned_abs() < 10_u64.pow(18))
    }

    #[test]
    fn every_number_of_18_digits_survives_text_units_and_values() {
        for units in units() {
            let decimal = Decimal::<8>::from_scaled(units);
            assert_eq!(decimal.scaled(), Some(units));
            let text = decimal.to_string();
            assert_eq!(text.split_once('.').expect("a point").1.len(), 8, "{text}");
            assert_eq!(text.parse(), Ok(decimal));
            let value = Value::from(decimal);
            assert!(
                matches!(value, Value::Decimal(Some(number)) if number.scale() == 8 && number.mantissa() == units.into())
            );
            assert_eq!(<Decimal<8> as ValueType>::try_from(value).ok(), Some(decimal));
        }
    }

    #[test]
    fn decimals_are_ordered_like_their_units() {
        let mut decimals: Vec<(Decimal<4>, i64)> = units().map(|units| (Decimal::from_scaled(units), units)).collect();
        decimals.sort();
        assert!(decimals.is_sorted_by_key(|(_, units)| *units));
    }

    #[test]
    fn decimal_is_written_with_all_its_places() {
        assert_eq!(Decimal::<4>::ZERO.to_string(), "0.0000");
        assert_eq!(Decimal::<0>::from_scaled(-7).to_string(), "-7");
        assert_eq!(Decimal::<2>::from_scaled(-5).to_string(), "-0.05");
        assert_eq!(Decimal::<8>::from_scaled(999_999_999_999_999_999).to_string(), "9999999999.99999999");
        assert_eq!(serde_json::to_string(&Decimal::<2>::from_scaled(150)).ok().as_deref(), Some("\"1.50\""));
        assert_eq!(serde_json::from_str::<Decimal<2>>("\"1.5\"").ok(), Some(Decimal::from_scaled(150)));
    }

    #[test]
    fn negative_zero_becomes_zero() {
        let negative = Decimal::<2>::new(-exact("0.00")).expect("zero");
        assert_eq!(negative.to_string(), "0.00");
        assert_eq!(Decimal::<2>::round_half_even(exact("-0.001")).expect("nearly zero").to_string(), "0.00");
    }

    #[test]
    fn excess_places_are_refused_or_rounded_to_even() {
        assert_eq!(Decimal::<2>::new(exact("1.5000")).map(|d| d.to_string()), Ok("1.50".to_owned()));
        assert_eq!(Decimal::<2>::new(exact("1.505")), Err(NotDecimal::Places { places: 2 }));
        for (text, rounded) in [("1.505", "1.50"), ("1.515", "1.52"), ("-1.505", "-1.50"), ("1.5051", "1.51")] {
            let decimal = Decimal::<2>::round_half_even(exact(text)).expect("a number that fits");
            assert_eq!(decimal.to_string(), rounded);
        }
    }

    #[test]
    fn invalid_text_is_refused() {
        assert_eq!("".parse::<Decimal<2>>(), Err(NotDecimal::Text));
        assert_eq!("1,5".parse::<Decimal<2>>(), Err(NotDecimal::Text));
        assert_eq!("NaN".parse::<Decimal<2>>(), Err(NotDecimal::Text));
        assert_eq!("0.005".parse::<Decimal<2>>(), Err(NotDecimal::Places { places: 2 }));
        assert_eq!("0.00000000000000000000000000005".parse::<Decimal<2>>(), Err(NotDecimal::Places { places: 2 }));
        let huge = "79228162514264337593543950335";
        assert_eq!(huge.parse::<Decimal<2>>(), Err(NotDecimal::Range { places: 2 }));
        assert_eq!(format!("{huge}0").parse::<Decimal<2>>(), Err(NotDecimal::Range { places: 2 }));
        assert_eq!(Decimal::<0>::new(exact(huge)).expect("29 digits").scaled(), None);
    }

    #[tokio::test]
    async fn sqlite_stores_units() -> Result<(), DbErr> {
        let database = Database::connect("sqlite::memory:").await?;
        let backend = database.get_database_backend();
        let sql = "SELECT 999999999999999999 AS a, -5 AS b, NULL AS c, 'x' AS d";
        let row = database.query_one_raw(Statement::from_string(backend, sql)).await?.expect("a row");
        assert_eq!(row.try_get::<Decimal<8>>("", "a")?.to_string(), "9999999999.99999999");
        assert_eq!(row.try_get_by_index::<Decimal<2>>(1)?.to_string(), "-0.05");
        assert_eq!(row.try_get::<Option<Decimal<2>>>("", "c")?, None);
        assert!(row.try_get::<Decimal<2>>("", "c").is_err());
        assert!(row.try_get::<Decimal<2>>("", "d").is_err());
        Ok(())
    }
}
