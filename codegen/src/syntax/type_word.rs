//! Types as written: a word, and arguments in parentheses.

use charter_model::TypeWord;

use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::source::{Span, Spanned};
use crate::syntax::spacing::torn_colon;

/// The most levels of nested types, which is more than the grammar uses.
const MAX_DEPTH: usize = 4;

/// The most characters of an unreadable type that a report quotes.
const MAX_QUOTED_CHARACTERS: usize = 40;

/// `decimal(12, 4)`, `ref(member | product)`, `list(string(50))`. A number among the arguments is a word without
/// arguments.
#[derive(Debug, Clone)]
pub struct TypeSyntax {
    pub word: Spanned<String>,
    pub arguments: Vec<TypeSyntax>,
    /// The arguments are alternatives, separated by `|`.
    pub alternatives: bool,
    /// The whole type.
    pub span: Span,
}

impl TypeSyntax {
    /// Moves the type and its arguments to a place, for one that no file has.
    pub fn place(&mut self, at: Span) {
        (self.word.span, self.span) = (at, at);
        self.arguments.iter_mut().for_each(|argument| argument.place(at));
    }
}

/// Reads a type; an unreadable one is reported.
pub fn read(text: &Spanned<String>, problems: &mut Problems) -> Option<TypeSyntax> {
    let mut scanner = Scanner { text: &text.value, at: 0, span: text.span };
    let found = scanner.expression(MAX_DEPTH);
    scanner.skip_spaces();
    let rest = &scanner.text[scanner.at..];
    if found.is_some() && rest.is_empty() {
        return found;
    }
    let message = match text.value.char_indices().nth(MAX_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("`{}…` is not a type", &text.value[..end]),
        None => format!("`{}` is not a type", text.value),
    };
    let problem = Diagnostic::new(Code::UnknownType, text.span, message, "not a type");
    if let Some(round) = in_round_brackets(&text.value) {
        problems.push(problem.help(format!("use round brackets: `{round}`")));
        return None;
    }
    if let Some(torn) = torn_colon(&text.value) {
        problems.push(problem.help(torn));
        return None;
    }
    if let Some(help) = found.as_ref().and_then(|_| help_for_options(text.value[..scanner.at].trim(), rest.trim())) {
        problems.push(problem.help(help));
        return None;
    }
    // `CharField(max_length=100)`
    if let Some(here) = text.value.split_once('(').and_then(|(word, _)| TypeWord::elsewhere(word)) {
        problems.push(problem.help(format!("write `{here}`")));
        return None;
    }
    let problem = match (found, text.value.strip_suffix('?')) {
        (Some(_), Some(kind)) if rest == "?" => {
            problem.help(format!("to allow null, write `type: {kind}` and `nullable: true`"))
        }
        _ => problem
            .help("write a word, with arguments in parentheses if the type takes any: `string(255)`, `decimal(12, 4)`"),
    };
    problems.push(problem);
    None
}

/// True if a text begins with the word of a type.
pub fn names_type(text: &str) -> bool {
    TypeWord::find(text.split('(').next().unwrap_or_default()).is_some()
}

/// A type with square brackets as it is written here: `string[20]` is `string(20)`.
pub fn in_round_brackets(text: &str) -> Option<String> {
    let (word, _) = text.split_once('[')?;
    let is_type = TypeWord::find(word).is_some() && text.ends_with(']');
    is_type.then(|| text.replace('[', "(").replace(']', ")"))
}

/// The help for options written after a type: `string(9)!`, `integer = 0`, `text | null`.
fn help_for_options(kind: &str, more: &str) -> Option<String> {
    let option = match (more, more.strip_prefix('=')) {
        ("!", _) => "required: true".to_owned(),
        (_, Some(value)) => format!("default: {}", value.trim()),
        _ if more.strip_prefix('|').is_some_and(|or| or.trim() == "null") => "nullable: true".to_owned(),
        _ if more.starts_with(|c: char| c == ',' || c.is_alphabetic()) => "…".to_owned(),
        _ => return None,
    };
    Some(format!("move the options of the field out of its type: `{{ type: {kind}, {option} }}`"))
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    span: Span,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_spaces(&mut self) {
        self.at += self.text[self.at..].len() - self.text[self.at..].trim_start().len();
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.skip_spaces();
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// The place of a part of the text. A quoted text begins with its quote.
    fn place(&self, start: usize, end: usize) -> Span {
        let quote = usize::from(self.span.end - self.span.start == self.text.len() + 2);
        let start = self.span.start + quote + start;
        Span { file: self.span.file, start, end: self.span.start + quote + end }
    }

    /// A word with its arguments, nested to at most `depth` levels.
    fn expression(&mut self, depth: usize) -> Option<TypeSyntax> {
        self.skip_spaces();
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+'))).unwrap_or(rest.len());
        if length == 0 {
            return None;
        }
        self.at += length;
        let word = Spanned::new(rest[..length].to_owned(), self.place(start, self.at));
        let mut found =
            TypeSyntax { word, arguments: Vec::new(), alternatives: false, span: self.place(start, self.at) };
        // No space before the parenthesis: `string (5)` is two words.
        if self.peek() == Some('(') && self.eat('(') && !self.eat(')') {
            let depth = depth.checked_sub(1)?;
            found.arguments.push(self.expression(depth)?);
            while !self.eat(')') {
                let or = self.eat('|');
                let mixed = found.arguments.len() > 1 && or != found.alternatives;
                if mixed || !or && !self.eat(',') {
                    return None;
                }
                found.alternatives = or;
                found.arguments.push(self.expression(depth)?);
            }
        }
        found.span = self.place(start, self.at);
        Some(found)
    }
}
