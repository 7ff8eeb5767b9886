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
pub struct TypeContext<'a> {
    pub field: &'a Name,
    pub values: Option<&'a Spanned<ValuesSyntax>>,
    /// Something in the field could not be read, which may be its values.
    pub incomplete: bool,
    pub timestamps: TimestampForm,
    pub links: &'a Links,
}

/// Lowers a type; a polymorphic reference gives the type of its type column.
pub fn lower(written: &TypeSyntax, context: &TypeContext<'_>, problems: &mut Problems) -> Kind {
    let mut lowering = Lowering { written, context, problems };
    let kind = lowering.kind();
    let has_values = |known: &TypeWord| matches!(known.takes, Takes::Words | Takes::Codes);
    if let Some(values) = context.values.filter(|_| !TypeWord::find(written.word.as_str()).is_some_and(has_values)) {
        let message = format!("`{}` is a `{}`, which takes no `values`", context.field.value, written.word.value);
        let problem = Diagnostic::new(Code::Values, values.span, message, "does not apply")
            .help("use `type: enum` for words, or `type: code` for numbers with labels");
        problems.push(problem);
    }
    kind.map_or(Kind::Unknown, Kind::Known)
}

struct Lowering<'a> {
    written: &'a TypeSyntax,
    context: &'a TypeContext<'a>,
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
        let message = format!("unknown type `{unknown}`");
        let problem = Diagnostic::new(Code::UnknownType, self.written.word.span, message, "unknown type");
        let format = Format::read(&unknown.to_lowercase());
        let arguments: Vec<&str> = self.written.arguments.iter().map(|one| one.word.as_str()).collect();
        self.problems.push(match (format, other_type(unknown, &arguments)) {
            _ if self.context.links.has(unknown) => problem.help(format!("write a reference as `ref({unknown})`")),
            (Some(format), _) => problem.help(format!("write `type: string(255)` and `format: {}`", format.word())),
            (None, Some(word)) => problem.help(format!("write `{word}`")),
            _ if matches!(unknown.to_lowercase().as_str(), "binary" | "blob" | "bytea" | "file" | "image") => {
                problem.help("attachments belong to a record, not to a field: add `attachments: true` at the top level")
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
            self.refuse(span, message, "takes no arguments", &help);
        }
        is_alone
    }

    fn length(&mut self, written: &TypeSyntax) -> Option<u32> {
        let most = string::MAX_LENGTH;
        let help = format!("write `string(n)` with n from 1 to {most}, such as `string(255)`; `text` has no limit");
        let [argument] = written.arguments.as_slice() else {
            self.refuse(written.span, "`string` needs a maximum length", "length missing", &help);
            return None;
        };
        let length = number(argument).filter(|length| (1..=most).contains(length));
        if length.is_none() {
            let message = format!("`{}` is not a valid length of a string", argument.word.value);
            self.refuse(argument.span, message, "out of range", &help);
        }
        length
    }

    fn digits(&mut self) -> Option<Arguments<Written>> {
        let most = decimal::MAX_DIGITS;
        let help = format!(
            "write `decimal(p, s)`, such as `decimal(12, 2)`: at most p digits (1 to {most}), of which s are decimal places"
        );
        let ([precision, places], false) = (self.written.arguments.as_slice(), self.written.alternatives) else {
            let message = "`decimal` needs its digits and its decimal places";
            self.refuse(self.written.span, message, "arguments missing", &help);
            return None;
        };
        let digits = number::<u8>(precision).filter(|digits| (1..=most).contains(digits));
        let Some(digits) = digits else {
            let message = format!("`{}` is not a valid number of digits", precision.word.value);
            self.refuse(precision.span, message, "out of range", &help);
            return None;
        };
        let Some(behind) = number::<u8>(places).filter(|behind| *behind <= digits) else {
            let message = format!("a decimal of {digits} digits cannot have `{}` decimal places", places.word.value);
            self.refuse(places.span, message, "more than its digits", &help);
            return None;
        };
        Some(Arguments::Digits { precision: digits, places: behind })
    }

    fn list(&mut self) -> Option<Type> {
        let help = "write `list(string(n))` for a list of short texts, or `list(ref(x))` for a list of ids";
        let [element] = self.written.arguments.as_slice() else {
            self.refuse(self.written.span, "`list` needs the type of its elements", "element type missing", help);
            return None;
        };
        match (element.word.as_str(), element.arguments.as_slice()) {
            ("string", _) => self.length(element).map(|max| Type::StringList { max }),
            ("ref", [target]) if target.span == target.word.span => {
                Some(Type::RefList { resource: target.word.clone() })
            }
            _ => {
                let message = format!("`{}` cannot be the element type of a list", element.word.value);
                self.refuse(element.span, message, "not an element type", help);
                None
            }
        }
    }

    fn reference(&mut self) -> Option<Type> {
        if let Some(odd) = self.written.arguments.iter().find(|target| target.span != target.word.span) {
            let message = format!("the resource `{}` takes no arguments", odd.word.value);
            self.refuse(odd.span, message, "not a name", &format!("write `{}`", odd.word.value));
            return None;
        }
        match self.written.arguments.as_slice() {
            [target] => Some(Type::Ref { resource: target.word.clone() }),
            targets if self.written.alternatives => {
                Some(Type::PolymorphicType { type_names: targets.iter().map(|target| target.word.clone()).collect() })
            }
            _ => {
                let help = "write `ref(product)`, or `ref(member | product)` for several resources";
                self.refuse(self.written.span, "`ref` needs a resource", "resource missing", help);
                None
            }
        }
    }

    fn words(&mut self) -> Option<Vec<Name>> {
        let given: Vec<&str> = self.written.arguments.iter().map(|one| one.word.as_str()).collect();
        let help = match given.is_empty() {
            true => "add, for example, `values: [draft, sent]`".to_owned(),
            false => format!("write `type: enum` and `values: [{}]`", given.join(", ")),
        };
        let help = help.as_str();
        match self.context.values {
            Some(Spanned { value: ValuesSyntax::Words(words), .. }) => Some(words.clone()),
            Some(values) => self.no_values(values.span, "the values of an `enum` must be a list of words", help),
            None if self.context.incomplete => None,
            None => self.no_values(self.written.span, "an `enum` needs its `values`", help),
        }
    }

    fn codes(&mut self) -> Option<Vec<CodeValue>> {
        let help = "add, for example, `values: { 1: Bulk, 2: Serialised }`";
        let codes = match self.context.values {
            Some(Spanned { value: ValuesSyntax::Codes(codes), .. }) => codes,
            Some(values) => {
                return self.no_values(values.span, "the values of a `code` must be numbers with labels", help);
            }
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
                        (None, true) => format!("`{text}` must be written without `+`"),
                        (None, false) => format!("`{text}` is not a 32-bit integer"),
                    };
                    let help = plain.map_or_else(|| help.to_owned(), |plain| format!("write `{plain}`"));
                    self.problems
                        .push(Diagnostic::new(Code::Values, number.span, message, "not an integer").help(help));
                }
            }
        }
        // Unreadable numbers are reported, and may be what the field means.
        (values.len() == codes.len()).then_some(values)
    }

    fn no_values<T>(&mut self, span: Span, message: &str, help: &str) -> Option<T> {
        self.problems.push(Diagnostic::new(Code::Values, span, message, "values missing").help(help));
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
