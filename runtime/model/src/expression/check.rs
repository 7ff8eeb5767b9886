//! Names and types of an expression: fields, words of enums, functions, and the type of each part.

use std::ops::Range;

use super::parser::{Form, Syntax, parse};
use super::{Arithmetic, Comparison, Function, Mistake, Node, Unit};
use crate::{FieldType, Notation, date};

/// The type of a value in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    Boolean,
    /// A number with its exact decimal places, or an id.
    Number,
    Text,
    /// Text that is one of these words.
    Word(Vec<String>),
    Date,
    Time,
    Timestamp,
    Uuid,
    /// Only tested for null: a list, or JSON.
    Opaque,
}

impl Type {
    /// The type of a field's values; none for a field without a column.
    pub fn of<N: Notation>(kind: &FieldType<N>) -> Option<Type> {
        Some(match kind {
            FieldType::String { .. } | FieldType::Text => Type::Text,
            FieldType::Integer
            | FieldType::BigInt
            | FieldType::Decimal { .. }
            | FieldType::Code { .. }
            | FieldType::Ref { .. } => Type::Number,
            FieldType::Boolean => Type::Boolean,
            FieldType::Timestamp { .. } => Type::Timestamp,
            FieldType::Date => Type::Date,
            FieldType::Time => Type::Time,
            FieldType::Enum { values } => Type::Word(N::texts(values).into_iter().map(str::to_owned).collect()),
            FieldType::Uuid => Type::Uuid,
            _ => Type::Opaque,
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Type::Boolean => "a condition",
            Type::Number => "a number",
            Type::Text => "a text",
            Type::Word(_) => "a word of an enum",
            Type::Date => "a date",
            Type::Time => "a time of day",
            Type::Timestamp => "a timestamp",
            Type::Uuid => "a UUID",
            Type::Opaque => "a list or JSON",
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Type::Text | Type::Word(_))
    }

    fn has_order(&self) -> bool {
        matches!(self, Type::Number | Type::Date | Type::Time | Type::Timestamp)
    }

    /// True if values of both types can be equal.
    fn is_like(&self, other: &Type) -> bool {
        self == other && *self != Type::Opaque || self.is_text() && other.is_text()
    }
}

/// The fields that an expression may name.
pub trait Scope {
    /// The type of a field; none if there is none of this name.
    fn field(&self, name: &str) -> Option<Type>;
    /// All names, for suggestions.
    fn names(&self) -> Vec<String>;
}

/// Parses a text, and checks that it is a condition.
///
/// # Errors
/// The first mistake.
pub fn check(text: &str, scope: &dyn Scope) -> Result<Node, Mistake> {
    let syntax = parse(text)?;
    let checker = Checker { scope };
    let (node, kind) = checker.value(&syntax)?;
    match kind {
        Some(Type::Boolean) | None => Ok(node),
        Some(other) => Err(Mistake::new(syntax.span, format!("this is {}, and not a condition", other.name()))
            .help("compare it with a value: `=`, `<`, `is not null`")),
    }
}

struct Checker<'a> {
    scope: &'a dyn Scope,
}

/// A part with its type; none for `null`, which has any type.
type Typed = (Node, Option<Type>);

impl Checker<'_> {
    fn value(&self, syntax: &Syntax) -> Result<Typed, Mistake> {
        let span = || syntax.span.clone();
        Ok(match &syntax.form {
            Form::Null => (Node::Null, None),
            Form::Boolean(value) => (Node::Boolean(*value), Some(Type::Boolean)),
            Form::Number(number) => (Node::Number(number.clone()), Some(Type::Number)),
            Form::Text(text) => (Node::Text(text.clone()), Some(Type::Text)),
            Form::Date(day) if date::is_day(day) => (Node::Date(day.clone()), Some(Type::Date)),
            Form::Date(_) => {
                return Err(Mistake::new(span(), "this is not a day").help("write one such as `date '2026-03-21'`"));
            }
            Form::Name(name) => self.field(name, span())?,
            Form::Duration(number, unit) => {
                let message = format!("`{number} {unit}` stands alone");
                return Err(Mistake::new(span(), message).help("add it to a date or a timestamp, or subtract it"));
            }
            Form::Negate(inner) => (Node::Negate(self.of(inner, &Type::Number)?.into()), Some(Type::Number)),
            Form::Not(inner) => (Node::Not(self.of(inner, &Type::Boolean)?.into()), Some(Type::Boolean)),
            Form::Logic(logic, one, two) => {
                let (one, two) = (self.of(one, &Type::Boolean)?, self.of(two, &Type::Boolean)?);
                (Node::Logic(*logic, one.into(), two.into()), Some(Type::Boolean))
            }
            Form::IsNull(inner) => (Node::IsNull(self.value(inner)?.0.into()), Some(Type::Boolean)),
            Form::Compare(comparison, one, two) => self.comparison(*comparison, one, two, span())?,
            Form::In(one, others) => self.membership(one, others, span())?,
            Form::Arithmetic(arithmetic, one, two) => self.arithmetic(*arithmetic, one, two)?,
            Form::Call(name, arguments) => self.call(name, arguments, span())?,
        })
    }

    /// A part that must have a type.
    fn of(&self, syntax: &Syntax, wanted: &Type) -> Result<Node, Mistake> {
        let (node, found) = self.value(syntax)?;
        match found {
            Some(found) if !found.is_like(wanted) => {
                let message = format!("this is {}, and {} is needed", found.name(), wanted.name());
                Err(Mistake::new(syntax.span.clone(), message))
            }
            _ => Ok(node),
        }
    }

    fn field(&self, name: &str, span: Range<usize>) -> Result<Typed, Mistake> {
        match self.scope.field(name) {
            Some(kind) => Ok((Node::Field(name.to_owned()), Some(kind))),
            None => {
                let mut mistake = Mistake::new(span, format!("there is no field `{name}`"));
                mistake.known = self.scope.names();
                Err(mistake)
            }
        }
    }

    /// A value that is compared with one of a known type: a word of an enum needs no quotes.
    fn compared(&self, syntax: &Syntax, with: Option<&Type>) -> Result<Typed, Mistake> {
        let Some(Type::Word(words)) = with else { return self.value(syntax) };
        let word = match &syntax.form {
            Form::Name(name) if self.scope.field(name).is_none() => name,
            Form::Text(text) => text,
            _ => return self.value(syntax),
        };
        if words.contains(word) {
            return Ok((Node::Text(word.clone()), with.cloned()));
        }
        let mut mistake = Mistake::new(syntax.span.clone(), format!("`{word}` is not a value of the enum"));
        mistake.known = words.clone();
        Err(mistake)
    }

    /// Both sides of a comparison. The side with a known type is read first.
    fn pair(&self, one: &Syntax, two: &Syntax) -> Result<(Typed, Typed), Mistake> {
        let is_word = |syntax: &Syntax| {
            matches!(&syntax.form, Form::Text(_))
                || matches!(&syntax.form, Form::Name(name) if self.scope.field(name).is_none())
        };
        if is_word(one) && !is_word(two) {
            let two = self.value(two)?;
            return Ok((self.compared(one, two.1.as_ref())?, two));
        }
        let one = self.value(one)?;
        let two = self.compared(two, one.1.as_ref())?;
        Ok((one, two))
    }

    fn comparison(
        &self,
        comparison: Comparison,
        one: &Syntax,
        two: &Syntax,
        span: Range<usize>,
    ) -> Result<Typed, Mistake> {
        let ((first, first_type), (second, second_type)) = self.pair(one, two)?;
        for (node, side) in [(&first, one), (&second, two)] {
            if *node == Node::Null {
                let mistake = Mistake::new(side.span.clone(), "a comparison with `null` is never true");
                return Err(mistake.help("write `is null` or `is not null`"));
            }
        }
        if let (Some(one), Some(two)) = (&first_type, &second_type) {
            if !one.is_like(two) {
                let message = format!("{} is compared with {}", one.name(), two.name());
                return Err(Mistake::new(span, message));
            }
            if comparison.is_order() && !one.has_order() {
                let message = format!("{} has no order", one.name());
                return Err(Mistake::new(span, message).help("compare it by `=` or `!=`"));
            }
        }
        Ok((Node::Compare(comparison, first.into(), second.into()), Some(Type::Boolean)))
    }

    fn membership(&self, one: &Syntax, others: &[Syntax], span: Range<usize>) -> Result<Typed, Mistake> {
        if others.is_empty() {
            return Err(Mistake::new(span, "the list is empty, so that nothing is in it"));
        }
        let (first, kind) = self.value(one)?;
        let mut found = Vec::with_capacity(others.len());
        for other in others {
            let (node, other_kind) = self.compared(other, kind.as_ref())?;
            if node == Node::Null {
                let mistake = Mistake::new(other.span.clone(), "nothing equals `null`");
                return Err(mistake.help("add `or … is null`"));
            }
            if let (Some(kind), Some(other_kind)) = (&kind, &other_kind)
                && !kind.is_like(other_kind)
            {
                let message = format!("{} is compared with {}", kind.name(), other_kind.name());
                return Err(Mistake::new(other.span.clone(), message));
            }
            found.push(node);
        }
        Ok((Node::In(first.into(), found), Some(Type::Boolean)))
    }

    fn arithmetic(&self, arithmetic: Arithmetic, one: &Syntax, two: &Syntax) -> Result<Typed, Mistake> {
        if let Form::Duration(number, unit) = &two.form {
            return self.shift(arithmetic, one, number, unit, two.span.clone());
        }
        let (one, two) = (self.of(one, &Type::Number)?, self.of(two, &Type::Number)?);
        Ok((Node::Arithmetic(arithmetic, one.into(), two.into()), Some(Type::Number)))
    }

    fn shift(
        &self,
        arithmetic: Arithmetic,
        one: &Syntax,
        number: &str,
        word: &str,
        span: Range<usize>,
    ) -> Result<Typed, Mistake> {
        let unit = match word {
            "day" | "days" => Unit::Days,
            "hour" | "hours" => Unit::Hours,
            "minute" | "minutes" => Unit::Minutes,
            _ => {
                let mut mistake = Mistake::new(span, format!("`{word}` is not a unit of time"));
                mistake.known = ["days", "hours", "minutes"].map(str::to_owned).into();
                return Err(mistake);
            }
        };
        let Ok(count) = number.parse::<u32>() else {
            return Err(Mistake::new(span, "the number of units is a whole number below 4,294,967,296"));
        };
        let count = match arithmetic {
            Arithmetic::Add => i64::from(count),
            Arithmetic::Subtract => -i64::from(count),
            Arithmetic::Multiply => return Err(Mistake::new(span, "a duration cannot be multiplied")),
        };
        let (node, kind) = self.value(one)?;
        match &kind {
            Some(Type::Date) if unit != Unit::Days => Err(Mistake::new(span, "only days can be added to a date")),
            Some(Type::Date | Type::Timestamp) | None => Ok((Node::Shift(node.into(), count, unit), kind)),
            Some(other) => {
                let message = format!("this is {}, and a duration belongs to a date or a timestamp", other.name());
                Err(Mistake::new(one.span.clone(), message))
            }
        }
    }

    fn call(&self, name: &str, arguments: &[Syntax], span: Range<usize>) -> Result<Typed, Mistake> {
        let count = |wanted: &str, fits: bool| match fits {
            true => Ok(()),
            false => Err(Mistake::new(span.clone(), format!("`{name}` takes {wanted}, and has {}", arguments.len()))),
        };
        match name {
            "length" => {
                count("one text", arguments.len() == 1)?;
                let text = self.of(&arguments[0], &Type::Text)?;
                Ok((Node::Call(Function::Length, vec![text]), Some(Type::Number)))
            }
            "coalesce" => {
                count("two values or more", arguments.len() >= 2)?;
                let (values, kind) = self.alike(arguments)?;
                Ok((Node::Call(Function::Coalesce, values), kind))
            }
            "if" => {
                count("a condition and two values", arguments.len() == 3)?;
                let condition = self.of(&arguments[0], &Type::Boolean)?;
                let (mut values, kind) = self.alike(&arguments[1..])?;
                values.insert(0, condition);
                Ok((Node::Call(Function::If, values), kind))
            }
            _ => {
                let place = span.start..span.start + name.len();
                let mut mistake = Mistake::new(place, format!("there is no function `{name}`"));
                mistake.known = ["length", "coalesce", "if"].map(str::to_owned).into();
                Err(mistake)
            }
        }
    }

    /// Values of one type.
    fn alike(&self, arguments: &[Syntax]) -> Result<(Vec<Node>, Option<Type>), Mistake> {
        let mut kind: Option<Type> = None;
        let mut found = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let (node, own) = self.compared(argument, kind.as_ref())?;
            if let (Some(kind), Some(own)) = (&kind, &own)
                && !kind.is_like(own)
            {
                let message = format!("this is {}, and the value before it is {}", own.name(), kind.name());
                return Err(Mistake::new(argument.span.clone(), message));
            }
            kind = match (kind, own) {
                // Words of two enums are texts.
                (Some(one), Some(two)) if one != two => Some(Type::Text),
                (kind, own) => kind.or(own),
            };
            found.push(node);
        }
        Ok((found, kind))
    }
}
