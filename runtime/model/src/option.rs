//! Options of a field whose text the derive passes on unchanged: texts for people, the input in the panel, rights, and expressions.

use crate::{Keyword, keywords};

keywords! {
    /// An option of a field. A new one is a row here, a field of the runtime's `FieldMeta`, and its keys in the grammar. Codegen
    /// checks the options that can be wrong, and captures those on which clients or tables depend.
    FieldOption {
        Label = "label",
        Help = "help",
        Placeholder = "placeholder",
        Group = "group",
        Widget = "widget",
        Description = "description",
        Example = "example",
        Read = "read",
        Write = "write",
        OnDelete = "on_delete",
        Sequence = "sequence",
        Numbering = "numbering",
        Value = "value",
        Where = "where",
    }
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionTakes {
    /// Text that is not blank.
    Text,
    /// A value of the field, as text.
    Literal,
    /// A permission, such as `hr.view`, or an ability, such as `users:read`.
    Right,
    /// One of the words of [`Widget`](crate::Widget).
    Widget,
    /// One of the words of [`OnDelete`](crate::OnDelete).
    OnDelete,
    /// A [`SequenceFormat`](crate::sequence::SequenceFormat).
    Sequence,
    /// One of the words of [`Numbering`](crate::Numbering).
    Numbering,
    /// An expression: over other fields of the record for `value`, over those of the referenced record for `where`.
    Expression,
}

/// The properties of an option.
#[derive(Debug)]
pub struct OptionFacts {
    pub takes: OptionTakes,
    /// True if a derived field takes it.
    pub of_derived: bool,
    /// True if embedded records take it.
    pub of_embedded: bool,
    /// The value when the key is left out.
    pub default: &'static str,
    pub example: &'static str,
    pub meaning: &'static str,
}

impl FieldOption {
    /// The key of YAML and of attributes.
    pub fn key(self) -> &'static str {
        self.word()
    }

    /// The name of the field of `FieldMeta`: the key, unless that is a keyword of Rust.
    pub fn meta_field(self) -> &'static str {
        if self == FieldOption::Where { "choices" } else { self.key() }
    }

    pub const fn facts(self) -> OptionFacts {
        match self {
            FieldOption::Label => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: true,
                of_embedded: true,
                default: "the name with spaces and a capital, without `_id` and `is_`",
                example: "label: Stock keeping unit",
                meaning: "The name for people: in the panel, and as `title` in the OpenAPI document.",
            },
            FieldOption::Help => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: false,
                of_embedded: false,
                default: "the `description`",
                example: "help: As it is printed on the box.",
                meaning: "The help text below its input in the panel.",
            },
            FieldOption::Placeholder => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: false,
                of_embedded: false,
                default: "no placeholder",
                example: "placeholder: BX-1200",
                meaning: "The text that its empty input shows in the panel. It applies to text and numbers.",
            },
            FieldOption::Group => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: true,
                of_embedded: false,
                default: "no group: before all groups",
                example: "group: Money",
                meaning: "The heading above it in the forms and record pages of the panel. Groups are in the order of their first fields.",
            },
            FieldOption::Widget => OptionFacts {
                takes: OptionTakes::Widget,
                of_derived: false,
                of_embedded: false,
                default: "the input of its type",
                example: "widget: radio",
                meaning: "The input in the panel: `textarea`, several lines for a `string`; `radio`, all choices of an `enum` or `code`; `monospace`, a monospaced font for a `string` or `text`, also in lists and on record pages; `money`, a `decimal` with the symbol, the separators and the decimal places of the currency in the settings, also in lists and on record pages.",
            },
            FieldOption::Description => OptionFacts {
                takes: OptionTakes::Text,
                of_derived: true,
                of_embedded: true,
                default: "a description of its name, its type and its rules",
                example: "description: Where the rate comes from.",
                meaning: "A description in one or two sentences, for readers of the OpenAPI document.",
            },
            FieldOption::Example => OptionFacts {
                takes: OptionTakes::Literal,
                of_derived: true,
                of_embedded: false,
                default: "a value that fits its type and its rules",
                example: "example: GBP",
                meaning: "An example value for the OpenAPI document.",
            },
            FieldOption::Read => OptionFacts {
                takes: OptionTakes::Right,
                of_derived: true,
                of_embedded: false,
                default: "none: everyone who may read the resource",
                example: "read: costs.view",
                meaning: "The permission that reading the field needs. Without it, the field is in no response, filter, sort, export, view, audit entry or webhook delivery.",
            },
            FieldOption::Write => OptionFacts {
                takes: OptionTakes::Right,
                of_derived: false,
                of_embedded: false,
                default: "that of `read`",
                example: "write: costs.manage",
                meaning: "The permission that setting the field needs. Without it, a write that would change the field is refused.",
            },
            FieldOption::Sequence => OptionFacts {
                takes: OptionTakes::Sequence,
                of_derived: false,
                of_embedded: false,
                default: "no numbering",
                example: "sequence: \"TCK-{year}-{0000}\"",
                meaning: "For a `string`, the number that the server assigns on create if the client sends none: text with `{0000}`, the number with at least that number of digits. With `{year}`, or `{year}` and `{month}`, it starts at 1 in each year or month of the company's time zone. It implies `unique: true`.",
            },
            FieldOption::Numbering => OptionFacts {
                takes: OptionTakes::Numbering,
                of_derived: false,
                of_embedded: false,
                default: "`fast`",
                example: "numbering: gapless",
                meaning: "With `sequence`: `fast` takes a number at once, so that a refused create leaves a gap; `gapless` takes it with the record, so that creates wait for each other and no number is missing.",
            },
            FieldOption::OnDelete => OptionFacts {
                takes: OptionTakes::OnDelete,
                of_derived: false,
                of_embedded: false,
                default: "the record cannot be deleted while others refer to it; with `delete: soft` it can, and they keep the reference",
                example: "on_delete: clear",
                meaning: "For a `ref` to one resource, the effect when the record that it refers to is deleted: `restrict` refuses the deletion, `clear` sets the field to null, `cascade` deletes the records that refer to it, too.",
            },
            FieldOption::Value => OptionFacts {
                takes: OptionTakes::Expression,
                of_derived: false,
                of_embedded: false,
                default: "none: a client, a default or a hook sets it",
                example: "value: quantity * unit_price",
                meaning: "A computed field: the server computes it from other fields of the record at each write, and stores it. It is read-only, and has no default and no rule but `unique`.",
            },
            FieldOption::Where => OptionFacts {
                takes: OptionTakes::Expression,
                of_derived: false,
                of_embedded: false,
                default: "every record that the caller can see",
                example: "where: is_active",
                meaning: "For a `ref` to one resource, the records that can be chosen: a condition over the fields of the record that it refers to. A value that a record has already stays valid. With `count`, `sum`, `min` and `max`: the condition of the records that count.",
            },
        }
    }
}
