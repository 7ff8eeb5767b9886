//! Parser of expressions: the tree of a text, before its names and types are known.

use std::ops::Range;

use super::lexer::{Token, tokens};
use super::{Arithmetic, Comparison, Logic, Mistake};

/// The deepest nesting, so that no text exhausts the stack.
const MAX_DEPTH: usize = 20;
/// The most words and signs, for the same reason: a long sum is a deep tree.
const MAX_TOKENS: usize = 200;

/// A part of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Syntax {
    pub form: Form,
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    /// `date '2026-03-21'`
    Date(String),
    Name(String),
    /// `customer.user_id`
    Step(String, String),
    /// `caller.can(tickets.all)`: the object, the name and the arguments.
    Method(String, String, Vec<Syntax>),
    Negate(Box<Syntax>),
    Not(Box<Syntax>),
    Logic(Logic, Box<Syntax>, Box<Syntax>),
    Compare(Comparison, Box<Syntax>, Box<Syntax>),
    In(Box<Syntax>, Vec<Syntax>),
    IsNull(Box<Syntax>),
    Arithmetic(Arithmetic, Box<Syntax>, Box<Syntax>),
    /// `7 days`: the number and the word.
    Duration(String, String),
    Call(String, Vec<Syntax>),
}

/// Parses a whole text.
///
/// # Errors
/// The first mistake.
pub fn parse(text: &str) -> Result<Syntax, Mistake> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, end: text.len() };
    if parser.tokens.len() > MAX_TOKENS {
        return Err(Mistake::new(0..text.len(), format!("the expression has more than {MAX_TOKENS} words and signs")));
    }
    if parser.tokens.is_empty() {
        return Err(Mistake::new(0..text.len(), "the expression is empty"));
    }
    let syntax = parser.any()?;
    match parser.tokens.get(parser.at) {
        None => Ok(syntax),
        Some((token, span)) => {
            let mistake = Mistake::new(span.clone(), "the expression should end here");
            Err(match token {
                Token::Sign("=" | "<" | ">" | "<=" | ">=" | "!=") => mistake.help("join two comparisons by `and`"),
                _ => mistake.help("an operator such as `and` is missing before it"),
            })
        }
    }
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    depth: usize,
    end: usize,
}

fn join(one: Syntax, two: Syntax, form: impl FnOnce(Box<Syntax>, Box<Syntax>) -> Form) -> Syntax {
    let span = one.span.start..two.span.end;
    Syntax { form: form(Box::new(one), Box::new(two)), span }
}

impl Parser {
    fn is_word(&self, ahead: usize, word: &str) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some((Token::Word(found), _)) if found == word)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(0, word);
        self.at += usize::from(is_there);
        is_there
    }

    fn take_sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let Some((Token::Sign(sign), _)) = self.tokens.get(self.at) else { return None };
        let sign = signs.iter().find(|wanted| *wanted == sign)?;
        self.at += 1;
        Some(sign)
    }

    /// The place of the next token, or of the end.
    fn here(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |(_, span)| span.clone())
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Mistake> {
        let missing = || Mistake::new(self.here(), format!("`{sign}` is missing here"));
        let missing = missing();
        self.take_sign(&[sign]).map(drop).ok_or(missing)
    }

    fn any(&mut self) -> Result<Syntax, Mistake> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Mistake::new(self.here(), format!("the expression is nested more than {MAX_DEPTH} times")));
        }
        let mut one = self.all()?;
        while self.take_word("or") {
            let two = self.all()?;
            one = join(one, two, |one, two| Form::Logic(Logic::Or, one, two));
        }
        self.depth -= 1;
        Ok(one)
    }

    fn all(&mut self) -> Result<Syntax, Mistake> {
        let mut one = self.negated()?;
        while self.take_word("and") {
            let two = self.negated()?;
            one = join(one, two, |one, two| Form::Logic(Logic::And, one, two));
        }
        Ok(one)
    }

    fn negated(&mut self) -> Result<Syntax, Mistake> {
        let start = self.here().start;
        let mut count = 0;
        while self.take_word("not") {
            count += 1;
        }
        let inner = self.comparison()?;
        let span = start..inner.span.end;
        let not = |inner| Syntax { form: Form::Not(Box::new(inner)), span: span.clone() };
        Ok((0..count).fold(inner, |inner, _| not(inner)))
    }

    fn comparison(&mut self) -> Result<Syntax, Mistake> {
        let one = self.sum()?;
        if self.take_word("is") {
            let is_not = self.take_word("not");
            let span = one.span.start..self.here().end;
            if !self.take_word("null") {
                return Err(Mistake::new(self.here(), "`null` is missing after `is`").help("compare values by `=`"));
            }
            let is_null = Syntax { form: Form::IsNull(Box::new(one)), span: span.clone() };
            return Ok(if is_not { Syntax { form: Form::Not(Box::new(is_null)), span } } else { is_null });
        }
        let is_not = self.is_word(0, "not") && self.is_word(1, "in");
        if is_not || self.is_word(0, "in") {
            self.at += 1 + usize::from(is_not);
            self.expect("[")?;
            let others = self.list("]")?;
            let span = one.span.start..self.tokens[self.at - 1].1.end;
            let is_in = Syntax { form: Form::In(Box::new(one), others), span: span.clone() };
            return Ok(if is_not { Syntax { form: Form::Not(Box::new(is_in)), span } } else { is_in });
        }
        let comparison = match self.take_sign(&["=", "!=", "<", "<=", ">", ">="]) {
            Some("=") => Comparison::Equal,
            Some("!=") => Comparison::Different,
            Some("<") => Comparison::Less,
            Some("<=") => Comparison::AtMost,
            Some(">") => Comparison::More,
            Some(_) => Comparison::AtLeast,
            None => return Ok(one),
        };
        let two = self.sum()?;
        Ok(join(one, two, |one, two| Form::Compare(comparison, one, two)))
    }

    fn sum(&mut self) -> Result<Syntax, Mistake> {
        let mut one = self.product()?;
        while let Some(sign) = self.take_sign(&["+", "-"]) {
            let two = self.product()?;
            let arithmetic = if sign == "+" { Arithmetic::Add } else { Arithmetic::Subtract };
            one = join(one, two, |one, two| Form::Arithmetic(arithmetic, one, two));
        }
        Ok(one)
    }

    fn product(&mut self) -> Result<Syntax, Mistake> {
        let mut one = self.signed()?;
        while self.take_sign(&["*"]).is_some() {
            let two = self.signed()?;
            one = join(one, two, |one, two| Form::Arithmetic(Arithmetic::Multiply, one, two));
        }
        Ok(one)
    }

    fn signed(&mut self) -> Result<Syntax, Mistake> {
        let start = self.here().start;
        let mut count = 0;
        while self.take_sign(&["-"]).is_some() {
            count += 1;
        }
        let inner = self.single()?;
        let span = start..inner.span.end;
        let negate = |inner| Syntax { form: Form::Negate(Box::new(inner)), span: span.clone() };
        Ok((0..count).fold(inner, |inner, _| negate(inner)))
    }

    fn single(&mut self) -> Result<Syntax, Mistake> {
        let span = self.here();
        let Some((token, _)) = self.tokens.get(self.at).cloned() else {
            return Err(Mistake::new(span, "a value is missing here"));
        };
        self.at += 1;
        let form = match token {
            Token::Number(number) => match self.tokens.get(self.at).cloned() {
                Some((Token::Word(unit), _)) if !is_keyword(&unit) => {
                    self.at += 1;
                    Form::Duration(number, unit)
                }
                _ => Form::Number(number),
            },
            Token::Text(text) => Form::Text(text),
            Token::Word(word) => match (word.as_str(), self.tokens.get(self.at).cloned()) {
                ("true", _) => Form::Boolean(true),
                ("false", _) => Form::Boolean(false),
                ("null", _) => Form::Null,
                ("date", Some((Token::Text(day), _))) => {
                    self.at += 1;
                    Form::Date(day)
                }
                (_, Some((Token::Sign("("), _))) => {
                    self.at += 1;
                    Form::Call(word, self.list(")")?)
                }
                (_, Some((Token::Sign("."), _))) => {
                    self.at += 1;
                    self.after_point(word)?
                }
                (keyword, _) if is_keyword(keyword) => {
                    return Err(Mistake::new(span, format!("a value is missing before `{keyword}`")));
                }
                _ => Form::Name(word),
            },
            Token::Sign("(") => {
                let inner = self.any()?;
                self.expect(")")?;
                return Ok(Syntax { form: inner.form, span: span.start..self.tokens[self.at - 1].1.end });
            }
            Token::Sign(sign) => return Err(Mistake::new(span, format!("a value is missing before `{sign}`"))),
        };
        Ok(Syntax { form, span: span.start..self.tokens[self.at - 1].1.end })
    }

    /// The rest of `customer.user_id` or `caller.can(…)`.
    fn after_point(&mut self, object: String) -> Result<Form, Mistake> {
        let Some((Token::Word(name), _)) = self.tokens.get(self.at).cloned() else {
            return Err(Mistake::new(self.here(), "a name is missing after the point"));
        };
        self.at += 1;
        if self.take_sign(&["("]).is_some() {
            return Ok(Form::Method(object, name, self.list(")")?));
        }
        match self.take_sign(&["."]) {
            Some(_) => Err(Mistake::new(self.here(), "an expression takes one step to another record")),
            None => Ok(Form::Step(object, name)),
        }
    }

    /// Values between commas, up to a closing sign.
    fn list(&mut self, end: &'static str) -> Result<Vec<Syntax>, Mistake> {
        let mut found = Vec::new();
        if self.take_sign(&[end]).is_some() {
            return Ok(found);
        }
        loop {
            found.push(self.any()?);
            if self.take_sign(&[","]).is_none() {
                self.expect(end)?;
                return Ok(found);
            }
        }
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "and" | "or" | "not" | "in" | "is")
}
