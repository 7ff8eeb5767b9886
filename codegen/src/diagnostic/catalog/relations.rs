//! Explanations of `C04`: relations between resources.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::UnknownResource,
        title: "a resource that does not exist",
        explanation: "`ref`, `many`, `under` and `exists` name a resource of this folder by its singular name, or one of the \
            platform's: user, role, token, custom_field, custom_view.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_grup), nullable: true }\n# resources/product_group.yaml\nresource: product_group\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\n# resources/product_group.yaml\nresource: product_group\n",
    },
    Entry {
        code: Code::DerivedPath,
        title: "a derived field whose way cannot be gone",
        explanation: "`from` names a field of this resource and, behind a point, a field of the record that it refers to; \
            or a `code` field and `label`. The field shown is a plain one that clients may see, not itself derived.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\n  product_group_name: { from: product_group.name }\n# resources/product_group.yaml\nresource: product_group\nfields:\n  name: { type: string(255), required: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\n  product_group_name: { from: product_group_id.name }\n# resources/product_group.yaml\nresource: product_group\nfields:\n  name: { type: string(255), required: true }\n",
    },
    Entry {
        code: Code::ExistsPath,
        title: "an `exists` that cannot be looked up",
        explanation: "`exists` names a resource and, behind a point, one of its columns that clients may see and that is of \
            the same type.",
        wrong: "# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\nfields:\n  base_currency: { type: string(3), nullable: true, exists: currency.iso }\n# resources/currency.yaml\nresource: currency\nfields:\n  code: { type: string(3), required: true }\n",
        right: "# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\nfields:\n  base_currency: { type: string(3), nullable: true, exists: currency.code }\n# resources/currency.yaml\nresource: currency\nfields:\n  code: { type: string(3), required: true }\n",
    },
    Entry {
        code: Code::OtherField,
        title: "a field that cannot be compared",
        explanation: "`differs_from`, `after` and `not_before` name another field of the same record, or parameter of the \
            same action, whose values are of the same kind: a `bigint` is compared with no `integer`.",
        wrong: "# resources/activity.yaml\nresource: activity\nfields:\n  starts_at: { type: timestamp, nullable: true }\n  ends_at: { type: timestamp, nullable: true, not_before: start_at }\n",
        right: "# resources/activity.yaml\nresource: activity\nfields:\n  starts_at: { type: timestamp, nullable: true }\n  ends_at: { type: timestamp, nullable: true, not_before: starts_at }\n",
    },
    Entry {
        code: Code::ByField,
        title: "the field at the other end",
        explanation: "`many` needs the field of the other resource that refers to this one. It is found by itself when there \
            is only one; otherwise `by` names it.",
        wrong: "# resources/product.yaml\nresource: product\nincludes:\n  accessories: { many: accessory }\n# resources/accessory.yaml\nresource: accessory\nunder: product\nfields:\n  accessory_product_id: { type: ref(product), required: true }\n",
        right: "# resources/product.yaml\nresource: product\nincludes:\n  accessories: { many: accessory, by: product_id }\n# resources/accessory.yaml\nresource: accessory\nunder: product\nfields:\n  accessory_product_id: { type: ref(product), required: true }\n",
    },
    Entry {
        code: Code::Embedding,
        title: "records that cannot be embedded",
        explanation: "Embedded records are read and written with the record that holds them, in one request and one \
            transaction. Their resource therefore has no routes (`operations: []`), no hooks, no actions, no owner, no events and no `detail`, embeds nothing itself and is \
            declared in this folder. Two lists of the same records, by the same field, would delete what the other holds.",
        wrong: "# resources/activity.yaml\nresource: activity\nfields:\n  participants: { many: participant }\n# resources/participant.yaml\nresource: participant\nfields:\n  activity_id: { type: ref(activity), required: true }\n",
        right: "# resources/activity.yaml\nresource: activity\nfields:\n  participants: { many: participant }\n# resources/participant.yaml\nresource: participant\noperations: []\nfields:\n  activity_id: { type: ref(activity), required: true }\n",
    },
    Entry {
        code: Code::Nesting,
        title: "a parent that nothing can stand under",
        explanation: "`under` puts a resource behind the path of another, which must be declared in this folder, have ids, \
            and stand under nothing itself: a path has one parent. Where its owner or its `scope` hides a record, what stands under that is hidden too.",
        wrong: "# resources/product.yaml\nresource: product\nunder: accessory\n# resources/accessory.yaml\nresource: accessory\nunder: product\n",
        right: "# resources/product.yaml\nresource: product\n# resources/accessory.yaml\nresource: accessory\nunder: product\n",
    },
    Entry {
        code: Code::IncludeTarget,
        title: "an include with nothing at the other end",
        explanation: "An include names a `ref` field of this resource, `custom_fields` where the resource has them, or with \
            `many` a resource that refers to this one. `fields` names fields of the included records.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\nincludes:\n  productGroup: product_group\n# resources/product_group.yaml\nresource: product_group\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\nincludes:\n  productGroup: product_group_id\n# resources/product_group.yaml\nresource: product_group\n",
    },
    Entry {
        code: Code::RefTarget,
        title: "a resource that nothing can refer to",
        explanation: "A singleton has no ids. Among the alternatives of a polymorphic reference each stands once.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  settings_id: { type: ref(settings), nullable: true }\n# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\n",
        right: "# resources/product.yaml\nresource: product\n# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\n",
    },
];
