//! Keys of fields, parameters and outputs.

use charter_model::{AccessWord, DisplayOption, Format, OptionFacts, OptionTakes, RuleFacts, RuleTakes, Widget};

use super::{Key, Shape, Table, key};

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
const MIN: Key = rule(RuleFacts::MIN);
const MAX: Key = rule(RuleFacts::MAX);
const ABOVE: Key = rule(RuleFacts::ABOVE);
const BELOW: Key = rule(RuleFacts::BELOW);
const MIN_LENGTH: Key = rule(RuleFacts::MIN_LENGTH);
const MAX_LENGTH: Key = rule(RuleFacts::MAX_LENGTH);
const PATTERN: Key = rule(RuleFacts::PATTERN);
const FORMAT: Key = rule(RuleFacts::FORMAT);
const UNIQUE: Key = rule(RuleFacts::UNIQUE);
const EXISTS: Key = rule(RuleFacts::EXISTS);
const DIFFERS_FROM: Key = rule(RuleFacts::DIFFERS_FROM);
const AFTER: Key = rule(RuleFacts::AFTER);
const NOT_BEFORE: Key = rule(RuleFacts::NOT_BEFORE);

const LABEL: Key = option("label", DisplayOption::Label);
const HELP: Key = option("help", DisplayOption::Help);
const GROUP: Key = option("group", DisplayOption::Group);
const WIDGET: Key = option("widget", DisplayOption::Widget);
const DESCRIPTION: Key = option("description", DisplayOption::Description);
const EXAMPLE: Key = option("example", DisplayOption::Example);

/// The key of a rule.
const fn rule(facts: RuleFacts) -> Key {
    let (shape, default) = match facts.takes {
        RuleTakes::Number => (Shape::Number, "none"),
        RuleTakes::Count => (Shape::Count, "none"),
        RuleTakes::Text => (Shape::Text, "none"),
        RuleTakes::Format => (Shape::Word(Format::WORDS), "none"),
        RuleTakes::Flag => (Shape::Flag, "`false`"),
        RuleTakes::Path => (Shape::Path, "none"),
        RuleTakes::Field => (Shape::Name, "none"),
    };
    key(facts.key, shape, default, facts.example, facts.meaning)
}

/// The key of a display option.
const fn option(name: &'static str, option: DisplayOption) -> Key {
    let OptionFacts { takes, default, example, meaning, .. } = option.facts();
    let shape = match takes {
        OptionTakes::Text => Shape::Text,
        OptionTakes::Literal => Shape::Literal,
        OptionTakes::Widget => Shape::Word(Widget::WORDS),
    };
    key(name, shape, default, example, meaning)
}

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
        UNIQUE,
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

/// A field of an action's output.
pub static OUTPUT: Table =
    Table { what: "a field of an answer", keys: &[TYPE, VALUES, NULLABLE, LABEL, DESCRIPTION, EXAMPLE] };
