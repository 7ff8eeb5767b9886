//! Explanations of `C03`: defaults and rules.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::DefaultMisfit,
        title: "a default, backfill or example of another type",
        explanation: "A literal must be a value that a client could send: a number in range, one of the values, \
            `true` or `false`. `now` applies to timestamps and dates, `caller` to `ref(user)`; put text that is one \
            of these words in quotes. A `backfill` is a literal or `now`; that of a `ref` is an id. An `example` may \
            also be a date, a time or an id. The example of a list has commas between its elements; that of json is \
            JSON.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_type: { type: enum, values: [rental, sale], default: hire }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_type: { type: enum, values: [rental, sale], default: rental }\n",
    },
    Entry {
        code: Code::DefaultHook,
        title: "a default of a hook that is not declared",
        explanation: "`default: hook` declares that the `before_save` hook sets the field. Declare the hook too, so \
            that the application compiles only with an implementation.",
        wrong: "# resources/exchange_rate.yaml\nresource: exchange_rate\nfields:\n  inverse_rate: { type: decimal(18, 8), default: hook }\n",
        right: "# resources/exchange_rate.yaml\nresource: exchange_rate\nfields:\n  inverse_rate: { type: decimal(18, 8), default: hook }\nhooks: [before_save]\n",
    },
    Entry {
        code: Code::RuleMisfit,
        title: "a rule that does not apply to the type",
        explanation: "`min`, `max`, `above` and `below` apply to numbers; `min_length` to text and lists, \
            `max_length` to lists; `pattern` and `format` to text; `after` and `not_before` to numbers, dates and \
            timestamps; `unique` to types with an index; `exists` to short text and integers.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true, max: 100 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(100), required: true }\n",
    },
    Entry {
        code: Code::BoundMisfit,
        title: "a bound out of range",
        explanation: "A bound is a value of the field: an integer for an integer, and for a decimal a number with at \
            most its digits and decimal places.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 1, min: 0.005 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 1, min: 0.01 }\n",
    },
    Entry {
        code: Code::EmptyRange,
        title: "rules that no value satisfies",
        explanation: "No value satisfies all rules: the minimum exceeds the maximum, text must be longer than its \
            type allows, `pattern` or `format` allows no text of a valid length, `above` is the greatest number of \
            the type, or `after` and `not_before` form a cycle. Two fields may also exclude each other, by \
            a rule between them or by their bounds. Required references, by id or by `exists`, may form a cycle in which \
            the first record could never be created.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  buffer: { type: integer, required: true, min: 10, max: 5 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  buffer: { type: integer, required: true, min: 5, max: 10 }\n",
    },
    Entry {
        code: Code::BadPattern,
        title: "an invalid regular expression",
        explanation: "The syntax is that of the Rust crate `regex`, without look-around and back-references. The \
            whole text must match, without `^` and `$`. A pattern whose compiled form is too large, or that is not \
            valid between `^(?:` and `)$`, is invalid too. Put patterns in quotes in YAML.",
        wrong: "# resources/currency.yaml\nresource: currency\nfields:\n  code: { type: string(3), required: true, pattern: \"[A-Z{3}\" }\n",
        right: "# resources/currency.yaml\nresource: currency\nfields:\n  code: { type: string(3), required: true, pattern: \"[A-Z]{3}\" }\n",
    },
    Entry {
        code: Code::DefaultBreaksRule,
        title: "a value that breaks a rule of its field",
        explanation: "A record with this default could not be saved again, and a client or seed row with the example \
            would be rejected. A list that is omitted is empty, so a list with `min_length` must be `required`. A \
            unique field has no default and no backfill, because the second record would have the same value.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 0, above: 0 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 1, above: 0 }\n",
    },
    Entry {
        code: Code::BadCondition,
        title: "an invalid condition",
        explanation: "A condition names fields of the record and compares them: `status = solved and agent_id is null`. \
            Both sides of a comparison have one type, and a word of an enum needs no quotes. `required_when` is for fields that \
            may be null. `docs/expressions.md` has all forms.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status:    { type: enum, values: [open, solved], default: open }\n  solved_on: { type: date, nullable: true, required_when: status = solvd }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status:    { type: enum, values: [open, solved], default: open }\n  solved_on: { type: date, nullable: true, required_when: status = solved }\n",
    },
    Entry {
        code: Code::BadCheck,
        title: "an invalid check",
        explanation: "A check is a condition over the fields of a record, so it names at least one of them. Its `field` is a field \
            of the record with a column, and gets the message of a request that breaks the check.",
        wrong: "# resources/booking.yaml\nresource: booking\nfields:\n  starts_at: { type: timestamp, required: true }\n  ends_at:   { type: timestamp, required: true }\nchecks:\n  - { that: ends_at > starts_at, field: end_at }\n",
        right: "# resources/booking.yaml\nresource: booking\nfields:\n  starts_at: { type: timestamp, required: true }\n  ends_at:   { type: timestamp, required: true }\nchecks:\n  - { that: ends_at > starts_at, field: ends_at }\n",
    },
    Entry {
        code: Code::BadFrozen,
        title: "a frozen state that depends on no field",
        explanation: "`frozen` is a condition over the fields of a record: records that meet it change no more. A condition \
            without a field freezes all records or none.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, closed], default: open }\nfrozen: 1 = 1\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, closed], default: open }\nfrozen: status = closed\n",
    },
    Entry {
        code: Code::BadUnique,
        title: "an invalid unique set",
        explanation: "`where` limits a unique set to the records with a condition, which becomes the condition of an index. It \
            names a field of the record, and has no `round`, no `days`, and no date or time that is moved. `ignore_case` is for \
            sets with a text.",
        wrong: "# resources/loan.yaml\nresource: loan\nfields:\n  asset:       { type: integer, required: true }\n  returned_at: { type: timestamp, nullable: true }\nunique:\n  - { fields: [asset], where: returned_at is null, ignore_case: true }\n",
        right: "# resources/loan.yaml\nresource: loan\nfields:\n  asset:       { type: integer, required: true }\n  returned_at: { type: timestamp, nullable: true }\nunique:\n  - { fields: [asset], where: returned_at is null }\n",
    },
    Entry {
        code: Code::BadSequence,
        title: "an invalid sequence",
        explanation: "A `sequence` is the text of a number with one `{0000}`, whose zeros are its least digits. `{year}`, or \
            `{year}` and `{month}`, let the numbers start at 1 in each period. No other digit stands next to the number. The field \
            is a `string`, has neither `required` nor `default`, and is unique without saying so. Put formats in quotes in YAML.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  number: { type: string(40), sequence: \"TCK-{year}\" }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  number: { type: string(40), sequence: \"TCK-{year}-{0000}\" }\n",
    },
    Entry {
        code: Code::BadTitle,
        title: "an invalid title",
        explanation: "A `title` has one to five fields in braces, which list items show: text, numbers and dates. It begins with a \
            `string` or `text`, by which records are searched. Put titles in quotes in YAML.",
        wrong: "# resources/product.yaml\nresource: product\ntitle: \"{name} (sku}\"\nfields:\n  name: { type: string(80), required: true }\n  sku:  { type: string(20), nullable: true }\n",
        right: "# resources/product.yaml\nresource: product\ntitle: \"{name} ({sku})\"\nfields:\n  name: { type: string(80), required: true }\n  sku:  { type: string(20), nullable: true }\n",
    },
    Entry {
        code: Code::ComputedMisfit,
        title: "a computed value that does not fit its field",
        explanation: "Each value of the expression must be one that the field can hold. A number has at most the decimal \
            places and the digits of the field: `round` it, or give the fields in it a `max`. A word is one of the enum. \
            An expression over a field that may be null is null with it, unless `coalesce` or `is null` is around it; \
            a moved date can be null too. `integer`, `bigint`, `decimal`, `boolean`, `date`, `timestamp`, `enum` and \
            `text` can be computed.",
        wrong: "# resources/line.yaml\nresource: line\nfields:\n  quantity:   { type: integer, required: true, min: 0, max: 1000 }\n  unit_price: { type: decimal(10, 4), required: true }\n  total:      { type: decimal(14, 2), value: quantity * unit_price }\n",
        right: "# resources/line.yaml\nresource: line\nfields:\n  quantity:   { type: integer, required: true, min: 0, max: 1000 }\n  unit_price: { type: decimal(10, 4), required: true }\n  total:      { type: decimal(14, 2), value: \"round(quantity * unit_price, 2)\" }\n",
    },
    Entry {
        code: Code::RollupSource,
        title: "a rollup over records or a field that cannot be read",
        explanation: "`count` names a resource, and `sum`, `min` and `max` a field of one. It is a declared resource whose \
            records refer to this one, and the field is a column that clients can read, but no rollup.",
        wrong: "# resources/book.yaml\nresource: book\nfields:\n  name: { type: string(80), required: true }\n  fees: { sum: loan.feee }\n# resources/loan.yaml\nresource: loan\nfields:\n  book_id: { type: ref(book), required: true }\n  fee:     { type: decimal(8, 2), default: 0 }\n",
        right: "# resources/book.yaml\nresource: book\nfields:\n  name: { type: string(80), required: true }\n  fees: { sum: loan.fee }\n# resources/loan.yaml\nresource: loan\nfields:\n  book_id: { type: ref(book), required: true }\n  fee:     { type: decimal(8, 2), default: 0 }\n",
    },
    Entry {
        code: Code::RollupMisfit,
        title: "a rollup whose function does not apply to its field",
        explanation: "`sum` applies to `integer`, `bigint` and `decimal`; `min` and `max` to these and to `date`, `time` and \
            `timestamp`. The type of a rollup follows from its field. A sum of decimals has 18 digits and the places of the \
            field; `type` can give it fewer digits.",
        wrong: "# resources/book.yaml\nresource: book\nfields:\n  name: { type: string(80), required: true }\n  days: { sum: loan.lent_on }\n# resources/loan.yaml\nresource: loan\nfields:\n  book_id: { type: ref(book), required: true }\n  lent_on: { type: date, required: true }\n",
        right: "# resources/book.yaml\nresource: book\nfields:\n  name: { type: string(80), required: true }\n  last_on: { max: loan.lent_on }\n# resources/loan.yaml\nresource: loan\nfields:\n  book_id: { type: ref(book), required: true }\n  lent_on: { type: date, required: true }\n",
    },
    Entry {
        code: Code::RollupUse,
        title: "a rollup where it cannot be used, or that tells too much",
        explanation: "The database changes a rollup when other records are written. A rule that is checked when the record itself \
            is written therefore cannot name it: `checks`, `unique`, `required_when` and the `value` of a computed field. A \
            rollup over a field or a resource that needs a right to read has the same right as `read`. The reference by which it \
            finds the records is one of these fields.",
        wrong: "# resources/book.yaml\nresource: book\nfields:\n  name:  { type: string(80), required: true }\n  loans: { count: loan }\nchecks: [{ that: loans <= 5 }]\n# resources/loan.yaml\nresource: loan\nfields:\n  book_id: { type: ref(book), required: true }\n",
        right: "# resources/book.yaml\nresource: book\nfields:\n  name:  { type: string(80), required: true }\n  loans: { count: loan }\n# resources/loan.yaml\nresource: loan\nfields:\n  book_id: { type: ref(book), required: true }\n",
    },
    Entry {
        code: Code::SeedRule,
        title: "a seed row that breaks a condition",
        explanation: "A seed row is checked as the body of a request is: each of `checks` holds, or has no result because of a null, \
            and a field with `required_when` has a value if its condition holds. Conditions with a field that has its value only in \
            the server, such as `default: now`, are checked when the row is inserted.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nseed: ticket.seed.yaml\nfields:\n  code:      { type: string(9), required: true, unique: true }\n  status:    { type: enum, values: [open, solved], default: open }\n  solved_on: { type: date, nullable: true, required_when: status = solved }\n# resources/ticket.seed.yaml\n- { code: T-1, status: solved }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nseed: ticket.seed.yaml\nfields:\n  code:      { type: string(9), required: true, unique: true }\n  status:    { type: enum, values: [open, solved], default: open }\n  solved_on: { type: date, nullable: true, required_when: status = solved }\n# resources/ticket.seed.yaml\n- { code: T-1, status: solved, solved_on: \"2026-03-21\" }\n",
    },
    Entry {
        code: Code::BadChoices,
        title: "an invalid choice of referenced records",
        explanation: "`where` of a field limits the records that a reference can get. It belongs to a `ref` to one resource, names \
            a field of the other record, and no secret one.",
        wrong: "# resources/order.yaml\nresource: order\nfields:\n  product_ids: { type: list(ref(product)), where: is_active }\n# resources/product.yaml\nresource: product\nfields:\n  is_active: { type: boolean, default: true }\n",
        right: "# resources/order.yaml\nresource: order\nfields:\n  product_id: { type: ref(product), required: true, where: is_active }\n# resources/product.yaml\nresource: product\nfields:\n  is_active: { type: boolean, default: true }\n",
    },
    Entry {
        code: Code::BadPublic,
        title: "an invalid open door",
        explanation: "`public` lets anybody create records with the fields in `create`. Each is a plain field that clients write, and \
            neither unique nor a reference, because a refusal would tell which records exist. Every other field has a value \
            without the request: a `default`, or null. The resource serves `create`, and has no parent. `limit` is a number for \
            each `minute`, `hour` or `day`.",
        wrong: "# resources/inquiry.yaml\nresource: inquiry\npublic: { create: [message] }\nfields:\n  subject: { type: string(80), required: true }\n  message: { type: text, required: true }\n",
        right: "# resources/inquiry.yaml\nresource: inquiry\npublic: { create: [subject, message] }\nfields:\n  subject: { type: string(80), required: true }\n  message: { type: text, required: true }\n",
    },
    Entry {
        code: Code::DefaultExpression,
        title: "a default expression that has no fitting value",
        explanation: "A default that is no literal of the type is an expression over the other fields, which the server \
            evaluates when a record is created without the field. Its values fit the type of the field, and are null only if \
            the field can be. It names fields that have their values by then: no computed field, no `sequence`, none with \
            `default: hook`, and none whose default depends on this one.",
        wrong: "# resources/loan.yaml\nresource: loan\nfields:\n  lent_on: { type: date, nullable: true }\n  due_on:  { type: date, default: lent_on + 28 days }\n",
        right: "# resources/loan.yaml\nresource: loan\nfields:\n  lent_on: { type: date, nullable: true }\n  due_on:  { type: date, default: \"coalesce(lent_on, today) + 28 days\" }\n",
    },
    Entry {
        code: Code::ActionRule,
        title: "a rule that does not fit its action",
        explanation: "`if` and `set` of an action are about its record, so that it is `on: record`. An action with `set` needs no \
            code: it is a `post` without `input` and `output`, and returns the record. `message` is that of `if`. `permission` \
            is for every action.",
        wrong: "# resources/loan.yaml\nresource: loan\nfields:\n  returned_at: { type: timestamp, nullable: true }\nactions:\n  give_back: { on: record, set: { returned_at: now }, input: { note: { type: text, nullable: true } } }\n",
        right: "# resources/loan.yaml\nresource: loan\nfields:\n  returned_at: { type: timestamp, nullable: true }\nactions:\n  give_back: { on: record, set: { returned_at: now } }\n",
    },
];
