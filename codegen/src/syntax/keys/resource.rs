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
            "required",
            "resource: exchange_rate",
            "The name of the resource: singular, in snake_case, and the name of the file. It is the key of a single record and the prefix of its events.",
        ),
        key(
            "plural",
            Shape::Name,
            "the name with `s`, `es` or `ies`; set it for others, such as `child`",
            "plural: tax_classes",
            "The key of a list, and the entity type of saved views and custom fields. It is the default of `table`, `path` and `ability`.",
        ),
        key(
            "label",
            Shape::Text,
            "the name with spaces and a capital",
            "label: Exchange rate",
            "The name in the panel and in messages.",
        ),
        key(
            "title",
            Shape::Text,
            "the first of `name`, `title`, `subject`, `label`, `code`, `email` and `url`, or else the first required `string`",
            "title: \"{name} ({sku})\"",
            "The text that stands for a record in links, references, pickers, the search and the history: fields of a list item in braces. The first one is a `string` or `text`; records are searched, sorted and imported by it. Brackets around a missing value are left out.",
        ),
        key(
            "description",
            Shape::Text,
            "none",
            "description: An article, a consumable or a service that is rented out or sold.",
            "A description of a record in one or two sentences, for readers of the OpenAPI document.",
        ),
        key(
            "menu",
            Shape::Text,
            "none",
            "menu: Stock",
            "The heading under which the navigation of the panel lists it. Resources with the same heading are listed together.",
        ),
        key(
            "columns",
            Shape::Names,
            "the name of the record, then up to six short fields",
            "columns: [number, subject, status]",
            "The columns of the list in the panel, in this order, until a user chooses others.",
        ),
        key("table", Shape::Name, "the plural", "table: rates", "The database table."),
        key("path", Shape::Name, "the plural", "path: rates", "The last segment of its path: `/api/v1/rates`."),
        key(
            "under",
            Shape::Name,
            "no parent",
            "under: product",
            "The parent resource. The path becomes `/products/{product_id}/accessories`, a required, immutable field `product_id` is added as the first, and the abilities are those of the parent. The parent must not have a parent itself.",
        ),
        key(
            "delete",
            Shape::Word(Deletion::WORDS),
            "deletes remove the row",
            "delete: soft",
            "Soft delete: `soft` marks deleted records instead of removing them. They no longer appear in lists, shows, includes and references. Other records that refer to them by a non-nullable `ref` do not appear either. Callers who may delete records list the deleted ones with `deleted=only` and restore them with `POST /api/v1/<path>/{id}/restore`.",
        ),
        key(
            "custom_fields",
            Shape::Flag,
            "`false`",
            "custom_fields: true",
            "Records have a `custom_fields` object, which is validated against the definitions for this entity type.",
        ),
        key(
            "attachments",
            Shape::Flag,
            "`false`",
            "attachments: true",
            "Records have attachments. They are listed at `/api/v1/<path>/{id}/attachments`; reads and writes need the abilities of this resource.",
        ),
        key(
            "events",
            Shape::Flag,
            "`false`",
            "events: true",
            "Writes emit `<name>.created`, `.updated` and `.deleted`; with `delete: soft` also `.restored`.",
        ),
        key(
            "emits",
            Shape::Names,
            "none",
            "emits: [overdue]",
            "Further events, which only code emits: `draft.emit(Event::Overdue)` emits `<name>.overdue`.",
        ),
        key(
            "timestamps",
            Shape::Word(TimestampForm::WORDS),
            "`seconds`",
            "timestamps: millis",
            "The format of timestamps in responses: `2026-03-21T10:00:00Z`, `2026-03-21T10:00:00.000Z` or `2026-03-21T10:00:00+00:00`.",
        ),
        key(
            "singleton",
            Shape::Flag,
            "`false`",
            "singleton: true",
            "There is one record, without an id, which is read and updated at `/api/v1/<path>`.",
        ),
        key(
            "operations",
            Shape::Words(Operation::WORDS),
            "all five",
            "operations: [list, show]",
            "The standard operations that are served. `[]` is a table without routes, as for embedded records; with `attachments: true`, attachments are still served.",
        ),
        key(
            "ability",
            Shape::Name,
            "the plural; for a child, that of the parent",
            "ability: members",
            "The prefix of its abilities: `members` gives `members:read` and `members:write`.",
        ),
        key(
            "permission",
            Shape::Permission,
            "none; for a child, that of the parent",
            "permission: { write: users.manage }",
            "The permission that the caller's role needs in addition to the ability: one for reads and writes, or one for each.",
        ),
        key(
            "owner",
            Shape::Name,
            "none",
            "owner: user_id",
            "The field with the owning user. Only that user and administrators see the record and its child records. A user who is not an administrator gets 422 for a record that another user would own.",
        ),
        key(
            "access",
            Shape::RowRules,
            "every caller with the ability",
            "access: { read: customer.user_id = caller.id or caller.can(tickets.all) }",
            "Which records a caller may read, and which of those they may change: conditions over the fields of the record, one step over a reference, and `caller`. They do not limit administrators.",
        ),
        key(
            "public",
            Shape::Public,
            "nobody without a token",
            "public: { create: [subject, message, email], limit: 20/hour }",
            "Anybody may create a record without a token, with these fields only, as often as the limit for each client address allows. The answer has the id alone. See [open doors](security.md#open-doors).",
        ),
        key(
            "renamed_from",
            Shape::Name,
            "a new resource",
            "renamed_from: article",
            "The former name, with which a migration renames the table. It has no effect after the migration is generated.",
        ),
        key(
            "fields",
            Shape::Fields(&FIELD),
            "none",
            "fields: { name: { type: string(255), required: true } }",
            "The fields of a record, in the order of a list item. A field is a mapping, or a type as the short form: `tag_list: list(string(50))`.",
        ),
        key(
            "detail",
            Shape::Fields(&FIELD),
            "none",
            "detail: { tag_list: list(string(50)) }",
            "Fields that only the single record shows, after the others.",
        ),
        key(
            "unique",
            Shape::UniqueSets,
            "none",
            "unique: [[product_id, accessory_product_id], { fields: [asset_id], where: returned_at is null }]",
            "Sets of fields that must be unique together; sets with a null may repeat. A mapping limits a set to records with a condition, or compares texts without regard to case. For one field without either, use `unique: true` of the field.",
        ),
        key(
            "checks",
            Shape::Checks,
            "none",
            "checks: [{ that: ends_at > starts_at, field: ends_at, message: must be after the start }]",
            "Conditions that a record must meet when a write sets one of their fields. Rows from before a check stay as they are until then.",
        ),
        key(
            "frozen",
            Shape::Condition,
            "never",
            "frozen: status = closed",
            "A condition. A record that meets it is frozen: no request, action or hook changes its fields or deletes it. Only its links to a record that is deleted end.",
        ),
        key(
            "indexes",
            Shape::Sets,
            "none",
            "indexes: [[sku], [source, effective_at]]",
            "Indexes: fields, or sets of fields in order.",
        ),
        key(
            "search",
            Shape::Names,
            "none",
            "search: [name, sku]",
            "Text fields of the list's search (by default the field that names the records), with a substring index, which also keeps `cont`, `start` and `end` fast on a million rows.",
        ),
        key(
            "ordered",
            Shape::Names,
            "none",
            "ordered: [name]",
            "Fields with an index in sort order, so that the database need not sort long lists. Text is ordered without regard to case. SQLite always sorts a list that is ordered by text, even with this index.",
        ),
        key(
            "order",
            Shape::Order,
            "the order in which the records were made",
            "order: [-created_at, name]",
            "The order of a list whose request has no `sort`, in the API and in the panel: fields of a list item, each with `-` before it for the reverse. The first one gets an index of its order.",
        ),
        key(
            "filters",
            Shape::Filters,
            "`shown`",
            "filters: { name: all, sku: [eq, cont] }",
            "The filters that `q` accepts: `shown` is every field of a list item with the predicates of its type; `none` is no filter; a mapping lists fields, each with `all` or a list of predicates, and `custom_fields: all` for custom fields, which can then be sorted by too. Listed fields get the index that serves them.",
        ),
        key(
            "deprecated_filters",
            Shape::DeprecatedFilters,
            "none",
            "deprecated_filters: { name_start: { since: 2026-03-21, sunset: 2027-03-21, use: name_cont } }",
            "Deprecated filters, as in `q`: the start of the deprecation, the day of removal, and the filter to use instead.",
        ),
        key(
            "sorts",
            Shape::Sorts,
            "`shown`",
            "sorts: [name, created_at]",
            "The sorts that `sort` accepts: `shown` is every field of a list item that has an order; `none` is no sort; a list names fields, which get an index of their order.",
        ),
        key(
            "unindexed",
            Shape::Names,
            "none",
            "unindexed: [note]",
            "Fields that get no index, although `filters`, `sorts`, `under` or the `many` of another resource uses them. Name a field here if its lists are short or the query is rare, because each index makes writes slower.",
        ),
        key(
            "includes",
            Shape::Includes,
            "none",
            "includes: { productGroup: product_group_id }",
            "Related records that a client may include, by their public name.",
        ),
        key(
            "actions",
            Shape::Actions,
            "none",
            "actions: { complete: { on: record } }",
            "Operations in addition to the five standard ones. Each becomes a function that `src/resources/<name>.rs` must implement.",
        ),
        key(
            "states",
            Shape::States,
            "none",
            "states: { field: status, transitions: { solve: { from: open, to: solved } } }",
            "The lifecycle of a record: the field with its state, and the transitions, which are actions and need no code. See [lifecycles](lifecycles.md).",
        ),
        key(
            "hooks",
            Shape::Words(Hook::WORDS),
            "none",
            "hooks: [before_save]",
            "Points at which code in `src/resources/<name>.rs` runs. Each becomes a function that must be implemented.",
        ),
        key(
            "jobs",
            Shape::Jobs,
            "none",
            "jobs: { remind_overdue: { every: 1h } }",
            "Background jobs at regular times. Each becomes a function that `src/resources/<name>.rs` must implement. See [jobs](jobs.md).",
        ),
        key(
            "seed",
            Shape::Text,
            "none",
            "seed: currency.seed.yaml",
            "A file in this folder with rows that every installation has. Rows are identified by the first unique text field that is neither nullable nor read-only.",
        ),
    ],
};

/// `access:`.
pub static ACCESS: Table = Table {
    what: "a row rule",
    keys: &[
        key(
            "read",
            Shape::Condition,
            "every record",
            "read: owner_id = caller.id",
            "The records that a caller may read. Others are as if they did not exist, for every route, relation, total, export and webhook.",
        ),
        key(
            "write",
            Shape::Condition,
            "every record that the caller may read",
            "write: assignee_id = caller.id or caller.can(tickets.all)",
            "The records that a caller may create, change, delete and run actions on. Others are 403.",
        ),
    ],
};

/// `public:`.
pub static PUBLIC: Table = Table {
    what: "an open door",
    keys: &[
        key(
            "create",
            Shape::Names,
            "required",
            "create: [subject, message, email]",
            "The fields that anybody may send: plain ones that are neither unique nor references, and need no right. Every other field has a default or may be null.",
        ),
        key(
            "limit",
            Shape::Text,
            "`20/hour`",
            "limit: 5/minute",
            "How many records a client address may create in a `minute`, `hour` or `day`; more are 429 with `Retry-After`.",
        ),
    ],
};

/// `permission:` as a mapping.
pub static PERMISSION: Table = Table {
    what: "a permission",
    keys: &[
        key("read", Shape::Right, "none", "read: settings.view", "The permission for reads."),
        key("write", Shape::Right, "none", "write: users.manage", "The permission for writes."),
    ],
};
