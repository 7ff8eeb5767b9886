//! Explanations of `C05`: list queries and indexes.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::UnknownField,
        title: "a field that does not exist",
        explanation: "`filters`, `sorts`, `search`, `ordered`, `unindexed`, `unique`, `indexes` and `owner` name fields of this resource. A \
            polymorphic reference `regarding` stands there by its two fields, `regarding_type` and `regarding_id`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\nsorts: [skuu]\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\nsorts: [sku]\n",
    },
    Entry {
        code: Code::UnknownPredicate,
        title: "a predicate that does not exist",
        explanation: "The predicates are eq, not_eq, lt, lteq, gt, gteq, cont, not_cont, start, end, null, not_null, present, \
            blank, in, not_in, true and false.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\nfilters: { sku: [contains] }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\nfilters: { sku: [cont] }\n",
    },
    Entry {
        code: Code::PredicateMisfit,
        title: "a predicate that does not fit the type",
        explanation: "All types answer eq, not_eq, in, not_in, null, not_null, present and blank. What has an order answers \
            lt, lteq, gt and gteq, text also cont, not_cont, start and end, and only a boolean answers true and false. A \
            derived field answers what the field that it shows would.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 0 }\nfilters: { weight: [cont] }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 0 }\nfilters: { weight: [gt] }\n",
    },
    Entry {
        code: Code::NotQueryable,
        title: "a field that cannot be filtered or sorted by",
        explanation: "What a list item does not show cannot be found out by asking either: secret fields, and those under \
            `detail`. Lists and objects have no predicates and no order.",
        wrong: "# resources/product.yaml\nresource: product\ndetail:\n  system: { type: boolean, default: false }\nfilters: { system: [eq] }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  system: { type: boolean, default: false }\nfilters: { system: [eq] }\n",
    },
    Entry {
        code: Code::SearchMisfit,
        title: "a search that is not of text",
        explanation: "`search` makes an index of substrings, which only columns of text have.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  weight: { type: decimal(12, 2), default: 0 }\nsearch: [weight]\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\nsearch: [name]\n",
    },
    Entry {
        code: Code::NotIndexable,
        title: "a set of fields that cannot be indexed",
        explanation: "`unique` and `indexes` hold sets of columns that have an order, and `ordered` single ones. A set names each \
            field once and stands once, and its text has at most 650 characters together, that of an ordered field 255, or \
            PostgreSQL could not index every value; it has at most 32 fields, and no two make the same name of an index. A single unique field says so itself: `unique: true`. \
            `deleted_at` is in no set: every index holds the records alone that are not deleted. `unindexed` names \
            what `filters` or `sorts` names too, or the field of `under` or of a `many`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  tag_list: { type: list(string(50)) }\nindexes: [[tag_list]]\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  tag: { type: string(50), nullable: true }\nindexes: [[tag]]\n",
    },
    Entry {
        code: Code::OwnerMisfit,
        title: "an owner that is not a user",
        explanation: "`owner` names the field that holds the id of the user to whom a record belongs.",
        wrong: "# resources/note.yaml\nresource: note\nowner: user_name\nfields:\n  user_name: { type: string(255), required: true }\n",
        right: "# resources/note.yaml\nresource: note\nowner: user_id\nfields:\n  user_id: { type: ref(user), default: caller }\n",
    },
    Entry {
        code: Code::Unserved,
        title: "a filter or a sort that no index serves",
        explanation: "A warning: it works, and reads every record of a long list. What `filters` and `sorts` name gets the index \
            that serves it, where there can be one: there is none of long texts, none of the order of a derived field, and none \
            of the order of few values unless `ordered` names it. A filter by a derived field needs an index on both sides. \
            `unindexed` says that it is meant. `cargo charter check --deny-warnings` fails where there is a warning.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n  note: { type: text, nullable: true }\nsorts: [name, note]\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n  note: { type: text, nullable: true }\nsorts: [name, note]\nunindexed: [note]\n",
    },
    Entry {
        code: Code::Unasked,
        title: "a question that nothing takes",
        explanation: "A warning: `filters`, `sorts`, `search` and `ordered` are about a list, and an include is asked of a list \
            or of a single record, which `operations` leaves out here. `search` and `ordered` are of use without a list where \
            another resource shows the field. An index for questions of the application's own stands under `indexes`.",
        wrong: "# resources/product.yaml\nresource: product\noperations: [show, create]\nfields:\n  name: { type: string(255), required: true }\nsorts: [name]\n",
        right: "# resources/product.yaml\nresource: product\noperations: [list, show, create]\nfields:\n  name: { type: string(255), required: true }\nsorts: [name]\n",
    },
];
