//! Explanations of `C02`: types and options of fields.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::UnknownType,
        title: "a type that does not exist",
        explanation: "A type is one of the words of the grammar, with arguments in parentheses where it takes any: \
            `string(255)`, `text`, `integer`, `bigint`, `boolean`, `decimal(12, 2)`, `timestamp`, `date`, `enum`, `code`, \
            `list(string(50))`, `list(ref(role))`, `json`, `uuid`, `ref(product)`, `ref(member | product)`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: strng(255), required: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n",
    },
    Entry {
        code: Code::TypeArguments,
        title: "arguments that a type does not take",
        explanation: "A string has a length from 1 to 65535. A decimal has at most 18 digits, which fit 64 bits and so stay \
            exact on every database, and not more places than digits. A list says of what, a `ref` to what.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(20, 4), default: 0 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 4), default: 0 }\n",
    },
    Entry {
        code: Code::Values,
        title: "the values of an enum or a code",
        explanation: "An `enum` has a list of words, a `code` a mapping from numbers to labels; neither is empty, nothing in \
            it stands twice (words are compared without regard to case), no word has more than 64 characters, and no other type has `values`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_type: { type: enum, values: [rental, sale, Rental], default: sale }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_type: { type: enum, values: [rental, sale], default: sale }\n",
    },
    Entry {
        code: Code::Contradiction,
        title: "keys that contradict each other",
        explanation: "What must be given never gets its default and is not empty; what is read-only cannot be given; a list \
            is empty and never null; what a field was called before is no longer there. Beside `from`, and beside `many` and `by`, stands only what people read. \
            The query of a `get` gives no json. A text for people says something, and a table has at most 1,500 columns \
            and rows that PostgreSQL can hold: 8,160 bytes for what is no text, list or object.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  is_active: { type: boolean, required: true, default: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  is_active: { type: boolean, default: true }\n",
    },
    Entry {
        code: Code::NoValue,
        title: "a field that nothing gives a value",
        explanation: "A record is created without this field: it may not be null, the client need not give it, and it has no \
            default. Say which of the three it is; `default: hook` says that the `before_save` hook sets it.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: string(64)\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::NeverGiven,
        title: "a field that nobody can give",
        explanation: "What is `required` and `immutable` is given on create and never again. Where no operation, action, seed \
            or embedding record creates, nobody gives it, unless the application itself writes such records: a warning.",
        wrong: "# resources/reading.yaml\nresource: reading\noperations: [list, show, update]\nfields:\n  taken_on: { type: date, required: true, access: immutable }\n",
        right: "# resources/reading.yaml\nresource: reading\noperations: [list, show, create, update]\nfields:\n  taken_on: { type: date, required: true, access: immutable }\n",
    },
];
