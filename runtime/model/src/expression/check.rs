//! Names and types of an expression: fields, words of enums, the clock, the caller, and the type of each part.

use std::ops::Range;

use super::function::widen;
use super::parser::{Form, Syntax, parse};
use super::types::power_of_ten;
use super::{Arithmetic, Digits, Field, Logic, Mistake, Node, Type, Via};
use crate::reserved::USER;
use crate::{date, naming};

/// The longest shift of a date, in days: 4,000 years. PostgreSQL's calendar begins in 4713 BC.
const MAX_SHIFT_DAYS: i64 = 1_461_000;

/// The names that an expression may use.
pub trait Scope {
    /// The type of a field; none if there is none of this name.
    fn field(&self, name: &str) -> Option<Type>;

    /// The names of all fields, for suggestions.
    fn names(&self) -> Vec<String>;

    /// The resource whose ids a field has; none for a field of another type.
    fn referred(&self, _name: &str) -> Option<String> {
        None
    }

    /// The reference of this name, which may be without its `_id`, with the fields of the record that it leads to.
    fn reference(&self, _name: &str) -> Option<(Via, Box<dyn Scope + '_>)> {
        None
    }

    /// True if the expression may use fields of other records.
    fn has_references(&self) -> bool {
        false
    }

    /// True if the expression may use `now`, `today` and `caller`.
    fn has_request(&self) -> bool {
        false
    }
}

/// Parses a text, and checks that it is a condition.
///
/// # Errors
/// The first mistake.
pub fn check(text: &str, scope: &dyn Scope) -> Result<Node, Mistake> {
    let syntax = parse(text)?;
    match (Checker { scope }).typed(&syntax)? {
        (node, Type::Boolean) => Ok(node),
        (_, other) => Err(Mistake::new(syntax.span, format!("this is {}, and not a condition", other.name()))
            .help("compare it with a value: `=`, `<`, `is not null`")),
    }
}

/// Parses a text, and checks that it is a value. Words of an enum need no quotes if the value is for a field of that type.
///
/// # Errors
/// The first mistake.
pub fn check_value(text: &str, scope: &dyn Scope, wanted: Option<&Type>) -> Result<(Node, Type), Mistake> {
    let syntax = parse(text)?;
    (Checker { scope }).compared(&syntax, wanted)
}

pub(super) struct Checker<'a> {
    pub(super) scope: &'a dyn Scope,
}

/// A part with its type.
pub(super) type Typed = (Node, Type);

impl Checker<'_> {
    /// Each form has a function of its own, so that the stack of a deep expression stays small.
    pub(super) fn typed(&self, syntax: &Syntax) -> Result<Typed, Mistake> {
        let span = || syntax.span.clone();
        match &syntax.form {
            Form::Negate(inner) => self.negation(inner),
            Form::Not(inner) => self.not(inner),
            Form::Logic(logic, one, two) => self.logic(*logic, one, two),
            Form::IsNull(inner) => Ok((Node::IsNull(self.typed(inner)?.0.into()), Type::Boolean)),
            Form::Compare(comparison, one, two) => self.comparison(*comparison, one, two, span()),
            Form::In(one, others) => self.membership(one, others, span()),
            Form::Arithmetic(arithmetic, one, two) => self.arithmetic(*arithmetic, one, two, span()),
            Form::Call(name, arguments) => self.call(name, arguments, span(), None),
            Form::Method(object, name, arguments) => self.method(object, name, arguments, span()),
            Form::Name(name) => self.name(name, span()),
            Form::Step(first, second) => self.step(first, second, span()),
            literal => self.literal(literal, span()),
        }
    }

    fn negation(&self, inner: &Syntax) -> Result<Typed, Mistake> {
        let (inner, digits) = self.reversible(inner)?;
        Ok((Node::Negate(inner.into()), Type::Number(digits)))
    }

    /// A number whose negative fits 64 bits too: the least `bigint` has none.
    pub(super) fn reversible(&self, syntax: &Syntax) -> Result<(Node, Digits), Mistake> {
        let (node, digits) = self.number(syntax)?;
        bounded(Digits { largest: digits.largest + 1, ..digits }, &syntax.span)?;
        Ok((node, digits))
    }

    fn not(&self, inner: &Syntax) -> Result<Typed, Mistake> {
        Ok((Node::Not(self.of(inner, &Type::Boolean)?.into()), Type::Boolean))
    }

    fn logic(&self, logic: Logic, one: &Syntax, two: &Syntax) -> Result<Typed, Mistake> {
        let (one, two) = (self.of(one, &Type::Boolean)?, self.of(two, &Type::Boolean)?);
        Ok((Node::Logic(logic, one.into(), two.into()), Type::Boolean))
    }

    fn literal(&self, form: &Form, span: Range<usize>) -> Result<Typed, Mistake> {
        match form {
            Form::Boolean(value) => Ok((Node::Boolean(*value), Type::Boolean)),
            Form::Number(text) => number(text, span),
            Form::Text(text) if text.contains('\0') => {
                Err(Mistake::new(span, "a text cannot contain the character U+0000"))
            }
            Form::Text(text) => Ok((Node::Text(text.clone()), Type::Text)),
            Form::Date(day) if date::is_day(day) => Ok((Node::Date(day.clone()), Type::Date)),
            Form::Date(_) => Err(Mistake::new(span, "this is not a day").help("write one such as `date '2026-03-21'`")),
            Form::Duration(number, unit) => {
                let message = format!("`{number} {unit}` stands alone");
                Err(Mistake::new(span, message).help("add it to a date or a timestamp, or subtract it"))
            }
            _ => {
                let mistake = Mistake::new(span, "`null` is no value of its own");
                Err(mistake.help("write `is null`, or use it in `coalesce` or `if`"))
            }
        }
    }

    /// Refuses ids of different resources: they are equal by chance.
    pub(super) fn same_resource(&self, one: &Syntax, two: &Syntax, span: &Range<usize>) -> Result<(), Mistake> {
        let (ones, twos) = (self.referred(one), self.referred(two));
        let mut pairs = ones.iter().flat_map(|first| twos.iter().map(move |second| (first, second)));
        let Some((first, second)) = pairs.find(|(first, second)| first != second) else { return Ok(()) };
        let message = format!("an id of a `{first}` is compared with one of a `{second}`");
        Err(Mistake::new(span.clone(), message)
            .help("compare ids of one resource: the numbers are equal only by chance"))
    }

    /// The resources whose ids a part can be.
    fn referred(&self, part: &Syntax) -> Vec<String> {
        match &part.form {
            Form::Name(name) => self.scope.referred(name).into_iter().collect(),
            Form::Step(first, second) if first == "caller" && second == "id" => vec![USER.to_owned()],
            Form::Step(first, second) => {
                self.scope.reference(first).and_then(|(_, other)| other.referred(second)).into_iter().collect()
            }
            Form::Call(name, values) => match (name.as_str(), values.as_slice()) {
                ("coalesce", values) | ("if", [_, values @ ..]) => {
                    values.iter().flat_map(|value| self.referred(value)).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// A part that must have a type.
    pub(super) fn of(&self, syntax: &Syntax, wanted: &Type) -> Result<Node, Mistake> {
        let (node, found) = self.typed(syntax)?;
        match found.is_like(wanted) {
            true => Ok(node),
            false => {
                let message = format!("this is {}, and {} is needed", found.name(), wanted.name());
                Err(Mistake::new(syntax.span.clone(), message))
            }
        }
    }

    /// A number whose size fits 64 bits.
    pub(super) fn number(&self, syntax: &Syntax) -> Result<(Node, Digits), Mistake> {
        match self.typed(syntax)? {
            (node, Type::Number(digits)) => Ok((node, digits)),
            (_, other) => {
                let message = format!("this is {}, and a number is needed", other.name());
                let mistake = Mistake::new(syntax.span.clone(), message);
                Err(match other {
                    Type::Date | Type::Timestamp => mistake.help("a duration has a unit: `+ 7 days`, `- 12 hours`"),
                    _ => mistake,
                })
            }
        }
    }

    fn name(&self, name: &str, span: Range<usize>) -> Result<Typed, Mistake> {
        if let Some(kind) = self.scope.field(name) {
            return Ok((Node::Field(Field { name: name.to_owned(), kind: kind.clone(), via: None }), kind));
        }
        match name {
            "now" if self.scope.has_request() => Ok((Node::Now, Type::Timestamp)),
            "today" if self.scope.has_request() => Ok((Node::Today, Type::Date)),
            "now" | "today" => Err(no_request(name, span)),
            "caller" => Err(Mistake::new(span, "`caller` is not a value").help("write `caller.id` or `caller.can(…)`")),
            _ => Err(Mistake::new(span, format!("there is no field `{name}`")).known(self.scope.names())),
        }
    }

    fn step(&self, first: &str, second: &str, span: Range<usize>) -> Result<Typed, Mistake> {
        let place = span.end - second.len()..span.end;
        if first == "caller" && self.scope.field(first).is_none() {
            return match second {
                _ if !self.scope.has_request() => Err(no_request("caller", span)),
                "id" => Ok((Node::CallerId, Type::Number(Digits::ID))),
                _ => Err(Mistake::new(place, format!("`caller` has no `{second}`")).known(["id", "can"])),
            };
        }
        if !self.scope.has_references() {
            let mistake = Mistake::new(span, "fields of other records are not known here");
            return Err(mistake.help("use the fields of the record itself"));
        }
        let Some((via, other)) = self.scope.reference(first) else {
            let mistake = Mistake::new(span.start..span.start + first.len(), format!("`{first}` is not a reference"));
            return Err(mistake.help("name a field of the type `ref(…)`, with or without its `_id`"));
        };
        match other.field(second) {
            Some(kind) => {
                Ok((Node::Field(Field { name: second.to_owned(), kind: kind.clone(), via: Some(via) }), kind))
            }
            None => {
                Err(Mistake::new(place, format!("`{}` has no field `{second}`", via.resource)).known(other.names()))
            }
        }
    }

    fn method(&self, object: &str, name: &str, arguments: &[Syntax], span: Range<usize>) -> Result<Typed, Mistake> {
        if object != "caller" || name != "can" {
            return Err(Mistake::new(span, format!("there is no function `{object}.{name}`")).known(["caller.can"]));
        }
        if !self.scope.has_request() {
            return Err(no_request("caller", span));
        }
        let permission = match arguments {
            [Syntax { form: Form::Text(name), .. }] => name.clone(),
            [Syntax { form: Form::Step(first, second), .. }] => format!("{first}.{second}"),
            _ => String::new(),
        };
        let mut parts = permission.split('.');
        if !permission.contains('.') || !parts.all(naming::is_snake_case) {
            let place = arguments.first().map_or(span, |argument| argument.span.clone());
            let mistake = Mistake::new(place, "`caller.can` takes the name of a permission");
            return Err(mistake.help("a permission has an area and an activity: `caller.can(tickets.all)`"));
        }
        Ok((Node::CallerCan(permission), Type::Boolean))
    }

    /// A value that is compared with one of a known type: a word of an enum needs no quotes.
    pub(super) fn compared(&self, syntax: &Syntax, with: Option<&Type>) -> Result<Typed, Mistake> {
        let Some(Type::Word(words)) = with else { return self.typed(syntax) };
        let word = match &syntax.form {
            Form::Call(name, arguments) => return self.call(name, arguments, syntax.span.clone(), with),
            Form::Name(name) if self.scope.field(name).is_none() => name,
            Form::Text(text) => text,
            _ => return self.typed(syntax),
        };
        if words.contains(word) {
            return Ok((Node::Text(word.clone()), Type::Word(words.clone())));
        }
        Err(Mistake::new(syntax.span.clone(), format!("`{word}` is not a value of the enum")).known(words))
    }

    /// The numbers of two parts with the same number of places.
    pub(super) fn widest(&self, one: Digits, two: Digits, span: &Range<usize>) -> Result<Digits, Mistake> {
        let places = one.places.max(two.places);
        let largest = one.with_places(places).largest.max(two.with_places(places).largest);
        bounded(Digits { places, largest }, span)
    }

    fn arithmetic(
        &self,
        arithmetic: Arithmetic,
        one: &Syntax,
        two: &Syntax,
        span: Range<usize>,
    ) -> Result<Typed, Mistake> {
        if let Form::Duration(number, unit) = &two.form {
            return self.shift(arithmetic, one, number, unit, two.span.clone());
        }
        let ((first, one), (second, two)) = (self.number(one)?, self.number(two)?);
        if arithmetic == Arithmetic::Multiply {
            let largest = one.largest.saturating_mul(two.largest);
            let digits = bounded(Digits { places: one.places + two.places, largest }, &span)?;
            return Ok((Node::Arithmetic(arithmetic, first.into(), second.into()), Type::Number(digits)));
        }
        let all = self.widest(one, two, &span)?;
        let largest = one.with_places(all.places).largest + two.with_places(all.places).largest;
        let digits = bounded(Digits { largest, ..all }, &span)?;
        let (first, second) = (widen(first, one, all.places), widen(second, two, all.places));
        Ok((Node::Arithmetic(arithmetic, first.into(), second.into()), Type::Number(digits)))
    }

    fn shift(
        &self,
        arithmetic: Arithmetic,
        one: &Syntax,
        number: &str,
        word: &str,
        span: Range<usize>,
    ) -> Result<Typed, Mistake> {
        let minutes: i64 = match word {
            "day" | "days" => 24 * 60,
            "hour" | "hours" => 60,
            "minute" | "minutes" => 1,
            _ => {
                let mistake = Mistake::new(span, format!("`{word}` is not a unit of time"));
                return Err(mistake.known(["days", "hours", "minutes"]));
            }
        };
        let count = number.parse::<u32>().ok().map(i64::from);
        let Some(count) = count.filter(|count| count * minutes <= MAX_SHIFT_DAYS * 24 * 60) else {
            return Err(Mistake::new(span, "a duration is a whole number, and at most 4,000 years"));
        };
        let count = match arithmetic {
            Arithmetic::Add => count,
            Arithmetic::Subtract => -count,
            Arithmetic::Multiply => return Err(Mistake::new(span, "a duration cannot be multiplied")),
        };
        let (node, kind) = self.typed(one)?;
        let is_shifted = node.any(|part| matches!(part, Node::ShiftDate(..) | Node::ShiftTime(..)));
        match kind {
            Type::Date | Type::Timestamp if is_shifted => {
                Err(Mistake::new(span, "a date or a time is moved only once").help("add up the durations"))
            }
            Type::Date if minutes < 24 * 60 => Err(Mistake::new(span, "only days can be added to a date")),
            Type::Date => Ok((Node::ShiftDate(node.into(), count), kind)),
            Type::Timestamp => Ok((Node::ShiftTime(node.into(), count * minutes), kind)),
            other => {
                let message = format!("this is {}, and a duration belongs to a date or a timestamp", other.name());
                Err(Mistake::new(one.span.clone(), message))
            }
        }
    }
}

fn no_request(name: &str, span: Range<usize>) -> Mistake {
    let mistake = Mistake::new(span, format!("`{name}` is not known here"));
    mistake.help("the expression must have one value for a record, for all callers and at any time")
}

/// A number with its exact places, without zeros at the end.
fn number(text: &str, span: Range<usize>) -> Result<Typed, Mistake> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let Ok(scaled) = format!("{whole}{fraction}").parse::<i64>() else {
        return Err(Mistake::new(span, "the number is larger than those of 64 bits"));
    };
    let places = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
    Ok((Node::Number { scaled, places }, Type::Number(Digits { places, largest: scaled.into() })))
}

/// Refuses numbers that SQLite could not compute exactly.
pub(super) fn bounded(digits: Digits, span: &Range<usize>) -> Result<Digits, Mistake> {
    if digits.largest <= Digits::LIMIT && digits.places <= 18 {
        return Ok(digits);
    }
    let count = if digits.largest >= power_of_ten(38) { "more than 38".to_owned() } else { digits.count().to_string() };
    let message = format!("this can have {count} digits, and numbers have at most 18, decimal places included");
    Err(Mistake::new(span.clone(), message)
        .help("give the fields bounds (`min` and `max`), fewer digits (`decimal(10, 2)`), or `round` a part"))
}
