//! Explanations of `C01`: names.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::BadName,
        title: "a name of the wrong form",
        explanation: "Names are in snake_case and have at most 63 characters, which is what PostgreSQL keeps: lower-case \
            letters, digits and `_` between words. So have those that follow from them: the plural, and the fields that \
            `under` and a polymorphic reference make. Only includes are in camelCase, as clients of the API write them.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  isActive: { type: boolean, default: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  is_active: { type: boolean, default: true }\n",
    },
    Entry {
        code: Code::ReservedName,
        title: "a name that is not free",
        explanation: "Every record has `id`, `created_at` and `updated_at`, and may have `deleted_at` and `custom_fields`. \
            Every table of PostgreSQL has `xmin`, `ctid` and a few more, and what begins with `charter_` is Charter's. The platform has resources of its own (user, role, \
            token, custom_field, custom_view, webhook, attachment and others). A resource becomes a Rust module, so that a \
            word of Rust cannot name it. In a body the fields may stand under the name of their resource, and an action's \
            input under that of the action: no field has that name. In `q` what stands behind `cf.` is a custom field, so that \
            no reference is called `cf`.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  created_at: { type: timestamp, default: now }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  bought_at: { type: timestamp, default: now }\n",
    },
    Entry {
        code: Code::NameTaken,
        title: "a name that is given twice",
        explanation: "Two resources with the same name, plural or table, or one with that of the platform; two fields with \
            the same name, also across `fields` and `detail`, and those that a polymorphic reference makes; an include that \
            is written like a field; the same word twice in a list; a path at which something stands already, such as a page \
            of the panel, or what restores a deleted parent; a name in the description of the API: clients make types of its \
            schemas (`order` has `Order`, `OrderFields`, `OrderCreate`, `OrderUpdate` and with `detail` `OrderListItem`; the \
            service has `Error`, `Meta`, `Plan` and others) and functions of its operations (`close_order`) and events \
            (`on_order_created`).",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\ndetail:\n  sku: { type: string(64), nullable: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::AmbiguousName,
        title: "a field whose name reads like a predicate",
        explanation: "In `q[status_not_eq]` the field and the predicate are one word. With the fields `status` and \
            `status_not` it would be `status` with `not_eq`, or `status_not` with `eq`. Likewise `name_or_sku` beside \
            `name` and `sku`.",
        wrong: "# resources/activity.yaml\nresource: activity\nfields:\n  status: { type: string(20), nullable: true }\n  status_not: { type: string(20), nullable: true }\n",
        right: "# resources/activity.yaml\nresource: activity\nfields:\n  status: { type: string(20), nullable: true }\n  refused_status: { type: string(20), nullable: true }\n",
    },
    Entry {
        code: Code::BadPermission,
        title: "a permission of the wrong form",
        explanation: "A permission names an area and what may be done there, with a point between: `settings.manage`. \
            It is what roles list; an ability (`settings:read`) is what a token carries.",
        wrong: "# resources/exchange_rate.yaml\nresource: exchange_rate\npermission: settings:manage\n",
        right: "# resources/exchange_rate.yaml\nresource: exchange_rate\npermission: settings.manage\n",
    },
    Entry {
        code: Code::PluralName,
        title: "a resource that is called as several records are",
        explanation: "A resource has the name of one record, and its list the plural of that: `suppliers` would be listed as \
            `supplierses`. A warning, because some words only look so; `plural` says that it is meant.",
        wrong: "# resources/suppliers.yaml\nresource: suppliers\nfields:\n  name: { type: string(99), required: true }\n",
        right: "# resources/supplier.yaml\nresource: supplier\nfields:\n  name: { type: string(99), required: true }\n",
    },
];
