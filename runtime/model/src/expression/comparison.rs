//! Types of comparisons: both sides have one type, and numbers the same number of decimal places.

use std::ops::Range;

use super::check::{Checker, Typed};
use super::function::widen;
use super::parser::{Form, Syntax};
use super::{Comparison, Mistake, Node, Type};

impl Checker<'_> {
    /// Both sides of a comparison. The side with a known type is read first.
    fn pair(&self, one: &Syntax, two: &Syntax) -> Result<(Typed, Typed), Mistake> {
        for side in [one, two] {
            if side.form == Form::Null {
                let mistake = Mistake::new(side.span.clone(), "a comparison with `null` is never true");
                return Err(mistake.help("write `is null` or `is not null`"));
            }
        }
        let is_word = |syntax: &Syntax| {
            matches!(&syntax.form, Form::Text(_))
                || matches!(&syntax.form, Form::Name(name) if self.scope.field(name).is_none())
        };
        if is_word(one) && !is_word(two) {
            let two = self.typed(two)?;
            return Ok((self.compared(one, Some(&two.1))?, two));
        }
        let one = self.typed(one)?;
        let two = self.compared(two, Some(&one.1))?;
        Ok((one, two))
    }

    pub(super) fn comparison(
        &self,
        comparison: Comparison,
        one: &Syntax,
        two: &Syntax,
        span: Range<usize>,
    ) -> Result<Typed, Mistake> {
        let ((first, kind), (second, other)) = self.pair(one, two)?;
        if !kind.is_like(&other) {
            return Err(unlike(span, &kind, &other));
        }
        self.same_resource(one, two, &span)?;
        if comparison.is_order() && !kind.has_order() {
            let mistake = Mistake::new(span, format!("{} has no order", kind.name()));
            return Err(mistake.help("only numbers, dates and times have an order that both databases share"));
        }
        let (first, second) = match (&kind, &other) {
            (Type::Number(one), Type::Number(two)) => {
                let all = self.widest(*one, *two, &span)?;
                (widen(first, *one, all.places), widen(second, *two, all.places))
            }
            _ => (first, second),
        };
        Ok((Node::Compare(comparison, first.into(), second.into()), Type::Boolean))
    }

    pub(super) fn membership(&self, one: &Syntax, others: &[Syntax], span: Range<usize>) -> Result<Typed, Mistake> {
        if others.is_empty() {
            return Err(Mistake::new(span, "the list is empty, so that nothing is in it"));
        }
        let (first, kind) = self.typed(one)?;
        if kind == Type::Opaque {
            return Err(Mistake::new(span, format!("{} is only tested for null", kind.name())));
        }
        let mut found = Vec::with_capacity(others.len());
        for other in others {
            if other.form == Form::Null {
                return Err(Mistake::new(other.span.clone(), "nothing equals `null`").help("add `or … is null`"));
            }
            let (node, own) = self.compared(other, Some(&kind))?;
            if !kind.is_like(&own) {
                return Err(unlike(other.span.clone(), &kind, &own));
            }
            self.same_resource(one, other, &other.span)?;
            found.push((node, own));
        }
        let Type::Number(digits) = kind else {
            let others = found.into_iter().map(|(node, _)| node).collect();
            return Ok((Node::In(first.into(), others), Type::Boolean));
        };
        let mut all = digits;
        for (_, own) in &found {
            if let Type::Number(own) = own {
                all = self.widest(all, *own, &span)?;
            }
        }
        let others = found.into_iter().map(|(node, own)| match own {
            Type::Number(own) => widen(node, own, all.places),
            _ => node,
        });
        Ok((Node::In(widen(first, digits, all.places).into(), others.collect()), Type::Boolean))
    }
}

fn unlike(span: Range<usize>, one: &Type, two: &Type) -> Mistake {
    let mistake = Mistake::new(span, format!("{} is compared with {}", one.name(), two.name()));
    match (one, two) {
        (Type::Date, Type::Number(_) | Type::Text) | (Type::Number(_) | Type::Text, Type::Date) => {
            mistake.help("write a date as `date '2026-03-21'`")
        }
        _ => mistake,
    }
}
