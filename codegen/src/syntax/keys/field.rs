//! Keys of fields, parameters and outputs.

use charter_model::{
    AccessWord, FieldOption, Format, Numbering, OnDelete, OptionFacts, OptionTakes, RuleFacts, RuleTakes, Widget,
};

use super::{Key, Shape, Table, key};

const TYPE: Key = key(
    "type",
    Shape::Type,
    "required, unless a field of a record has `from`, `many` or is a rollup",
    "type: decimal(12, 4)",
    "The type of its values.",
);
const VALUES: Key = key(
    "values",
    Shape::Values,
    "required for `enum` and `code`",
    "values: { 1: Bulk, 2: Serialised }",
    "The words of an `enum`, or the numbers of a `code` with their labels.",
);
const NULLABLE: Key = key(
    "nullable",
    Shape::Flag,
    "`false`",
    "nullable: true",
    "The value may be null, and is null if the client does not send it. An empty string sets it to null.",
);
const REQUIRED: Key = key(
    "required",
    Shape::Flag,
    "`false`",
    "required: true",
    "The client must send it: for a record on create, for the input of an action always.",
);
const DEFAULT: Key = key(
    "default",
    Shape::Default,
    "none",
    "default: lent_on + 28 days",
    "The value if the client sends none: a literal; `now`, the time or the date of the request; `caller`, the calling user; `hook`, the value that the `before_save` hook sets; or an [expression](expressions.md#defaults) over the other fields, which a `string` or `text` has as `default: { value: customer.address }`. Put text that is one of these words in quotes.",
);
const DEFAULT_OF_INPUT: Key = key(
    "default",
    Shape::Literal,
    "none",
    "default: now",
    "The value if the client sends none: a literal; `now`, the time or the date of the request; `caller`, the calling user. Put text that is one of these words, or `hook`, in quotes.",
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
const MATCHES_FIELD: Key = rule(RuleFacts::MATCHES_FIELD);
const AFTER: Key = rule(RuleFacts::AFTER);
const NOT_BEFORE: Key = rule(RuleFacts::NOT_BEFORE);
const REQUIRED_WHEN: Key = rule(RuleFacts::REQUIRED_WHEN);

const LABEL: Key = option("label", FieldOption::Label);
const HELP: Key = option("help", FieldOption::Help);
const PLACEHOLDER: Key = option("placeholder", FieldOption::Placeholder);
const GROUP: Key = option("group", FieldOption::Group);
const WIDGET: Key = option("widget", FieldOption::Widget);
const DESCRIPTION: Key = option("description", FieldOption::Description);
const EXAMPLE: Key = option("example", FieldOption::Example);
const READ: Key = option("read", FieldOption::Read);
const WRITE: Key = option("write", FieldOption::Write);
const SEQUENCE: Key = option("sequence", FieldOption::Sequence);
const NUMBERING: Key = option("numbering", FieldOption::Numbering);
const ON_DELETE: Key = option("on_delete", FieldOption::OnDelete);
const VALUE: Key = option("value", FieldOption::Value);
const WHERE: Key = option("where", FieldOption::Where);

/// The key of a rule.
const fn rule(facts: RuleFacts) -> Key {
    let (shape, default) = match facts.takes {
        RuleTakes::Number => (Shape::Number, "none"),
        RuleTakes::Count => (Shape::Count, "none"),
        RuleTakes::Text | RuleTakes::Condition => (Shape::Text, "none"),
        RuleTakes::Format => (Shape::Word(Format::WORDS), "none"),
        RuleTakes::Flag => (Shape::Flag, "`false`"),
        RuleTakes::Path => (Shape::Path, "none"),
        RuleTakes::Field => (Shape::Name, "none"),
    };
    key(facts.key, shape, default, facts.example, facts.meaning)
}

/// The key of a display option.
const fn option(name: &'static str, option: FieldOption) -> Key {
    let OptionFacts { takes, default, example, meaning, .. } = option.facts();
    let shape = match takes {
        OptionTakes::Text | OptionTakes::Expression => Shape::Text,
        OptionTakes::Literal => Shape::Literal,
        OptionTakes::Right => Shape::Right,
        OptionTakes::Widget => Shape::Word(Widget::WORDS),
        OptionTakes::OnDelete => Shape::Word(OnDelete::WORDS),
        OptionTakes::Sequence => Shape::Text,
        OptionTakes::Numbering => Shape::Word(Numbering::WORDS),
    };
    key(name, shape, default, example, meaning)
}

pub const DEPRECATION: Key = key(
    "deprecated",
    Shape::Deprecated,
    "not deprecated",
    "deprecated: { since: 2026-03-21, sunset: 2027-03-21, use: mass }",
    "Deprecation: its start, the day of removal, and the replacement, which clients see in the OpenAPI document.",
);

/// A default or a value of `set` that is an expression, for a type that takes any text as a literal.
pub static DEFAULT_EXPRESSION: Table = Table {
    what: "a default",
    keys: &[key(
        "value",
        Shape::Condition,
        "required",
        "value: customer.address",
        "An [expression](expressions.md#defaults) that gives the value of the field: a `default`, or a value of `set`.",
    )],
};

/// `deprecated:`
pub static DEPRECATED: Table = Table {
    what: "a deprecation",
    keys: &[
        key("since", Shape::Day, "required", "since: 2026-03-21", "The day on which the deprecation starts."),
        key("sunset", Shape::Day, "no sunset", "sunset: 2027-03-21", "The day from which it may be removed."),
        key(
            "use",
            Shape::Name,
            "no replacement",
            "use: mass",
            "The replacement: another field, filter or action of the resource, of the same kind.",
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
            "`read_only` ignores the value that a client sends; `immutable` is set on create and then never changes; `secret` is written and never shown, logged or filtered.",
        ),
        key(
            "min",
            Shape::NumberOrPath,
            "none",
            RuleFacts::MIN.example,
            "The smallest allowed number. `min: loan.lent_on` without `type` is a [rollup](expressions.md#rollups): the smallest value of the field, or the earliest.",
        ),
        key(
            "max",
            Shape::NumberOrPath,
            "none",
            RuleFacts::MAX.example,
            "The largest allowed number. `max: loan.lent_on` without `type` is a [rollup](expressions.md#rollups): the largest value of the field, or the latest.",
        ),
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
            "a new field",
            "renamed_from: weight",
            "The former name, with which a migration renames the column. It has no effect after the migration is generated.",
        ),
        key(
            "backfill",
            Shape::Literal,
            "none",
            "backfill: 0",
            "The value of existing rows if the column is new or becomes required; `now` is the time of the migration.",
        ),
        EXISTS,
        DIFFERS_FROM,
        MATCHES_FIELD,
        AFTER,
        NOT_BEFORE,
        REQUIRED_WHEN,
        key(
            "from",
            Shape::Path,
            "none",
            "from: product_group_id.name",
            "A derived field: a field of the record that a `ref` field refers to, or the `label` of a `code` field. It is read-only, and can be filtered and sorted by. It also takes `deprecated`, `label`, `group`, `description` and `example`.",
        ),
        key(
            "many",
            Shape::Name,
            "none",
            "many: activity_participant",
            "Embedded records, read and written with this one. The other resource has `operations: []`. It also takes `by` or `through`, `deprecated`, `label` and `description`.",
        ),
        key(
            "by",
            Shape::Name,
            "the only reference from there",
            "by: activity_id",
            "With `many`, `count`, `sum`, `min` and `max`: the `ref` field of the other resource that refers to this one.",
        ),
        key(
            "count",
            Shape::Name,
            "none",
            "count: loan",
            "A [rollup](expressions.md#rollups): the number of records of the other resource that refer to this one, and are not deleted. It also takes `where`, `by`, `read`, `deprecated`, `renamed_from`, `label`, `group`, `description` and `example`.",
        ),
        key(
            "sum",
            Shape::Path,
            "none",
            "sum: invoice_line.total",
            "A rollup: the sum of a field of these records. It takes the keys of `count`, and a `type` with the decimal places of the field.",
        ),
        key(
            "through",
            Shape::Name,
            "none",
            "through: ticket_tag",
            "With `many`: links to records that have routes of their own. `tags: { many: tag, through: ticket_tag }` of `ticket` makes the resource and the table of pairs, the field `tag_ids`, by which clients read and write the links, and the include `tags`.",
        ),
        VALUE,
        DEPRECATION,
        LABEL,
        HELP,
        PLACEHOLDER,
        GROUP,
        WIDGET,
        DESCRIPTION,
        EXAMPLE,
        READ,
        WRITE,
        ON_DELETE,
        WHERE,
        SEQUENCE,
        NUMBERING,
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
        MATCHES_FIELD,
        AFTER,
        NOT_BEFORE,
        WHERE,
        LABEL,
        HELP,
        PLACEHOLDER,
        DESCRIPTION,
        EXAMPLE,
    ],
};

/// A field of an action's output.
pub static OUTPUT: Table =
    Table { what: "a field of an answer", keys: &[TYPE, VALUES, NULLABLE, LABEL, DESCRIPTION, EXAMPLE] };
