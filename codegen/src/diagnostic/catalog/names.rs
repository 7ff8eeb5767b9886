//! Explanations of `C01`: names.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::BadName,
        title: "a name of the wrong form",
        explanation: "Names are in snake_case: lower-case letters, digits and `_` between words, at most 63 \
            characters, the limit of PostgreSQL. The same applies to the names that follow from them: the plural, and \
            the fields that `under` and a polymorphic reference add. Only includes are in camelCase, as in the \
            requests of clients.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  isActive: { type: boolean, default: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  is_active: { type: boolean, default: true }\n",
    },
    Entry {
        code: Code::ReservedName,
        title: "a reserved name",
        explanation: "Every record has `id`, `created_at` and `updated_at`, and may have `deleted_at` and \
            `custom_fields`. Every table of PostgreSQL has system columns such as `xmin` and `ctid`, and Charter \
            reserves names that start with `charter_`. The platform has its own resources (user, role, token, \
            custom_field, custom_view, webhook, attachment and others). A resource becomes a Rust module, so it \
            cannot have the name of a keyword. Request bodies may nest the fields under the name of the resource, and \
            an action's input under the name of the action: no field can have that name. In `q`, `cf.` is the prefix \
            of custom fields, so no reference can be called `cf`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  created_at: { type: timestamp, default: now }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  bought_at: { type: timestamp, default: now }\n",
    },
    Entry {
        code: Code::NameTaken,
        title: "a name that is used twice",
        explanation: "Names must be unique: the name, plural and table of a resource, also against the platform's; \
            the fields of a resource, across `fields` and `detail` and including those that a polymorphic reference \
            adds; includes, also against fields; the words of a list; paths, also against those of the panel, \
            attachments and restore; and names in the OpenAPI document, from which client generators make types \
            (`order` has the schemas `Order`, `OrderFields`, `OrderCreate`, `OrderUpdate` and, with `detail`, \
            `OrderListItem`; the service has `Error`, `Meta`, `Plan` and others) and functions (the operation \
            `close_order`, the event `on_order_created`).",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\ndetail:\n  sku: { type: string(64), nullable: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::AmbiguousName,
        title: "a field name that is ambiguous in filters",
        explanation: "A filter joins a field and a predicate: `q[status_not_eq]`. With the fields `status` and \
            `status_not`, it would be `status` with `not_eq` or `status_not` with `eq`. The same holds for \
            `name_or_sku` next to `name` and `sku`.",
        wrong: "# resources/activity.yaml\nresource: activity\nfields:\n  status: { type: string(20), nullable: true }\n  status_not: { type: string(20), nullable: true }\n",
        right: "# resources/activity.yaml\nresource: activity\nfields:\n  status: { type: string(20), nullable: true }\n  refused_status: { type: string(20), nullable: true }\n",
    },
    Entry {
        code: Code::BadPermission,
        title: "a permission of the wrong form",
        explanation: "A permission is an area and an activity, separated by a dot: `settings.manage`. Roles list \
            permissions; tokens have abilities, such as `settings:read`.",
        wrong: "# resources/exchange_rate.yaml\nresource: exchange_rate\npermission: settings:manage\n",
        right: "# resources/exchange_rate.yaml\nresource: exchange_rate\npermission: settings.manage\n",
    },
    Entry {
        code: Code::PluralName,
        title: "a resource name in the plural",
        explanation: "The name of a resource is a singular, and its lists have the plural: `suppliers` would be \
            listed as `supplierses`. This is a warning, because some singulars look like plurals; `plural` confirms \
            the name.",
        wrong: "# resources/suppliers.yaml\nresource: suppliers\nfields:\n  name: { type: string(99), required: true }\n",
        right: "# resources/supplier.yaml\nresource: supplier\nfields:\n  name: { type: string(99), required: true }\n",
    },
];
