//! Explanations of `C00`: reading the files.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::Unreadable,
        title: "a file that is not one plain YAML document",
        explanation: "The file cannot be opened, stands in a folder below or ends in `.YAML`, is not UTF-8 or is not YAML, or it uses what the grammar leaves out: \
            several documents in a file, anchors, aliases and tags. Everything is said once, where it is meant. The other \
            files are checked all the same, and what they say of this one is believed.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n",
    },
    Entry {
        code: Code::UnknownKey,
        title: "a key that the grammar does not have",
        explanation: "Every key has one spelling, and one that is not known is never passed over: it may be a rule that \
            somebody relies on. `docs/yaml-reference.md` lists all of them.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nulable: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::WrongShape,
        title: "a value of the wrong shape",
        explanation: "A list stands where a mapping is expected, a word where `true` or `false` is, nothing where something is, \
            and the like. Or a key of the resource, or of a field, stands among the fields. Or a text \
            ends in the line break of its block (`|`, where `|-` is meant).",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: yes }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::DuplicateKey,
        title: "a key that stands twice in a mapping",
        explanation: "YAML readers keep one of the two and drop the other silently. Here it is an error.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n  sku: { type: string(32), nullable: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::MissingKey,
        title: "a key that must be there",
        explanation: "A file needs `resource`, a field one of `type`, `from` and `many`, an action `on`.",
        wrong: "# resources/activity.yaml\nresource: activity\nactions:\n  complete: { method: post }\n",
        right: "# resources/activity.yaml\nresource: activity\nactions:\n  complete: { on: record }\n",
    },
    Entry {
        code: Code::UnknownWord,
        title: "a word that is not one of the known ones",
        explanation: "Some keys take words of a closed set: `delete`, `timestamps`, `operations`, `access`, `format`, \
            `hooks`, the `on` and `method` of an action, `filters` and `sorts`.",
        wrong: "# resources/product.yaml\nresource: product\nhooks: [before_create]\n",
        right: "# resources/product.yaml\nresource: product\nhooks: [before_save]\n",
    },
    Entry {
        code: Code::FileName,
        title: "a file that is not named after its resource",
        explanation: "One file holds one resource and has its name, so that each is found at the first try: \
            `exchange_rate` stands in `exchange_rate.yaml`, and its behaviour in `src/resources/exchange_rate.rs`.",
        wrong: "# resources/rates.yaml\nresource: exchange_rate\n",
        right: "# resources/exchange_rate.yaml\nresource: exchange_rate\n",
    },
];
