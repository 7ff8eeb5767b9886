//! Keys of the top level of a file.

use charter_model::{Hook, Operation, TimestampForm};

use super::{FIELD, Shape, Table, key};
use crate::keywords::Deletion;

/// The top level of a file.
pub static RESOURCE: Table = Table {
    what: "a resource",
    keys: &[
        key(
            "resource",
            Shape::Name,
            "none: it must be given",
            "resource: exchange_rate",
            "The name of the resource: singular, snake_case, and the name of the file. It is the key of a single record and the prefix of its events.",
        ),
        key(
            "plural",
            Shape::Name,
            "the name with `s`, `es` or `ies`: `child` needs its own",
            "plural: tax_classes",
            "The key of a list, the entity type of saved views and custom fields, and what `table`, `path` and `ability` are when they are not said.",
        ),
        key("label", Shape::Text, "the name with spaces and a capital", "label: Exchange rate", "What people read."),
        key(
            "description",
            Shape::Text,
            "none",
            "description: What is rented out, sold or done.",
            "What a record is, in a sentence or two for those who read the API's description.",
        ),
        key("table", Shape::Name, "the plural", "table: rates", "The table that holds it."),
        key("path", Shape::Name, "the plural", "path: rates", "The last segment of its address: `/api/v1/rates`."),
        key(
            "under",
            Shape::Name,
            "none: it stands by itself",
            "under: product",
            "The parent resource. The address becomes `/products/{product_id}/accessories`, a required, immutable field `product_id` comes first, and the abilities are the parent's. One step is the most: the parent stands under nothing itself.",
        ),
        key(
            "delete",
            Shape::Word(Deletion::WORDS),
            "the row is removed",
            "delete: soft",
            "`soft` marks a deleted record instead of removing it; it then vanishes from every list, show, include and reference, and with it the records of others that refer to it by a `ref` that cannot be null. Who may delete can ask for deleted records with `deleted=only`, and bring one back with `POST /api/v1/<path>/{id}/restore`.",
        ),
        key(
            "custom_fields",
            Shape::Flag,
            "`false`",
            "custom_fields: true",
            "Records carry a `custom_fields` object, checked against the definitions of this entity type.",
        ),
        key(
            "attachments",
            Shape::Flag,
            "`false`",
            "attachments: true",
            "Files can be attached to a record. They are listed at `/api/v1/<path>/{id}/attachments`, and reading and writing them needs the abilities of this resource.",
        ),
        key(
            "events",
            Shape::Flag,
            "`false`",
            "events: true",
            "Writing emits `<name>.created`, `.updated` and `.deleted`; with `delete: soft` also `.restored`.",
        ),
        key(
            "timestamps",
            Shape::Word(TimestampForm::WORDS),
            "`seconds`",
            "timestamps: millis",
            "How timestamps go out: `2026-03-21T10:00:00Z`, `2026-03-21T10:00:00.000Z` or `2026-03-21T10:00:00+00:00`.",
        ),
        key(
            "singleton",
            Shape::Flag,
            "`false`",
            "singleton: true",
            "There is one record, without an id, read and updated at `/api/v1/<path>`.",
        ),
        key(
            "operations",
            Shape::Words(Operation::WORDS),
            "all five",
            "operations: [list, show]",
            "Which plain operations are served. `[]` is a table without routes, as embedded records need it; files of its records are served all the same, with `attachments: true`.",
        ),
        key(
            "ability",
            Shape::Name,
            "the plural; under a parent the parent's",
            "ability: members",
            "The prefix of its abilities: `members` gives `members:read` and `members:write`.",
        ),
        key(
            "permission",
            Shape::Permission,
            "none; under a parent the parent's",
            "permission: { write: users.manage }",
            "What the caller's role must allow beside the ability: one name for reading and writing, or one for each.",
        ),
        key(
            "owner",
            Shape::Name,
            "none",
            "owner: user_id",
            "The field that holds the owning user. Others than that user and administrators do not see the record, nor what stands under it. Who is no administrator and writes one in another's name is answered 422.",
        ),
        key(
            "renamed_from",
            Shape::Name,
            "none: it is a new resource",
            "renamed_from: article",
            "Its name before, by which a migration keeps its table. Without effect once the migration is written.",
        ),
        key(
            "fields",
            Shape::Fields(&FIELD),
            "none",
            "fields: { name: { type: string(255), required: true } }",
            "What a record holds, in the order of a list item. A field is a mapping, or just its type where that suffices: `tag_list: list(string(50))`.",
        ),
        key(
            "detail",
            Shape::Fields(&FIELD),
            "none",
            "detail: { tag_list: list(string(50)) }",
            "Fields that only the single record shows, behind the others.",
        ),
        key(
            "unique",
            Shape::Sets,
            "none",
            "unique: [[product_id, accessory_product_id]]",
            "Sets of fields whose values together must not repeat; those of which one is null may. For one field, say `unique: true` there.",
        ),
        key(
            "indexes",
            Shape::Sets,
            "none",
            "indexes: [[sku], [source, effective_at]]",
            "Fields, or sets of fields in order, by which the database finds records quickly.",
        ),
        key(
            "search",
            Shape::Names,
            "none",
            "search: [name, sku]",
            "Text fields that get a substring index: `cont`, `start` and `end` stay fast on a million rows.",
        ),
        key(
            "ordered",
            Shape::Names,
            "none",
            "ordered: [name]",
            "Fields whose order the database keeps, of text without regard to case: long lists are sorted by them without sorting. (SQLite sorts by text all the same.)",
        ),
        key(
            "filters",
            Shape::Filters,
            "`shown`",
            "filters: { name: all, sku: [eq, cont] }",
            "What `q` accepts: `shown` is every field of a list item with the predicates that fit its type; `none` is nothing; a mapping names the fields, each with `all` or a list of predicates, and `custom_fields: all` for custom fields, which are then sorted by too. What is named gets the index that serves it.",
        ),
        key(
            "deprecated_filters",
            Shape::DeprecatedFilters,
            "none",
            "deprecated_filters: { name_start: { since: 2026-03-21, sunset: 2027-03-21, use: name_cont } }",
            "What of `q` is to go, as `q` names it: since when it is deprecated, on which day it goes, and the filter to use instead.",
        ),
        key(
            "sorts",
            Shape::Sorts,
            "`shown`",
            "sorts: [name, created_at]",
            "What `sort` accepts: `shown` is every field of a list item that has an order; `none` is nothing; a list names the fields, and the database keeps their order.",
        ),
        key(
            "unindexed",
            Shape::Names,
            "none",
            "unindexed: [note]",
            "Fields that `filters` and `sorts` name, or by which `under` and the `many` of others find records, and that get no index for it, because lists are short or it is seldom asked: each index makes writes dearer.",
        ),
        key(
            "includes",
            Shape::Includes,
            "none",
            "includes: { productGroup: product_group_id }",
            "Related records that a client may ask for, by public name.",
        ),
        key(
            "actions",
            Shape::Actions,
            "none",
            "actions: { complete: { on: record } }",
            "Operations beside the five plain ones. Each becomes a function that `src/resources/<name>.rs` must implement.",
        ),
        key(
            "hooks",
            Shape::Words(Hook::WORDS),
            "none",
            "hooks: [before_save]",
            "Places where `src/resources/<name>.rs` has its say: each becomes a function that must be implemented.",
        ),
        key(
            "seed",
            Shape::Text,
            "none",
            "seed: currency.seed.yaml",
            "A file beside this one with rows that every installation has. They are recognised by the first unique text field that is neither nullable nor read-only.",
        ),
    ],
};

/// `permission:` as a mapping.
pub static PERMISSION: Table = Table {
    what: "a permission",
    keys: &[
        key("read", Shape::Right, "none", "read: settings.view", "What reading needs."),
        key("write", Shape::Right, "none", "write: users.manage", "What writing needs."),
    ],
};
