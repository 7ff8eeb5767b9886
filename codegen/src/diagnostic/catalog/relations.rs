//! Explanations of `C04`: relations between resources.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::UnknownResource,
        title: "an unknown resource",
        explanation: "`ref`, `many`, `under` and `exists` take the singular name of a resource of this folder, or of \
            a platform resource: user, role, token, custom_field, custom_view.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_grup), nullable: true }\n# resources/product_group.yaml\nresource: product_group\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\n# resources/product_group.yaml\nresource: product_group\n",
    },
    Entry {
        code: Code::DerivedPath,
        title: "a derived field with an invalid path",
        explanation: "`from` is a reference field of this resource, a dot, and a field of the other record; or a \
            `code` field, a dot, and `label`. The field shown must be a column that clients can read.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\n  product_group_name: { from: product_group.name }\n# resources/product_group.yaml\nresource: product_group\nfields:\n  name: { type: string(255), required: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\n  product_group_name: { from: product_group_id.name }\n# resources/product_group.yaml\nresource: product_group\nfields:\n  name: { type: string(255), required: true }\n",
    },
    Entry {
        code: Code::ExistsPath,
        title: "an `exists` rule with an invalid path",
        explanation: "`exists` is a resource, a dot, and one of its columns. Clients must be able to read the column, \
            and it must have the same type.",
        wrong: "# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\nfields:\n  base_currency: { type: string(3), nullable: true, exists: currency.iso }\n# resources/currency.yaml\nresource: currency\nfields:\n  code: { type: string(3), required: true }\n",
        right: "# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\nfields:\n  base_currency: { type: string(3), nullable: true, exists: currency.code }\n# resources/currency.yaml\nresource: currency\nfields:\n  code: { type: string(3), required: true }\n",
    },
    Entry {
        code: Code::OtherField,
        title: "fields that cannot be compared",
        explanation: "A rule between two fields, such as `differs_from` or `after`, names another field of the same record, or \
            another parameter of the same action, with the same type. A `bigint` is not comparable with an `integer`.",
        wrong: "# resources/activity.yaml\nresource: activity\nfields:\n  starts_at: { type: timestamp, nullable: true }\n  ends_at: { type: timestamp, nullable: true, not_before: start_at }\n",
        right: "# resources/activity.yaml\nresource: activity\nfields:\n  starts_at: { type: timestamp, nullable: true }\n  ends_at: { type: timestamp, nullable: true, not_before: starts_at }\n",
    },
    Entry {
        code: Code::ByField,
        title: "a missing or ambiguous reference",
        explanation: "`many` needs a field of the other resource that refers to this one. If there are several, `by` \
            names the field.",
        wrong: "# resources/product.yaml\nresource: product\nincludes:\n  accessories: { many: accessory }\n# resources/accessory.yaml\nresource: accessory\nunder: product\nfields:\n  accessory_product_id: { type: ref(product), required: true }\n",
        right: "# resources/product.yaml\nresource: product\nincludes:\n  accessories: { many: accessory, by: product_id }\n# resources/accessory.yaml\nresource: accessory\nunder: product\nfields:\n  accessory_product_id: { type: ref(product), required: true }\n",
    },
    Entry {
        code: Code::Embedding,
        title: "records that cannot be embedded",
        explanation: "Embedded records are read and written with their parent, in one request and one transaction. \
            Their resource has no routes (`operations: []`), no hooks, no actions, no owner, no events and no \
            `detail`, embeds no records itself and is declared in this folder. Two fields cannot embed the same \
            records by the same reference, because a write to one would delete the records of the other.",
        wrong: "# resources/activity.yaml\nresource: activity\nfields:\n  participants: { many: participant }\n# resources/participant.yaml\nresource: participant\nfields:\n  activity_id: { type: ref(activity), required: true }\n",
        right: "# resources/activity.yaml\nresource: activity\nfields:\n  participants: { many: participant }\n# resources/participant.yaml\nresource: participant\noperations: []\nfields:\n  activity_id: { type: ref(activity), required: true }\n",
    },
    Entry {
        code: Code::JoinTable,
        title: "a table of pairs that cannot be made",
        explanation: "`through` names the resource that the build makes for the pairs of two records. No file declares \
            it, and no other field names it: a pair belongs to one field. From the other side, the records are found by a filter.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  tags: { many: tag, through: ticket_tag }\n# resources/tag.yaml\nresource: tag\n# resources/ticket_tag.yaml\nresource: ticket_tag\noperations: []\nfields:\n  ticket_id: { type: ref(ticket), required: true }\n  tag_id: { type: ref(tag), required: true }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  tags: { many: tag, through: ticket_tag }\n# resources/tag.yaml\nresource: tag\n",
    },
    Entry {
        code: Code::LinkName,
        title: "links without a name for their ids",
        explanation: "The name of a field with `through` is a plural: clients read and write `tag_ids` for `tags`, and the pairs \
            have the columns `tag_id` and, for the resource of the file, `ticket_id`. The two differ. An irregular plural is \
            accepted if it is the `plural` of the other resource: `people` has `person_ids`.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  tag: { many: tag, through: ticket_tag }\n# resources/tag.yaml\nresource: tag\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  tags: { many: tag, through: ticket_tag }\n# resources/tag.yaml\nresource: tag\n",
    },
    Entry {
        code: Code::LinkTarget,
        title: "records that cannot be linked",
        explanation: "Links need ids at both ends, which a singleton does not have, and records that are written alone: \
            embedded records are written with their parent.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  regions: { many: settings, through: ticket_region }\n# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  regions: { many: region, through: ticket_region }\n# resources/region.yaml\nresource: region\n",
    },
    Entry {
        code: Code::Nesting,
        title: "an invalid parent",
        explanation: "`under` puts the path of a resource below that of its parent. The parent is declared in this \
            folder, has ids, and has no parent itself. Records are hidden along with a parent that its owner or its \
            `scope` hides.",
        wrong: "# resources/product.yaml\nresource: product\nunder: accessory\n# resources/accessory.yaml\nresource: accessory\nunder: product\n",
        right: "# resources/product.yaml\nresource: product\n# resources/accessory.yaml\nresource: accessory\nunder: product\n",
    },
    Entry {
        code: Code::IncludeTarget,
        title: "an include that loads nothing",
        explanation: "An include names a `ref` field of this resource, `custom_fields` if the resource has them, or, \
            with `many`, a resource that refers to this one. `fields` names fields of the included records.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\nincludes:\n  productGroup: product_group\n# resources/product_group.yaml\nresource: product_group\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  product_group_id: { type: ref(product_group), nullable: true }\nincludes:\n  productGroup: product_group_id\n# resources/product_group.yaml\nresource: product_group\n",
    },
    Entry {
        code: Code::RefTarget,
        title: "a resource that cannot be referred to",
        explanation: "A singleton has no ids. A polymorphic reference lists each resource once.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  settings_id: { type: ref(settings), nullable: true }\n# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\n",
        right: "# resources/product.yaml\nresource: product\n# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\n",
    },
    Entry {
        code: Code::OnDelete,
        title: "an `on_delete` without effect",
        explanation: "`on_delete` belongs to a `ref` to one resource. `clear` needs a field that may be null. `cascade` needs \
            a resource whose deleted records are gone, or a reference to one with `delete: soft`: a soft-deleted record keeps \
            its reference. Embedded records are always deleted with their parent.",
        wrong: "# resources/loan.yaml\nresource: loan\nfields:\n  asset_id: { type: ref(asset), required: true, on_delete: clear }\n# resources/asset.yaml\nresource: asset\n",
        right: "# resources/loan.yaml\nresource: loan\nfields:\n  asset_id: { type: ref(asset), required: true, on_delete: restrict }\n# resources/asset.yaml\nresource: asset\n",
    },
    Entry {
        code: Code::CascadeCycle,
        title: "a cycle of cascading deletions",
        explanation: "If each of several resources is deleted with the next one, no reader of one file sees which records a \
            deletion reaches. A resource may refer to itself, as the records of a tree do.",
        wrong: "# resources/rack.yaml\nresource: rack\nfields:\n  shelf_id: { type: ref(shelf), nullable: true, on_delete: cascade }\n# resources/shelf.yaml\nresource: shelf\nplural: shelves\nfields:\n  rack_id: { type: ref(rack), nullable: true, on_delete: cascade }\n",
        right: "# resources/rack.yaml\nresource: rack\nfields:\n  shelf_id: { type: ref(shelf), nullable: true, on_delete: cascade }\n# resources/shelf.yaml\nresource: shelf\nplural: shelves\nfields:\n  rack_id: { type: ref(rack), nullable: true, on_delete: clear }\n",
    },
];
