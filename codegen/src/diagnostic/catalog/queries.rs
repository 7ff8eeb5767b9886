//! Explanations of `C05`: list queries and indexes.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::UnknownField,
        title: "an unknown field",
        explanation: "`filters`, `sorts`, `search`, `ordered`, `unindexed`, `unique`, `indexes` and `owner` name \
            fields of this resource. A polymorphic reference `regarding` has two columns, `regarding_type` and \
            `regarding_id`; use their names.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\nsorts: [skuu]\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\nsorts: [sku]\n",
    },
    Entry {
        code: Code::UnknownPredicate,
        title: "an unknown predicate",
        explanation: "The predicates are eq, not_eq, lt, lteq, gt, gteq, cont, not_cont, start, end, null, not_null, \
            present, blank, in, not_in, true and false.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\nfilters: { sku: [contains] }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\nfilters: { sku: [cont] }\n",
    },
    Entry {
        code: Code::PredicateMisfit,
        title: "a predicate that does not apply to the type",
        explanation: "All types accept eq, not_eq, in, not_in, null, not_null, present and blank. Types with an order \
            also accept lt, lteq, gt and gteq; text also accepts cont, not_cont, start and end; only booleans accept \
            true and false. A derived field accepts the predicates of the field that it shows.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 0 }\nfilters: { weight: [cont] }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 0 }\nfilters: { weight: [gt] }\n",
    },
    Entry {
        code: Code::NotQueryable,
        title: "a field that cannot be filtered or sorted by",
        explanation: "A field that list items do not show cannot be filtered or sorted by, because the result would \
            reveal its value: secret fields, and those under `detail`. Lists and objects have no predicates and no \
            order.",
        wrong: "# resources/product.yaml\nresource: product\ndetail:\n  system: { type: boolean, default: false }\nfilters: { system: [eq] }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  system: { type: boolean, default: false }\nfilters: { system: [eq] }\n",
    },
    Entry {
        code: Code::SearchMisfit,
        title: "a search in a field that is not text",
        explanation: "`search` adds a substring index, which needs a column of type `string` or `text`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 0 }\nsearch: [weight]\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\nsearch: [name]\n",
    },
    Entry {
        code: Code::NotIndexable,
        title: "a set of fields that cannot be indexed",
        explanation: "`unique` and `indexes` contain sets of columns that have an order; `ordered` contains single \
            ones. A set has each field once, and no set is repeated. The text of a set has at most 650 characters in \
            all, and an ordered field at most 255, the limits of an index entry in PostgreSQL. A set has at most 32 \
            fields, and index names must be unique. Declare a single unique field with `unique: true`. `deleted_at` \
            is in no set: indexes do not contain deleted records. `unindexed` names a field of `filters` or `sorts`, \
            or the field of `under` or `many`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  tag_list: { type: list(string(50)) }\nindexes: [[tag_list]]\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  tag: { type: string(50), nullable: true }\nindexes: [[tag]]\n",
    },
    Entry {
        code: Code::OwnerMisfit,
        title: "an owner that is not a user",
        explanation: "`owner` names the field with the id of the user who owns the record.",
        wrong: "# resources/note.yaml\nresource: note\nowner: user_name\nfields:\n  user_name: { type: string(255), required: true }\n",
        right: "# resources/note.yaml\nresource: note\nowner: user_id\nfields:\n  user_id: { type: ref(user), default: caller }\n",
    },
    Entry {
        code: Code::Unserved,
        title: "a filter or sort without an index",
        explanation: "This is a warning: the query works, but it reads every record of a long list. Fields in \
            `filters` and `sorts` get an index where possible. There is no index of long text, of the order of a \
            derived field, or of the order of a field with few distinct values unless `ordered` names it. A filter by \
            a derived field needs an index on both sides. `unindexed` accepts the missing index. `cargo charter check \
            --deny-warnings` fails on warnings.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n  note: { type: text, nullable: true }\nsorts: [name, note]\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n  note: { type: text, nullable: true }\nsorts: [name, note]\nunindexed: [note]\n",
    },
    Entry {
        code: Code::Unasked,
        title: "an option that no operation uses",
        explanation: "This is a warning: `filters`, `sorts`, `search` and `ordered` apply to lists, and includes to \
            lists and single records, which `operations` leaves out. `search` and `ordered` have an effect without a \
            list if another resource shows the field. Declare an index for queries of the application under \
            `indexes`.",
        wrong: "# resources/product.yaml\nresource: product\noperations: [show, create]\nfields:\n  name: { type: string(255), required: true }\nsorts: [name]\n",
        right: "# resources/product.yaml\nresource: product\noperations: [list, show, create]\nfields:\n  name: { type: string(255), required: true }\nsorts: [name]\n",
    },
];
