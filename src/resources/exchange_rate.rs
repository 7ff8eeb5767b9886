//! Behaviour of exchange rates: inverse rate, and conversion at a point in time (specification, "Exchange rate").

use std::cmp::Ordering;

use charter_runtime::generated::*;
use charter_runtime::{Error, Result};
use rust_decimal::Decimal as Number;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, Condition as Where, EntityTrait, QueryFilter, QueryOrder};

use super::generated::exchange_rate::{Behaviour, Column, ConvertInput, ConvertMethod, ConvertOutput, Entity, Model};
use super::generated::{currency, settings};

impl Behaviour for Entity {
    async fn check(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        let positive = |rate: &Number| *rate > Number::ZERO;
        if new_rate(draft).filter(positive).is_some_and(|rate| inverse(rate).is_none()) {
            draft.error(Column::Rate, "is so large that its inverse rounds to nothing: give inverse_rate too");
        }
        Ok(())
    }

    /// Computes the inverse rate unless it is given.
    async fn before_save(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if let Some(inverse) = new_rate(draft).and_then(inverse) {
            draft.model.inverse_rate = Set(inverse);
        }
        Ok(())
    }

    async fn convert(context: &Context<'_>, input: ConvertInput) -> Result<ConvertOutput> {
        let amount = Number::from(input.amount);
        let (rate, method, path) = find_path(context, &input).await?;
        let target = currency::Entity::find().filter(currency::Column::Code.eq(&input.to)).one(context.db()).await?;
        let places = target.and_then(|currency| u32::try_from(currency.decimal_places).ok()).unwrap_or(2);
        let too_large = || Error::invalid("amount", "is too large to convert at this rate");
        let result =
            rate.times(Exact::from(amount)).and_then(|product| product.rounded(places)).ok_or_else(too_large)?;
        Ok(ConvertOutput {
            from: input.from,
            to: input.to,
            amount: input.amount,
            rate: rate.rounded(8).and_then(|rate| Decimal::round_half_even(rate).ok()).ok_or_else(too_large)?,
            result: result.to_string(),
            method,
            path: path.into(),
            at: input.at,
        })
    }
}

/// The new rate, if its inverse is not given.
fn new_rate(draft: &Draft<Entity>) -> Option<Number> {
    let before = draft.before.as_ref().map(|stored| stored.rate);
    let rate = draft.model.rate.is_set().then(|| *draft.model.rate.as_ref())?;
    (before != Some(rate) && !draft.model.inverse_rate.is_set()).then(|| rate.into())
}

/// 1 divided by the rate, rounded half to even to 8 places; `None` if that is zero or cannot be stored.
fn inverse(rate: Number) -> Option<Decimal<8>> {
    let inverse = Number::ONE.checked_div(rate)?;
    Decimal::round_half_even(inverse).ok().filter(|inverse| *inverse != Decimal::ZERO)
}

/// The rate between two currencies, how it was found, and the intermediate currencies.
async fn find_path(context: &Context<'_>, input: &ConvertInput) -> Result<(Exact, ConvertMethod, Vec<String>)> {
    let (from, to) = (input.from.as_str(), input.to.as_str());
    let path = |codes: &[&str]| codes.iter().map(ToString::to_string).collect::<Vec<_>>();
    if from == to {
        return Ok((Number::ONE.into(), ConvertMethod::Direct, path(&[from])));
    }
    if let Some((rate, method)) = step(context, from, to, input.at).await? {
        return Ok((rate.into(), method, path(&[from, to])));
    }
    let settings = settings::Entity::find().one(context.db()).await?;
    let base = settings.map(|settings| settings.base_currency).unwrap_or_default();
    let first = step(context, from, &base, input.at).await?;
    let second = step(context, &base, to, input.at).await?;
    match (first, second) {
        (Some((first, _)), Some((second, _))) => {
            let rate = Exact::from(first).times(second.into());
            let rate = rate.ok_or_else(|| Error::invalid("to", "is reached by rates too large to multiply"))?;
            Ok((rate, ConvertMethod::Triangulated, path(&[from, &base, to])))
        }
        _ => Err(Error::invalid(
            "to",
            format!("has no rate from {from} at that time, neither direct, nor inverse, nor through {base}"),
        )),
    }
}

/// The rate of one step: a direct rate, or the inverse of one in the other direction.
async fn step(context: &Context<'_>, from: &str, to: &str, at: DateTimeUtc) -> Result<Option<(Number, ConvertMethod)>> {
    if let Some(direct) = in_force(context, from, to, at).await? {
        return Ok(Some((direct.rate.into(), ConvertMethod::Direct)));
    }
    let inverse = in_force(context, to, from, at).await?;
    Ok(inverse.map(|rate| (rate.inverse_rate.into(), ConvertMethod::Inverse)))
}

/// The rate in effect at a time; of several the one that took effect last.
async fn in_force(context: &Context<'_>, from: &str, to: &str, at: DateTimeUtc) -> Result<Option<Model>> {
    let unexpired = Where::any().add(Column::ExpiresAt.is_null()).add(Column::ExpiresAt.gt(at));
    let found = Entity::find()
        .filter(Column::SourceCurrencyCode.eq(from))
        .filter(Column::TargetCurrencyCode.eq(to))
        .filter(Column::EffectiveAt.lte(at))
        .filter(unexpired)
        .order_by_desc(Column::EffectiveAt)
        .order_by_desc(Column::Id)
        .one(context.db())
        .await?;
    Ok(found)
}

/// An exact product before rounding. A [`Number`] would round it to 28 digits first, and rounding twice can change the result.
#[derive(Debug, Clone, Copy)]
struct Exact {
    units: i128,
    places: u32,
}

impl From<Number> for Exact {
    fn from(number: Number) -> Exact {
        let number = number.normalize();
        Exact { units: number.mantissa(), places: number.scale() }
    }
}

impl Exact {
    /// The product; `None` if it has more than 38 digits.
    fn times(self, other: Exact) -> Option<Exact> {
        Some(Exact { units: self.units.checked_mul(other.units)?, places: self.places + other.places })
    }

    /// Rounds half to even to these places; `None` if the result has more than 28 digits.
    fn rounded(self, places: u32) -> Option<Number> {
        let power = |exponent| 10_i128.checked_pow(exponent);
        let units = match self.places.checked_sub(places) {
            None => self.units.checked_mul(power(places - self.places)?)?,
            Some(more) => {
                let unit = power(more)?;
                let (whole, rest) = (self.units / unit, (self.units % unit).abs());
                let is_up = match rest.cmp(&(unit - rest)) {
                    Ordering::Less => false,
                    Ordering::Equal => whole % 2 != 0,
                    Ordering::Greater => true,
                };
                if is_up { whole + self.units.signum() } else { whole }
            }
        };
        Number::try_from_i128_with_scale(units, places).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_rounded_once() {
        let product = |factors: &[&str], places| {
            let factors = factors.iter().map(|text| Exact::from(text.parse::<Number>().expect("a number")));
            let product = factors.map(Some).reduce(|all, next| all?.times(next?)).flatten();
            product.and_then(|product| product.rounded(places)).map(|number| number.to_string())
        };
        for (factors, places, expected) in [
            (&["9000500000.00000001", "1000000000.00000001"][..], 2, "9000500000000000100.01"),
            (&["0.125", "1"], 2, "0.12"),
            (&["0.135", "1"], 2, "0.14"),
            (&["0.125001", "1"], 2, "0.13"),
            (&["-0.125", "1"], 2, "-0.12"),
            (&["-2.5", "3.5", "1"], 0, "-9"),
            (&["7", "1"], 3, "7.000"),
        ] {
            assert_eq!(product(factors, places).as_deref(), Some(expected), "{factors:?}");
        }
        let most = "9999999999.99999999";
        assert_eq!(product(&[most, most, most], 2), None, "38 digits are what is multiplied");
    }
}
