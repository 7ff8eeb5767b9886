//! Explanations of `C06` and `C07`: actions, and resources as a whole.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::ActionAnswer,
        title: "an action without a whole answer",
        explanation: "An action on a record answers the record when it says nothing else. One on the collection has none, \
            and says what it answers: `answer` is the key, `output` the fields under it; the two go together. \
            What tells that an action is done (`until`) is a field that its record answers, and that may be empty or false.",
        wrong: "# resources/exchange_rate.yaml\nresource: exchange_rate\nactions:\n  convert: { on: collection, method: get }\n",
        right: "# resources/exchange_rate.yaml\nresource: exchange_rate\nactions:\n  convert:\n    on: collection\n    method: get\n    answer: conversion\n    output: { result: string(40) }\n",
    },
    Entry {
        code: Code::ActionName,
        title: "an action whose name is not free",
        explanation: "An action becomes the last segment of a path and a function of the behaviour. It cannot be named like \
            a plain operation (or `patch`, which is one), a hook or a word of Rust, nor like what stands at its path: `bulk` on a collection, `restore` \
            where deleted records are kept, a page of the panel, a resource `under` this one.",
        wrong: "# resources/activity.yaml\nresource: activity\nactions:\n  update: { on: record }\n",
        right: "# resources/activity.yaml\nresource: activity\nactions:\n  reschedule: { on: record }\n",
    },
    Entry {
        code: Code::ActionEvent,
        title: "an event that an action cannot have",
        explanation: "An action that changes its record may name its event, which is emitted in place of `updated`. There is \
            none where the resource emits no events, where the action changes no record, or where it creates one; and \
            `created`, `updated` and `deleted` are those of the plain operations, `restored` that of a deletion undone.",
        wrong: "# resources/loan.yaml\nresource: loan\nactions:\n  give_back: { on: record, event: given_back }\n",
        right: "# resources/loan.yaml\nresource: loan\nevents: true\nactions:\n  give_back: { on: record, event: given_back }\n",
    },
    Entry {
        code: Code::IdleHook,
        title: "a hook that nothing runs",
        explanation: "A hook runs when a record is saved or deleted by one of the operations, by an action or by a seed. \
            Where there is none of them it waits for nothing, unless the application itself writes such records: a warning.",
        wrong: "# resources/note.yaml\nresource: note\noperations: [list, show]\nhooks: [before_save]\n",
        right: "# resources/note.yaml\nresource: note\noperations: [list, show, create]\nhooks: [before_save]\n",
    },
    Entry {
        code: Code::Singleton,
        title: "what a singleton cannot have",
        explanation: "A singleton is one record that is always there. It has no id, no list and no owner, is neither created \
            nor deleted, and stands under nothing; all its fields begin with a default or null, and none stays so for ever (`immutable`).",
        wrong: "# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\nfields:\n  company_name: { type: string(255), required: true }\n",
        right: "# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\nfields:\n  company_name: { type: string(255), default: \"\" }\n",
    },
    Entry {
        code: Code::Seed,
        title: "a seed that cannot be sown",
        explanation: "A seed file stands beside the resource, and its name ends in `.seed.yaml`: `<resource>.seed.yaml`, unless \
            several share one. Its rows are recognised by the \
            first unique text that is neither nullable nor read-only and that each row gives, so that seeding again changes \
            nothing; the resource needs such a field. Each row, and each record embedded in it, must be \
            one that a client could create: its fields are there, its values fit, nothing that is required is missing, and \
            what `exists` names or a reference leads to is sown before: above it, or in a file of a resource that does not wait \
            for this one. Texts \
            that YAML would read as numbers stand in quotes, and so do decimals with more digits than floating point has.",
        wrong: "# resources/currency.yaml\nresource: currency\nseed: currency.seed.yaml\nfields:\n  code: { type: string(3), required: true, unique: true }\n",
        right: "# resources/currency.yaml\nresource: currency\nseed: currency.seed.yaml\nfields:\n  code: { type: string(3), required: true, unique: true }\n# resources/currency.seed.yaml\n- code: GBP\n",
    },
    Entry {
        code: Code::Deprecation,
        title: "a deprecation that clients cannot follow",
        explanation: "What is deprecated says since which day, on which later day it goes, and what of the same sort takes \
            its place: a field, a filter as `q` names it, an action. That must be there, and must not be deprecated itself. A \
            field that must be given cannot be done without, and so not deprecated.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  mass: { type: integer, default: 0 }\n  weight: { type: integer, default: 0, deprecated: { since: 2026-03-21, use: masss } }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  mass: { type: integer, default: 0 }\n  weight: { type: integer, default: 0, deprecated: { since: 2026-03-21, use: mass } }\n",
    },
    Entry {
        code: Code::Idle,
        title: "what never happens",
        explanation: "`events` are emitted by what writes records, and `delete: soft` is about their deletion. Where no \
            operation and no action does it, and no record holds these, neither has an effect, unless the application itself \
            writes such records: a warning.",
        wrong: "# resources/note.yaml\nresource: note\nevents: true\noperations: [list, show]\n",
        right: "# resources/note.yaml\nresource: note\nevents: true\noperations: [list, show, create]\n",
    },
];
