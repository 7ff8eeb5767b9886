//! Reader of YAML text: one document without anchors, tags or repeated keys.

use granit_parser::{Event, Parser, ScalarStyle, ScanError};

use super::tree::{Entry, Node, Value};
use super::yaml_error_hints;
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::source::{FileId, SourceFile, Span, Spanned};
use crate::syntax::spacing::torn_colon;

/// Keys whose text is prose.
const PROSE_KEYS: [&str; 2] = ["description", "help"];

/// Keys whose value is a mapping from names.
const KEYS_OF_NAMES: [&str; 6] = ["fields", "detail", "actions", "includes", "input", "output"];

/// The tree of a file; none, and a problem reported, if it is not a YAML document.
pub fn read(id: FileId, file: &SourceFile, problems: &mut Problems) -> Option<Node> {
    let mut reader = Reader { id, file, events: Vec::new(), end: 0, block: None, problems };
    if let Some(reason) = &file.unreadable {
        let message = format!("`{}` cannot be read: {reason}", file.path);
        reader.refuse(reader.span(0, 0), message, "");
        return None;
    }
    for next in Parser::new_from_str(&file.text) {
        match next {
            Ok((event, span)) => {
                let bytes = span.byte_range().unwrap_or(0..0);
                reader.events.push((event, reader.span(bytes.start, bytes.end)));
            }
            Err(problem) => {
                reader.broken(&problem);
                return None;
            }
        }
    }
    // Reversed, so that the next event can be popped without a copy.
    reader.events.reverse();
    reader.document()
}

struct Reader<'a> {
    id: FileId,
    file: &'a SourceFile,
    events: Vec<(Event<'a>, Span)>,
    /// The end of the last list or mapping.
    end: usize,
    /// The indicator of the last value, if it is a block scalar that ends in a line break.
    block: Option<char>,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        let length = self.file.text.len();
        Span { file: self.id, start: start.min(length), end: end.clamp(start.min(length), length) }
    }

    /// The span up to the end of its first line.
    fn first_line(&self, span: Span) -> Span {
        let text = &self.file.text[span.start..span.end];
        let line = text.split('\n').next().unwrap_or(text).trim_end();
        self.span(span.start, span.start + line.len())
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, label: &str) {
        self.problems.push(Diagnostic::new(Code::Unreadable, span, message, label));
    }

    fn broken(&mut self, problem: &ScanError) {
        let at = problem.marker().byte_offset().unwrap_or(0);
        // The scanner stops after the last line if something is never closed: point at the last character.
        let written = self.file.text.trim_end().len();
        let start = at.min(written.saturating_sub(1));
        let start = (0..=start).rev().find(|&byte| self.file.text.is_char_boundary(byte)).unwrap_or(0);
        let end = start + self.file.text[start..].chars().next().map_or(0, char::len_utf8);
        let message = format!("invalid YAML: {}", problem.info());
        let help = match yaml_error_hints::likely(&self.file.text, at, &problem.info()) {
            Some(cause) => format!("{cause}; the rest of this file was not checked"),
            None => "the rest of this file was not checked; the other files were".to_owned(),
        };
        let problem =
            Diagnostic::new(Code::Unreadable, self.span(start, end), message, "parsing stopped here").help(help);
        self.problems.push(problem);
    }

    fn document(&mut self) -> Option<Node> {
        let mut root = None;
        while let Some((event, span)) = self.events.pop() {
            match event {
                Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_none() => root = self.node(),
                Event::DocumentStart(..) => {
                    let span = self.first_line(span);
                    self.refuse(span, "the file contains a second document", "a file declares one resource");
                    return root;
                }
                _ => {}
            }
        }
        root.or_else(|| Some(Node { span: self.span(0, 0), value: Value::Null }))
    }

    /// The next node. Tags and anchors are reported and ignored; an alias is left out.
    fn node(&mut self) -> Option<Node> {
        let (event, span) = self.events.pop()?;
        if event.tag().is_some() || event.anchor_id().is_some_and(|id| id > 0) {
            let span = self.mark_before(span).unwrap_or_else(|| self.first_line(span));
            let help = "for a condition, write `not (…)`; put text that begins with `!` or `&` in quotes";
            let message = "anchors and tags are not supported";
            let problem = Diagnostic::new(Code::Unreadable, span, message, "ignored").help(help);
            self.problems.push(problem);
        }
        let value = match event {
            Event::Scalar(text, ScalarStyle::Plain, ..) if text.is_empty() || span.start == span.end => Value::Null,
            Event::Scalar(text, style, ..) => {
                let sign = match style {
                    ScalarStyle::Literal => Some('|'),
                    ScalarStyle::Folded => Some('>'),
                    _ => None,
                };
                self.block = sign.filter(|_| text.ends_with('\n'));
                Value::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain }
            }
            Event::SequenceStart(..) => self.list(),
            Event::MappingStart(..) => self.map(),
            _ => {
                self.refuse(span, "aliases are not supported", "write the value out");
                return None;
            }
        };
        let span = match value {
            Value::List(_) | Value::Map(_) => self.first_line(self.span(span.start, self.end)),
            _ => self.first_line(span),
        };
        Some(Node { span, value })
    }

    /// The place of the anchor or tag before a node, which may be lines above.
    fn mark_before(&self, node: Span) -> Option<Span> {
        let before = self.file.text[..node.start].trim_end();
        let mark = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        mark.starts_with(['&', '!']).then(|| self.span(before.len() - mark.len(), before.len()))
    }

    /// Takes the end of a list or mapping. A block ends where the next node begins, which may be lines below.
    fn close(&mut self) {
        self.end = self.events.pop().map_or(self.end, |(_, span)| span.end);
    }

    fn list(&mut self) -> Value {
        let mut items = Vec::new();
        while !matches!(self.events.last(), None | Some((Event::SequenceEnd, _))) {
            items.extend(self.node());
        }
        self.close();
        Value::List(items)
    }

    fn map(&mut self) -> Value {
        let mut entries: Vec<Entry> = Vec::new();
        while !matches!(self.events.last(), None | Some((Event::MappingEnd, _))) {
            let (Some(key), Some(mut value)) = (self.node(), self.node()) else { continue };
            let Value::Scalar { mut text, plain } = key.value else {
                self.refuse(key.span, format!("a key must be a word, not {}", key.described()), "not a key");
                continue;
            };
            self.without_break(&text, key.span, &mut value);
            if let Some(joined) = self.join_torn(entries.last(), key.span, &value) {
                entries.pop();
                entries.push(joined);
                continue;
            }
            let mut place = key.span;
            if plain
                && matches!(value.value, Value::Null)
                && let Some(parted) = self.part(&text, place)
            {
                (text, place, value) = (parted.key.value, parted.key.span, parted.value);
            }
            if let Some(first) = entries.iter().find(|entry| entry.key.value == text) {
                let message = format!("the key `{text}` is given twice");
                let problem = Diagnostic::new(Code::DuplicateKey, place, message, "again")
                    .related(first.key.span, "first here")
                    .help(match KEYS_OF_NAMES.contains(&text.as_str()) {
                        true => "merge the two",
                        false => "remove one of the two",
                    });
                self.problems.push(problem);
                continue;
            }
            entries.push(Entry { key: Spanned::new(text, place), value });
        }
        self.close();
        Value::Map(entries)
    }

    /// Reports the line break at the end of a block scalar. Only seed rows and prose may mean it.
    fn without_break(&mut self, key: &str, place: Span, value: &mut Node) {
        let Some(sign) = self.block.take() else { return };
        let Value::Scalar { text, .. } = &mut value.value else { return };
        if self.file.is_seed() || PROSE_KEYS.contains(&key) {
            return;
        }
        text.truncate(text.trim_end_matches('\n').len());
        let message = format!("`{key}` ends with a line break: blocks with `{sign}` keep it");
        let problem = Diagnostic::new(Code::WrongShape, place, message, "trailing line break");
        self.problems.push(problem.help(format!("use `{sign}-`, which strips it: `{key}: {sign}-`")));
    }

    /// `name:text` in a flow mapping is one word to YAML. It is reported, and read as it was meant.
    fn part(&mut self, text: &str, place: Span) -> Option<Entry> {
        let help = torn_colon(text)?;
        let (key, value) = text.split_once(':')?;
        let message = format!("`{text}` is a single word: its colon has no space after it");
        self.problems.push(Diagnostic::new(Code::WrongShape, place, message, "one word").help(help));
        let key = Spanned::new(key.to_owned(), self.span(place.start, place.start + key.len()));
        let span = self.span(key.span.end + 1, place.end);
        let within = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        let value = Value::Scalar { text: within.unwrap_or(value).to_owned(), plain: within.is_none() };
        Some(Entry { key, value: Node { span, value } })
    }

    /// In `{ type: decimal(12, 4), min: 0 }` YAML ends a plain scalar at the comma and reads `4)` as a key without a
    /// value. The open parenthesis shows that the two belong together.
    fn join_torn(&self, last: Option<&Entry>, key: Span, value: &Node) -> Option<Entry> {
        let last = last?;
        let Value::Scalar { text, plain: true } = &last.value.value else { return None };
        let open = text.matches('(').count() > text.matches(')').count();
        if !open || !matches!(value.value, Value::Null) {
            return None;
        }
        let span = self.span(last.value.span.start, key.end);
        let text = self.file.text[span.range()].to_owned();
        let value = Node { span, value: Value::Scalar { text, plain: true } };
        Some(Entry { key: last.key.clone(), value })
    }
}
