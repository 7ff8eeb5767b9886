//! Explanations of `C03`: defaults and rules.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::DefaultMisfit,
        title: "a default, a backfill or an example that is not a value of its type",
        explanation: "A literal must be what a client could send: a number in range, one of the values, `true` or `false`. \
            `now` is for timestamps and dates, `caller` for `ref(user)`. A text that is one of these words stands in quotes. A \
            `backfill` is a literal too, or `now`; that of a `ref` is an id. An `example` may also be a day, a time or an id; that of a list has \
            commas between its elements, and that of json is JSON.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_type: { type: enum, values: [rental, sale], default: hire }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_type: { type: enum, values: [rental, sale], default: rental }\n",
    },
    Entry {
        code: Code::DefaultHook,
        title: "a default left to a hook that is not declared",
        explanation: "`default: hook` says that the `before_save` hook sets the field. The hook must then be declared, so \
            that the application does not compile without it.",
        wrong: "# resources/exchange_rate.yaml\nresource: exchange_rate\nfields:\n  inverse_rate: { type: decimal(18, 8), default: hook }\n",
        right: "# resources/exchange_rate.yaml\nresource: exchange_rate\nfields:\n  inverse_rate: { type: decimal(18, 8), default: hook }\nhooks: [before_save]\n",
    },
    Entry {
        code: Code::RuleMisfit,
        title: "a rule that does not fit the type",
        explanation: "`min`, `max`, `above` and `below` are for numbers; `min_length` for text and lists, `max_length` for \
            lists; `pattern` and `format` for text; `after` and `not_before` for numbers, dates and timestamps; `unique` for \
            what has an index; `exists` for short text and whole numbers.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true, max: 100 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(100), required: true }\n",
    },
    Entry {
        code: Code::BoundMisfit,
        title: "a bound that the field cannot hold",
        explanation: "A bound is a number like the values that it bounds: whole for an integer, and for a decimal with no \
            more digits and places than that has.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 1, min: 0.005 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 1, min: 0.01 }\n",
    },
    Entry {
        code: Code::EmptyRange,
        title: "rules that no value satisfies",
        explanation: "The least is more than the most, or a text must be longer than its type allows, or has \
            another length by its `pattern` or `format` than it may have. Or `above` \
            is the greatest that a type holds, or fields must each come behind the next, in a circle. Or one field leaves \
            nothing to the other that must differ from it or come behind it. Or references that must \
            be given, by an id or by `exists`, lead in a circle, so that the first record can never be made.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  buffer: { type: integer, required: true, min: 10, max: 5 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  buffer: { type: integer, required: true, min: 5, max: 10 }\n",
    },
    Entry {
        code: Code::BadPattern,
        title: "a pattern that is not a regular expression",
        explanation: "The syntax is that of the Rust crate `regex`: no look-around and no back-references. The whole text \
            must match, so that `^` and `$` are not needed. A pattern that is too large to be compiled, or that cannot stand \
            between `^(?:` and `)$`, is none either. In YAML a pattern is best put in quotes.",
        wrong: "# resources/currency.yaml\nresource: currency\nfields:\n  code: { type: string(3), required: true, pattern: \"[A-Z{3}\" }\n",
        right: "# resources/currency.yaml\nresource: currency\nfields:\n  code: { type: string(3), required: true, pattern: \"[A-Z]{3}\" }\n",
    },
    Entry {
        code: Code::DefaultBreaksRule,
        title: "a value that breaks the field's own rule",
        explanation: "A record made with the default could not be saved again as it is; an example would be refused, and so \
            would a row of a seed. A list that is left out is empty, so that one with `min_length` is \
            `required`. A unique field has no default and no backfill: the second record would have the same.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 0, above: 0 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 1, above: 0 }\n",
    },
];
