//! Words of the grammar for field types: the YAML of each, and its names in other systems.

use super::{TypeFacts, decimal};

/// One word of the grammar.
#[derive(Debug)]
pub struct TypeWord {
    pub word: &'static str,
    /// The word with its arguments: `decimal(p, s)`.
    pub written: &'static str,
    pub example: &'static str,
    /// The same as a regular expression, for editors. A flow mapping splits `decimal(12, 4)` at the comma, and an
    /// editor sees `decimal(12` alone. `{n}` stands for the lengths of a string, `{p}` for the digits and places of a
    /// decimal, `{digits}` for its digits.
    pub pattern: &'static str,
    pub meaning: &'static str,
    /// The JSON of a value.
    pub json: &'static str,
    /// The type in the Rust struct.
    pub rust: &'static str,
    pub takes: Takes,
    /// The type of the word; the first for a word with several types.
    pub facts: &'static TypeFacts,
    /// Names of the type in other systems, in lower case, each group with the type to write here.
    pub elsewhere: &'static [(&'static [&'static str], &'static str)],
}

/// The arguments of a type in YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// The maximum number of characters: `string(255)`.
    Length,
    /// The digits and the decimal places: `decimal(12, 4)`.
    Digits,
    /// The words under `values`.
    Words,
    /// The numbers with labels under `values`.
    Codes,
    /// The type of the elements: `list(string(50))`.
    Element,
    /// The resources that it refers to: `ref(member | product)`.
    Targets,
}

impl TypeWord {
    /// The regular expression for editors, with the numbers that the type takes.
    pub fn pattern(&self) -> String {
        let up_to = |most: u8| match most {
            0..=9 => format!("[0-{most}]"),
            _ => format!("([0-9]|1[0-{}])", most - 10),
        };
        let decimals: Vec<String> =
            (1..=decimal::MAX_DIGITS).map(|digits| format!("{digits} *, *{} *\\)", up_to(digits))).collect();
        let lengths = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
        self.pattern
            .replace("{n}", lengths)
            .replace("{p}", &decimals.join("|"))
            .replace("{digits}", &format!("([1-9]|1[0-{}])", decimal::MAX_DIGITS - 10))
    }

    /// Every word, for suggestions.
    pub fn words() -> impl Iterator<Item = &'static str> {
        TypeWord::ALL.iter().map(|known| known.word)
    }

    /// The type of a word.
    pub fn find(word: &str) -> Option<&'static TypeWord> {
        TypeWord::ALL.iter().copied().find(|known| known.word == word)
    }

    /// The type to write for a name from another system: `string(255)` for `varchar`, `text` for `TextField`.
    pub fn elsewhere(name: &str) -> Option<&'static str> {
        let lower = name.to_lowercase();
        let bare = lower.strip_suffix("field").unwrap_or(&lower);
        if let Some(same) = TypeWord::find(bare).filter(|known| lower != known.word) {
            return Some(same.example);
        }
        let mut names = TypeWord::ALL.iter().flat_map(|known| known.elsewhere);
        names.find(|(names, _)| names.contains(&bare)).map(|(_, here)| *here)
    }
}
