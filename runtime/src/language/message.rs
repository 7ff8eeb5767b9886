//! Messages of the API as patterns: `must be at least {number}` is found in `must be at least 5`, and gives its value. A
//! value called `message` is a message itself, and `record` and `records` are nouns.

use std::cmp::Reverse;

use super::{Part, parts};

/// The name of a value that is a message.
pub(super) const MESSAGE: &str = "message";

/// A message with the names of the values in it, and its text in another language.
#[derive(Debug)]
pub(super) struct MessagePattern {
    english: String,
    text: String,
}

impl MessagePattern {
    pub(super) fn new(english: String, text: String) -> MessagePattern {
        MessagePattern { english, text }
    }

    pub(super) fn english(&self) -> &str {
        &self.english
    }

    /// The pattern for messages without the backticks of code; `None` if it has none.
    pub(super) fn without_code(&self) -> Option<MessagePattern> {
        let bare = |text: &str| text.replace('`', "");
        self.english.contains('`').then(|| MessagePattern::new(bare(&self.english), bare(&self.text)))
    }

    /// The order in which patterns are tried, lowest first: those around another message, whose values would contain
    /// these, then those with more text.
    pub(super) fn rank(&self) -> (bool, Reverse<usize>) {
        let parts = parts(&self.english);
        let bytes = parts.iter().map(|part| if let Part::Literal(text) = part { text.len() } else { 0 }).sum();
        (!parts.contains(&Part::Value(MESSAGE)), Reverse(bytes))
    }

    /// The message in the other language, if it has this pattern. `translated` returns a value by its name in the other
    /// language, and `None` if the pattern does not apply.
    pub(super) fn translate(&self, message: &str, translated: impl Fn(&str, &str) -> Option<String>) -> Option<String> {
        let values = read(&parts(&self.english), message)?;
        let filled = parts(&self.text).into_iter().map(|part| match part {
            Part::Literal(text) => Some(text.into_owned()),
            Part::Value(name) => {
                let value = values.iter().find(|(known, _)| *known == name);
                value.map_or_else(|| Some(name.to_string()), |(_, value)| translated(name, value))
            }
        });
        filled.collect()
    }
}

/// The values of a message that consists of these parts. A value ends where the next literal begins first.
fn read<'p, 'm>(pattern: &[Part<'p>], message: &'m str) -> Option<Vec<(&'p str, &'m str)>> {
    match pattern {
        [] => message.is_empty().then(Vec::new),
        [Part::Literal(text), rest @ ..] => read(rest, message.strip_prefix(text.as_ref())?),
        [Part::Value(name)] => (!message.is_empty()).then(|| vec![(*name, message)]),
        [Part::Value(name), rest @ ..] => {
            let Some(Part::Literal(next)) = rest.first() else { return None };
            let ends = message.match_indices(next.as_ref()).map(|(at, _)| at).filter(|at| *at > 0);
            ends.take(MAX_ENDS).find_map(|at| {
                let mut values = read(rest, &message[at..])?;
                values.insert(0, (name, &message[..at]));
                Some(values)
            })
        }
    }
}

/// Ends of a value that are tried.
const MAX_ENDS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_translated_with_its_values() {
        for (english, german, message, expected) in [
            ("is required", "fehlt", "is required", Some("fehlt")),
            ("is required", "fehlt", "is required; x", None),
            (
                "must be at least {number}",
                "muss mindestens {number} sein",
                "must be at least 0.5",
                Some("muss mindestens 0.5 sein"),
            ),
            ("must be at least {number}", "muss mindestens {number} sein", "must be at least ", None),
            ("{a} is not {b}.", "{b}, nicht {a}.", "x is not y is not z.", Some("y is not z, nicht x.")),
            ("{a}, {b}!", "{a} {b}", "1, 2, 3!", Some("1 2, 3")),
        ] {
            let pattern = MessagePattern::new(english.into(), german.into());
            let translated = pattern.translate(message, |_, value| Some(value.to_string()));
            assert_eq!(translated.as_deref(), expected, "{message}");
        }
    }
}
