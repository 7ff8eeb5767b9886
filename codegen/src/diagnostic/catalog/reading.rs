//! Explanations of `C00`: reading the files.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::Unreadable,
        title: "a file that is not one plain YAML document",
        explanation: "The file cannot be opened, is in a subfolder, ends in `.YAML`, is not UTF-8 or is not YAML, or \
            it uses features outside the grammar: several documents in a file, anchors, aliases and tags. The other \
            files are checked, without further errors about this one.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n",
    },
    Entry {
        code: Code::UnknownKey,
        title: "an unknown key",
        explanation: "Every key has one spelling. An unknown key is an error, because it may be a rule that somebody \
            relies on. `docs/yaml-reference.md` lists all keys.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nulable: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::WrongShape,
        title: "a value of the wrong shape",
        explanation: "The key takes another kind of value: a mapping in place of a list, `true` or `false` in place \
            of a word, a value where there is none. The same error covers a key of the resource or of a field among \
            the fields, and text that ends with the line break of its block (`|` in place of `|-`).",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: yes }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::DuplicateKey,
        title: "a key that is given twice",
        explanation: "YAML readers keep one of two equal keys and silently drop the other. The grammar rejects them.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n  sku: { type: string(32), nullable: true }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  sku: { type: string(64), nullable: true }\n",
    },
    Entry {
        code: Code::MissingKey,
        title: "a missing key",
        explanation: "A file needs `resource`, a field needs one of `type`, `from` and `many`, an action needs `on`.",
        wrong: "# resources/activity.yaml\nresource: activity\nactions:\n  complete: { method: post }\n",
        right: "# resources/activity.yaml\nresource: activity\nactions:\n  complete: { on: record }\n",
    },
    Entry {
        code: Code::UnknownWord,
        title: "an unknown word",
        explanation: "Some keys take words of a closed set: `delete`, `timestamps`, `operations`, `access`, `format`, \
            `hooks`, `on` and `method` of an action, `filters` and `sorts`.",
        wrong: "# resources/product.yaml\nresource: product\nhooks: [before_create]\n",
        right: "# resources/product.yaml\nresource: product\nhooks: [before_save]\n",
    },
    Entry {
        code: Code::FileName,
        title: "a file name that differs from its resource",
        explanation: "A file declares one resource and has its name: `exchange_rate` is declared in \
            `exchange_rate.yaml`, and its behaviour is in `src/resources/exchange_rate.rs`.",
        wrong: "# resources/rates.yaml\nresource: exchange_rate\n",
        right: "# resources/exchange_rate.yaml\nresource: exchange_rate\n",
    },
];
