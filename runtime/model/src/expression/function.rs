//! Functions of expressions: their names, and the types of their arguments and results.

use std::ops::Range;

use super::check::{Checker, Typed, bounded};
use super::parser::{Form, Syntax};
use super::types::power_of_ten;
use super::{Digits, Mistake, Node, Type};
use crate::{Keyword, keywords};

keywords! {
    /// A function with a result for every argument of its types.
    Function {
        /// Number of characters (Unicode scalar values) of a text.
        Length = "length",
        /// True if the first text contains the second.
        Contains = "contains",
        /// True if the first text starts with the second.
        StartsWith = "starts_with",
        /// The first of its arguments that is not null.
        Coalesce = "coalesce",
        /// The second argument if the first is true, or else the third.
        If = "if",
        /// The number without its sign.
        Abs = "abs",
        /// Days from the second date to the first.
        Days = "days",
        /// Year of a date.
        Year = "year",
        /// Month of a date, from 1.
        Month = "month"
    }
}

/// A function whose second argument is a literal, so that the checker knows the places of the result.
const ROUND: &str = "round";

/// More characters than a request can have.
const LONGEST_TEXT: i128 = i32::MAX as i128;
/// More days than between two dates of the years 1 to 9999.
const MOST_DAYS: i128 = 4_000_000;

impl Checker<'_> {
    /// A call. With a wanted enum, its words need no quotes where they are the result.
    pub(super) fn call(
        &self,
        name: &str,
        arguments: &[Syntax],
        span: Range<usize>,
        wanted: Option<&Type>,
    ) -> Result<Typed, Mistake> {
        let takes = |wanted: &str, fits: bool| match fits {
            true => Ok(()),
            false => Err(Mistake::new(span.clone(), format!("`{name}` takes {wanted}, and has {}", arguments.len()))),
        };
        if name == ROUND {
            takes("a number, and its decimal places", arguments.len() == 2)?;
            return self.round(&arguments[0], &arguments[1]);
        }
        let Some(function) = Function::read(name) else {
            let place = span.start..span.start + name.len();
            let known = Function::WORDS.iter().copied().chain([ROUND]);
            return Err(Mistake::new(place, format!("there is no function `{name}`")).known(known));
        };
        let call = |values: Vec<Node>, kind: Type| Ok((Node::Call(function, values), kind));
        let whole = |largest: i128| Type::Number(Digits::whole(largest));
        match function {
            Function::Length => {
                takes("one text", arguments.len() == 1)?;
                call(vec![self.of(&arguments[0], &Type::Text)?], whole(LONGEST_TEXT))
            }
            Function::Contains | Function::StartsWith => {
                takes("two texts", arguments.len() == 2)?;
                let (one, two) = (self.of(&arguments[0], &Type::Text)?, self.of(&arguments[1], &Type::Text)?);
                call(vec![one, two], Type::Boolean)
            }
            Function::Coalesce => {
                takes("two values or more", arguments.len() >= 2)?;
                let (values, kind) = self.alike(arguments, span, wanted)?;
                call(values, kind)
            }
            Function::If => {
                takes("a condition and two values", arguments.len() == 3)?;
                let condition = self.of(&arguments[0], &Type::Boolean)?;
                let (mut values, kind) = self.alike(&arguments[1..], span, wanted)?;
                values.insert(0, condition);
                call(values, kind)
            }
            Function::Abs => {
                takes("one number", arguments.len() == 1)?;
                let (value, digits) = self.reversible(&arguments[0])?;
                call(vec![value], Type::Number(digits))
            }
            Function::Days => {
                takes("two dates", arguments.len() == 2)?;
                let (one, two) = (self.of(&arguments[0], &Type::Date)?, self.of(&arguments[1], &Type::Date)?);
                call(vec![one, two], whole(MOST_DAYS))
            }
            Function::Year | Function::Month => {
                takes("one date", arguments.len() == 1)?;
                call(vec![self.of(&arguments[0], &Type::Date)?], whole(9999))
            }
        }
    }

    fn round(&self, number: &Syntax, places: &Syntax) -> Result<Typed, Mistake> {
        let wanted = match &places.form {
            Form::Number(text) => text.parse::<u32>().ok().filter(|places| *places <= 18),
            _ => None,
        };
        let Some(wanted) = wanted else {
            return Err(Mistake::new(places.span.clone(), "the number of decimal places is a number from 0 to 18"));
        };
        let (value, digits) = self.number(number)?;
        if digits.places <= wanted {
            let message = format!("this has {} decimal places, so that nothing is rounded", digits.places);
            return Err(Mistake::new(number.span.clone(), message));
        }
        let fewer = digits.places - wanted;
        let unit = power_of_ten(fewer);
        // SQLite adds half a unit.
        let sum = Digits { largest: digits.largest.saturating_add(unit / 2), ..digits };
        let largest = bounded(sum, &number.span)?.largest / unit;
        Ok((Node::Round(value.into(), fewer, digits.places), Type::Number(Digits { places: wanted, largest })))
    }

    /// Values of one type, of which some may be `null`.
    fn alike(
        &self,
        arguments: &[Syntax],
        span: Range<usize>,
        wanted: Option<&Type>,
    ) -> Result<(Vec<Node>, Type), Mistake> {
        let mut kind: Option<Type> = None;
        let mut found = Vec::with_capacity(arguments.len());
        for argument in arguments {
            if argument.form == Form::Null {
                found.push((Node::Null, None));
                continue;
            }
            let known = wanted.filter(|wanted| matches!(wanted, Type::Word(_))).or(kind.as_ref());
            let (node, own) = self.compared(argument, known)?;
            kind = Some(match kind {
                Some(kind) if !kind.is_like(&own) => {
                    let message = format!("this is {}, and the value before it is {}", own.name(), kind.name());
                    return Err(Mistake::new(argument.span.clone(), message));
                }
                Some(Type::Number(one)) => match &own {
                    Type::Number(two) => Type::Number(self.widest(one, *two, &argument.span)?),
                    _ => own.clone(),
                },
                // The result is a word of either enum.
                Some(Type::Word(mut words)) => match &own {
                    Type::Word(others) => {
                        words.extend(others.iter().filter(|word| !words.contains(word)).cloned().collect::<Vec<_>>());
                        Type::Word(words)
                    }
                    _ => Type::Text,
                },
                Some(kind) if kind != own => Type::Text,
                _ => own.clone(),
            });
            found.push((node, Some(own)));
        }
        let kind = kind.ok_or_else(|| Mistake::new(span, "at least one value must be no `null`"))?;
        let widened = found.into_iter().map(|(node, own)| match (own, &kind) {
            (Some(Type::Number(own)), Type::Number(all)) => widen(node, own, all.places),
            _ => node,
        });
        Ok((widened.collect(), kind))
    }
}

/// A number with more places. A literal is written with them.
pub(super) fn widen(node: Node, digits: Digits, places: u32) -> Node {
    let more = places - digits.places;
    match node {
        node if more == 0 => node,
        Node::Number { scaled, .. } => {
            let factor = 10_i64.checked_pow(more).and_then(|factor| scaled.checked_mul(factor));
            // The caller has checked the bound of the widened number.
            Node::Number { scaled: factor.unwrap_or(i64::MAX), places }
        }
        node => Node::Widen(Box::new(node), more),
    }
}
