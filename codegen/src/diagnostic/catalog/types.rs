//! Explanations of `C02`: types and options of fields.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::UnknownType,
        title: "an unknown type",
        explanation: "A type is a word, with arguments in parentheses if it takes any: `string(255)`, `text`, \
            `integer`, `bigint`, `boolean`, `decimal(12, 2)`, `timestamp`, `date`, `enum`, `code`, \
            `list(string(50))`, `list(ref(role))`, `json`, `uuid`, `ref(product)`, `ref(member | product)`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: strng(255), required: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n",
    },
    Entry {
        code: Code::TypeArguments,
        title: "invalid arguments of a type",
        explanation: "A string has a length from 1 to 65535. A decimal has at most 18 digits, which are exact in 64 \
            bits on every database, and at most as many decimal places as digits. A `list` needs the type of its \
            elements, a `ref` its resource.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(20, 4), default: 0 }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 4), default: 0 }\n",
    },
    Entry {
        code: Code::Values,
        title: "invalid values of an enum or a code",
        explanation: "An `enum` has a list of words, and a `code` a mapping from numbers to labels. Neither is empty. \
            Each value is listed once (words are compared without regard to case), and a word has at most 64 \
            characters. No other type has `values`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_type: { type: enum, values: [rental, sale, Rental], default: sale }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_type: { type: enum, values: [rental, sale], default: sale }\n",
    },
    Entry {
        code: Code::Contradiction,
        title: "keys that contradict each other",
        explanation: "A required field has no default and is not nullable. A read-only field is not required. A list \
            can be empty, but not null. A former name no longer exists. A field with `from`, or with `many` and `by`, \
            takes only keys for display. The input of a `get` has no json. A text for people is not blank. A table \
            has at most 1,500 columns, and a row at most 8,160 bytes without text, lists and objects: the limits of \
            PostgreSQL.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  is_active: { type: boolean, required: true, default: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  is_active: { type: boolean, default: true }\n",
    },
    Entry {
        code: Code::NoValue,
        title: "a field without a value on create",
        explanation: "A record could be created without a value for this field: it is not nullable, not required, and \
            has no default. Add one of the three; `default: hook` declares that the `before_save` hook sets it.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: string(64)\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::NeverGiven,
        title: "a field that can never be set",
        explanation: "A field that is `required` and `immutable` is set on create only. If no operation, action, seed \
            or embedding record creates records, the field is never set, unless the application creates them: a \
            warning.",
        wrong: "# resources/reading.yaml\nresource: reading\noperations: [list, show, update]\nfields:\n  taken_on: { type: date, required: true, access: immutable }\n",
        right: "# resources/reading.yaml\nresource: reading\noperations: [list, show, create, update]\nfields:\n  taken_on: { type: date, required: true, access: immutable }\n",
    },
];
