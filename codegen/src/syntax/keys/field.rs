//! The keys of fields, parameters and answers.

use super::{Key, Shape, Table, key};
use crate::words::{AccessWord, Format, Widget};

const TYPE: Key = key(
    "type",
    Shape::Type,
    "an error, unless a field of a record has `from` or `many` instead",
    "type: decimal(12, 4)",
    "What values it holds.",
);
const VALUES: Key = key(
    "values",
    Shape::Values,
    "none: `enum` and `code` need it",
    "values: { 1: Bulk, 2: Serialised }",
    "The words of an `enum`, or the numbers of a `code` with their labels.",
);
const NULLABLE: Key = key(
    "nullable",
    Shape::Flag,
    "`false`",
    "nullable: true",
    "The value may be null, which is what it is when nothing is given; an empty string clears it.",
);
const REQUIRED: Key = key(
    "required",
    Shape::Flag,
    "`false`",
    "required: true",
    "It must be given: in a record on create, in an action's input always.",
);
const DEFAULT: Key = key(
    "default",
    Shape::Literal,
    "none",
    "default: now",
    "The value when none is given: a literal; `now`, the time or the day of the request; `caller`, the calling user; `hook`, what the `before_save` hook sets. A text that is one of these words stands in quotes.",
);
const DEFAULT_OF_INPUT: Key = key(
    "default",
    Shape::Literal,
    "none",
    "default: now",
    "The value when none is given: a literal; `now`, the time or the day of the request; `caller`, the calling user. A text that is one of these words, or `hook`, stands in quotes.",
);
const MIN: Key = key("min", Shape::Number, "none", "min: 0", "The number is at least this.");
const MAX: Key = key("max", Shape::Number, "none", "max: 100", "The number is at most this.");
const ABOVE: Key = key("above", Shape::Number, "none", "above: 0", "The number is more than this.");
const BELOW: Key = key("below", Shape::Number, "none", "below: 1", "The number is less than this.");
const MIN_LENGTH: Key = key(
    "min_length",
    Shape::Count,
    "none",
    "min_length: 1",
    "The text has at least so many characters, or the list so many elements.",
);
const MAX_LENGTH: Key = key(
    "max_length",
    Shape::Count,
    "none",
    "max_length: 10",
    "The list has at most so many elements. (For text, `string(n)` says it.)",
);
const PATTERN: Key =
    key("pattern", Shape::Text, "none", "pattern: \"[A-Z]{3}\"", "The whole text matches this regular expression.");
const FORMAT: Key = key(
    "format",
    Shape::Word(Format::WORDS),
    "none",
    "format: email",
    "The text is an absolute http or https URL, or an email address.",
);
const EXISTS: Key = key(
    "exists",
    Shape::Path,
    "none",
    "exists: currency.code",
    "Some record of that resource has the value in that field.",
);
const DIFFERS_FROM: Key = key(
    "differs_from",
    Shape::Name,
    "none",
    "differs_from: source_currency_code",
    "The value is not that of the other field.",
);
const AFTER: Key = key(
    "after",
    Shape::Name,
    "none",
    "after: effective_at",
    "The value is later, or more, than that of the other field when both are given.",
);
const NOT_BEFORE: Key = key(
    "not_before",
    Shape::Name,
    "none",
    "not_before: starts_at",
    "The value is not earlier, or not less, than that of the other field when both are given.",
);

const DESCRIPTION: Key = key(
    "description",
    Shape::Text,
    "what its name, its type and its rules say",
    "description: Where the rate comes from.",
    "What it is, in a sentence or two for those who read the API's description.",
);
const EXAMPLE: Key = key(
    "example",
    Shape::Literal,
    "a value that fits its type and its rules",
    "example: GBP",
    "A value for the examples of the API's description.",
);

const LABEL: Key = key(
    "label",
    Shape::Text,
    "the name with spaces and a capital, without `_id` and `is_`",
    "label: Stock keeping unit",
    "What people call it: in the panel, and as `title` in the API's description.",
);
const HELP: Key = key(
    "help",
    Shape::Text,
    "the `description`",
    "help: As it is printed on the box.",
    "What stands below its input in the panel, for those who fill it in.",
);
const GROUP: Key = key(
    "group",
    Shape::Text,
    "none: it stands before all groups",
    "group: Money",
    "Under which heading it stands in the panel, in its forms and on the page of a record. Groups stand in the order in which they are first named.",
);
const WIDGET: Key = key(
    "widget",
    Shape::Word(Widget::WORDS),
    "the input that fits its type",
    "widget: radio",
    "How people type it in the panel: `textarea`, a `string` in several lines; `radio`, all choices of an `enum` or `code` at once; `monospace`, a `string` or `text` in letters of one width, also where it is shown; `money`, a `decimal` with the symbol, the separators and the places of the currency that the settings name, also where it is shown.",
);

pub const DEPRECATION: Key = key(
    "deprecated",
    Shape::Deprecated,
    "it is to stay",
    "deprecated: { since: 2026-03-21, sunset: 2027-03-21, use: mass }",
    "It is to go: clients are told since when it is deprecated, on which day it goes, and what to use instead.",
);

/// `deprecated:`
pub static DEPRECATED: Table = Table {
    what: "a deprecation",
    keys: &[
        key("since", Shape::Day, "none: it must be given", "since: 2026-03-21", "The day from which it is deprecated."),
        key("sunset", Shape::Day, "no day is set", "sunset: 2027-03-21", "The day from which it may be gone."),
        key(
            "use",
            Shape::Name,
            "nothing takes its place",
            "use: mass",
            "What takes its place: another field, filter or action of the resource, as the one that is deprecated.",
        ),
    ],
};

/// A field of a record.
pub static FIELD: Table = Table {
    what: "a field",
    keys: &[
        TYPE,
        VALUES,
        NULLABLE,
        REQUIRED,
        DEFAULT,
        key(
            "access",
            Shape::Word(AccessWord::WORDS),
            "clients write it",
            "access: read_only",
            "`read_only` ignores what a client sends; `immutable` is given on create and never changes; `secret` is written and never shown, logged or filtered.",
        ),
        MIN,
        MAX,
        ABOVE,
        BELOW,
        MIN_LENGTH,
        MAX_LENGTH,
        PATTERN,
        FORMAT,
        key("unique", Shape::Flag, "`false`", "unique: true", "No other record has this value."),
        key(
            "renamed_from",
            Shape::Name,
            "none: it is a new field",
            "renamed_from: weight",
            "Its name before, by which a migration keeps its values. Without effect once the migration is written.",
        ),
        key(
            "backfill",
            Shape::Literal,
            "none",
            "backfill: 0",
            "What the rows that are there get when the column is new or may no longer be null; `now` is the time of the migration.",
        ),
        EXISTS,
        DIFFERS_FROM,
        AFTER,
        NOT_BEFORE,
        key(
            "from",
            Shape::Path,
            "none",
            "from: product_group_id.name",
            "A derived field: a field of the record that a `ref` field refers to, or the `label` of a `code` field. It is read-only, and filtered and sorted like any other. Of the other keys only `deprecated`, `label`, `group`, `description` and `example` stand beside it.",
        ),
        key(
            "many",
            Shape::Name,
            "none",
            "many: activity_participant",
            "Embedded records, read and written with this one. The other resource has `operations: []`. Only `by`, `deprecated`, `label` and `description` stand beside it.",
        ),
        key(
            "by",
            Shape::Name,
            "the only field there that refers here",
            "by: activity_id",
            "With `many`: the `ref` field of the other resource that refers to this one.",
        ),
        DEPRECATION,
        LABEL,
        HELP,
        GROUP,
        WIDGET,
        DESCRIPTION,
        EXAMPLE,
    ],
};

/// A parameter of an action.
pub static INPUT: Table = Table {
    what: "a parameter",
    keys: &[
        TYPE,
        VALUES,
        NULLABLE,
        REQUIRED,
        DEFAULT_OF_INPUT,
        MIN,
        MAX,
        ABOVE,
        BELOW,
        MIN_LENGTH,
        MAX_LENGTH,
        PATTERN,
        FORMAT,
        EXISTS,
        DIFFERS_FROM,
        AFTER,
        NOT_BEFORE,
        LABEL,
        HELP,
        DESCRIPTION,
        EXAMPLE,
    ],
};

/// A field of an action's answer.
pub static OUTPUT: Table =
    Table { what: "a field of an answer", keys: &[TYPE, VALUES, NULLABLE, LABEL, DESCRIPTION, EXAMPLE] };
