//! Lowering of types: a written type with its arguments becomes a field type.

use std::str::FromStr;

use charter_model::field_type::{decimal, string};
use charter_model::number::{LEADING_ZERO, without_zeros};
use charter_model::{Arguments, Format, Keyword, Parameters, Takes, TimestampForm, TypeWord};

use super::links::Links;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::model::{CodeValue, Kind, Name, Type};
use crate::notation::Written;
use crate::source::{Span, Spanned};
use crate::syntax::field::ValuesSyntax;
use crate::syntax::type_word::TypeSyntax;

/// The context of a type.
pub struct Context<'a> {
    pub field: &'a Name,
    pub values: Option<&'a Spanned<ValuesSyntax>>,
    /// Something in the field could not be read, which may be its values.
    pub incomplete: bool,
    pub timestamps: TimestampForm,
    pub links: &'a Links,
}

/// Lowers a type; a polymorphic reference gives the type of its type column.
pub fn lower(written: &TypeSyntax, context: &Context<'_>, problems: &mut Problems) -> Kind {
    let mut lowering = Lowering { written, context, problems };
    let kind = lowering.kind();
    let has_values = |known: &TypeWord| matches!(known.takes, Takes::Words | Takes::Codes);
    if let Some(values) = context.values.filter(|_| !TypeWord::find(written.word.as_str()).is_some_and(has_values)) {
        let message = format!("`{}` is a `{}`, which has no `values`", context.field.value, written.word.value);
        let problem = Diagnostic::new(Code::Values, values.span, message, "not for this type")
            .help("words make an `enum`, numbers with labels a `code`");
        problems.push(problem);
    }
    kind.map_or(Kind::Unknown, Kind::Known)
}

struct Lowering<'a> {
    written: &'a TypeSyntax,
    context: &'a Context<'a>,
    problems: &'a mut Problems,
}

impl Lowering<'_> {
    fn kind(&mut self) -> Option<Type> {
        let Some(known) = TypeWord::find(self.written.word.as_str()) else {
            self.unknown();
            return None;
        };
        let arguments = match known.takes {
            Takes::Nothing => match known.facts.parameters {
                Parameters::Form => Arguments::Form(self.context.timestamps),
                _ => Arguments::None,
            },
            Takes::Length => Arguments::Length(self.length(self.written)?),
            Takes::Digits => self.digits()?,
            Takes::Words => Arguments::Words(self.words()?),
            Takes::Codes => Arguments::Codes(self.codes()?),
            Takes::Element => return self.list(),
            Takes::Targets => return self.reference(),
        };
        let is_alone = matches!(known.takes, Takes::Nothing | Takes::Words | Takes::Codes);
        if is_alone && !self.is_alone() {
            return None;
        }
        Type::read(known.facts, arguments)
    }

    /// Reports an unknown word, with a suggestion.
    fn unknown(&mut self) {
        let unknown = self.written.word.as_str();
        let message = format!("there is no type `{unknown}`");
        let problem = Diagnostic::new(Code::UnknownType, self.written.word.span, message, "unknown type");
        let format = Format::read(&unknown.to_lowercase());
        let arguments: Vec<&str> = self.written.arguments.iter().map(|one| one.word.as_str()).collect();
        self.problems.push(match (format, other_type(unknown, &arguments)) {
            _ if self.context.links.has(unknown) => problem.help(format!("a reference is `ref({unknown})`")),
            (Some(format), _) => problem.help(format!("say `type: string(255)` and `format: {}`", format.word())),
            (None, Some(word)) => problem.help(format!("here it is called `{word}`")),
            _ if matches!(unknown.to_lowercase().as_str(), "binary" | "blob" | "bytea" | "file" | "image") => {
                problem.help("files hang on a record, in no field of it: `attachments: true` at the top")
            }
            (None, None) => problem.did_you_mean(unknown, TypeWord::words()),
        });
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, label: &str, help: &str) {
        self.problems.push(Diagnostic::new(Code::TypeArguments, span, message, label).help(help));
    }

    /// True if a type that takes no arguments has none. Arguments are reported.
    fn is_alone(&mut self) -> bool {
        // `text()` has neither an argument nor the plain form.
        let is_alone = self.written.span == self.written.word.span;
        if !is_alone {
            let message = format!("`{}` takes no arguments", self.written.word.value);
            let help = format!("write `{}`", self.written.word.value);
            let span = self.written.arguments.first().map_or(self.written.span, |first| first.span);
            self.refuse(span, message, "not for this type", &help);
        }
        is_alone
    }

    fn length(&mut self, written: &TypeSyntax) -> Option<u32> {
        let most = string::MAX_LENGTH;
        let help = format!("`string(n)` with n from 1 to {most}, for example `string(255)`; `text` has no limit");
        let [argument] = written.arguments.as_slice() else {
            self.refuse(written.span, "`string` needs its greatest length", "how long?", &help);
            return None;
        };
        let length = number(argument).filter(|length| (1..=most).contains(length));
        if length.is_none() {
            let message = format!("a string cannot be `{}` characters long", argument.word.value);
            self.refuse(argument.span, message, "out of range", &help);
        }
        length
    }

    fn digits(&mut self) -> Option<Arguments<Written>> {
        let most = decimal::MAX_DIGITS;
        let help = format!(
            "`decimal(p, s)`: at most p digits, p from 1 to {most}, of which s stand behind the point; for example `decimal(12, 2)`"
        );
        let ([precision, places], false) = (self.written.arguments.as_slice(), self.written.alternatives) else {
            let message = "`decimal` needs its digits and its places";
            self.refuse(self.written.span, message, "how many?", &help);
            return None;
        };
        let digits = number::<u8>(precision).filter(|digits| (1..=most).contains(digits));
        let Some(digits) = digits else {
            let message = format!("a decimal cannot have `{}` digits", precision.word.value);
            self.refuse(precision.span, message, "out of range", &help);
            return None;
        };
        let Some(behind) = number::<u8>(places).filter(|behind| *behind <= digits) else {
            let message = format!("a decimal of {digits} digits cannot have `{}` places", places.word.value);
            self.refuse(places.span, message, "more than all digits", &help);
            return None;
        };
        Some(Arguments::Digits { precision: digits, places: behind })
    }

    fn list(&mut self) -> Option<Type> {
        let help = "`list(string(n))` is a list of short texts, `list(ref(x))` one of ids";
        let [element] = self.written.arguments.as_slice() else {
            self.refuse(self.written.span, "`list` needs the type of its elements", "a list of what?", help);
            return None;
        };
        match (element.word.as_str(), element.arguments.as_slice()) {
            ("string", _) => self.length(element).map(|max| Type::StringList { max }),
            ("ref", [target]) if target.span == target.word.span => {
                Some(Type::RefList { resource: target.word.clone() })
            }
            _ => {
                let message = format!("a list cannot hold `{}`", element.word.value);
                self.refuse(element.span, message, "not an element", help);
                None
            }
        }
    }

    fn reference(&mut self) -> Option<Type> {
        if let Some(odd) = self.written.arguments.iter().find(|target| target.span != target.word.span) {
            let message = format!("`{}` names a resource, which takes no arguments", odd.word.value);
            self.refuse(odd.span, message, "not a name", &format!("write `{}`", odd.word.value));
            return None;
        }
        match self.written.arguments.as_slice() {
            [target] => Some(Type::Ref { resource: target.word.clone() }),
            targets if self.written.alternatives => {
                Some(Type::PolymorphicType { type_names: targets.iter().map(|target| target.word.clone()).collect() })
            }
            _ => {
                let help = "`ref(product)`, or `ref(member | product)` where it may be either";
                self.refuse(self.written.span, "`ref` needs the resource that it refers to", "to what?", help);
                None
            }
        }
    }

    fn words(&mut self) -> Option<Vec<Name>> {
        let given: Vec<&str> = self.written.arguments.iter().map(|one| one.word.as_str()).collect();
        let help = match given.is_empty() {
            true => "for example `values: [draft, sent]`".to_owned(),
            false => format!("beside the type: `type: enum` and `values: [{}]`", given.join(", ")),
        };
        let help = help.as_str();
        match self.context.values {
            Some(Spanned { value: ValuesSyntax::Words(words), .. }) => Some(words.clone()),
            Some(values) => self.no_values(values.span, "the values of an `enum` are a list of words", help),
            None if self.context.incomplete => None,
            None => self.no_values(self.written.span, "an `enum` needs its `values`", help),
        }
    }

    fn codes(&mut self) -> Option<Vec<CodeValue>> {
        let help = "for example `values: { 1: Bulk, 2: Serialised }`";
        let codes = match self.context.values {
            Some(Spanned { value: ValuesSyntax::Codes(codes), .. }) => codes,
            Some(values) => return self.no_values(values.span, "the values of a `code` are numbers with labels", help),
            None if self.context.incomplete => return None,
            None => return self.no_values(self.written.span, "a `code` needs its `values`", help),
        };
        let mut values = Vec::new();
        for (number, label) in codes {
            // Some YAML readers take `+5` and `05` for other numbers.
            match number.value.parse::<i32>().ok().filter(|value| value.to_string() == number.value) {
                Some(value) => {
                    values.push(CodeValue { number: Spanned::new(value, number.span), label: label.clone() });
                }
                None => {
                    let text = &number.value;
                    let plain = without_zeros(text).or_else(|| text.strip_prefix('+').map(str::to_owned));
                    let message = match (without_zeros(text), text.starts_with('+')) {
                        (Some(_), _) => format!("`{text}` {LEADING_ZERO}"),
                        (None, true) => format!("`{text}` is not written as numbers are here, without `+`"),
                        (None, false) => format!("`{text}` is not a whole number of 32 bits"),
                    };
                    let help = plain.map_or_else(|| help.to_owned(), |plain| format!("write `{plain}`"));
                    self.problems.push(Diagnostic::new(Code::Values, number.span, message, "not a number").help(help));
                }
            }
        }
        // Unreadable numbers are reported, and may be what the field means.
        (values.len() == codes.len()).then_some(values)
    }

    fn no_values<T>(&mut self, span: Span, message: &str, help: &str) -> Option<T> {
        self.problems.push(Diagnostic::new(Code::Values, span, message, "values are missing").help(help));
        None
    }
}

/// The type that another system's type is here, with its length or digits.
fn other_type(word: &str, arguments: &[&str]) -> Option<String> {
    let here = TypeWord::elsewhere(word)?;
    let (kind, _) = here.split_once('(').unwrap_or((here, ""));
    let are_numbers = arguments.iter().all(|text| text.parse::<u16>().is_ok_and(|number| number > 0));
    Some(match (kind, arguments) {
        ("string", [_]) if are_numbers => format!("{kind}({})", arguments.join(", ")),
        ("decimal", [digits, _])
            if are_numbers && digits.parse::<u8>().is_ok_and(|digits| digits <= decimal::MAX_DIGITS) =>
        {
            format!("{kind}({})", arguments.join(", "))
        }
        _ => here.to_owned(),
    })
}

/// A plain number: neither `+5` nor `05`.
fn number<T: FromStr + ToString>(written: &TypeSyntax) -> Option<T> {
    let text = written.word.as_str();
    text.parse().ok().filter(|number: &T| written.arguments.is_empty() && number.to_string() == text)
}
