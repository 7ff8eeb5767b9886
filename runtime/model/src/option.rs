//! Options of a field that pass through codegen and the derive unchanged: words for people, and how a value is typed.

use crate::{Keyword, keywords};

keywords! {
    /// An option whose value only the panel and the OpenAPI document read. A new one is a row here, a field of the
    /// runtime's `FieldMeta`, and its keys in the grammar.
    DisplayOption {
        Label = "label",
        Help = "help",
        Group = "group",
        Widget = "widget",
        Description = "description",
        Example = "example",
    }
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionTakes {
    /// Text that is more than white space.
    Text,
    /// A value of the field, as text.
    Literal,
    /// One of the words of [`Widget`](crate::Widget).
    Widget,
}

/// The properties of an option.
#[derive(Debug)]
pub struct OptionFacts {
    pub takes: OptionTakes,
    /// It can be said of a derived field.
    pub of_derived: bool,
    /// It can be said of embedded records.
    pub of_embedded: bool,
    /// The value when the key is left out.
    pub default: &'static str,
    pub example: &'static str,
    pub meaning: &'static str,
}

impl DisplayOption {
    /// The key of YAML and of attributes, and the name of the field of `FieldMeta`.
    pub fn key(self) -> &'static str {
        self.word()
    }

    pub const fn facts(self) -> OptionFacts {
        match self {
            DisplayOption::Label => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: true,
                of_embedded: true,
                default: "the name with spaces and a capital, without `_id` and `is_`",
                example: "label: Stock keeping unit",
                meaning: "What people call it: in the panel, and as `title` in the API's description.",
            },
            DisplayOption::Help => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: false,
                of_embedded: false,
                default: "the `description`",
                example: "help: As it is printed on the box.",
                meaning: "What stands below its input in the panel, for those who fill it in.",
            },
            DisplayOption::Group => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: true,
                of_embedded: false,
                default: "none: it stands before all groups",
                example: "group: Money",
                meaning: "Under which heading it stands in the panel, in its forms and on the page of a record. Groups stand in the order in which they are first named.",
            },
            DisplayOption::Widget => OptionFacts {
                takes: OptionTakes::Widget,
                of_derived: false,
                of_embedded: false,
                default: "the input that fits its type",
                example: "widget: radio",
                meaning: "How people type it in the panel: `textarea`, a `string` in several lines; `radio`, all choices of an `enum` or `code` at once; `monospace`, a `string` or `text` in letters of one width, also where it is shown; `money`, a `decimal` with the symbol, the separators and the places of the currency that the settings name, also where it is shown.",
            },
            DisplayOption::Description => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: true,
                of_embedded: true,
                default: "what its name, its type and its rules say",
                example: "description: Where the rate comes from.",
                meaning: "What it is, in a sentence or two for those who read the API's description.",
            },
            DisplayOption::Example => OptionFacts {
                takes: OptionTakes::Literal,
                of_derived: true,
                of_embedded: false,
                default: "a value that fits its type and its rules",
                example: "example: GBP",
                meaning: "A value for the examples of the API's description.",
            },
        }
    }
}
