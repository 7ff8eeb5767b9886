//! Explanations of `C06` and `C07`: actions, and resources as a whole.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::ActionAnswer,
        title: "an action with an incomplete response",
        explanation: "An action on a record returns the record unless it has an `output`. An action on the collection \
            has no record and needs both `answer`, the key of the response, and `output`, the fields under it. \
            `until` names a field of the record that is shown and can be null or false.",
        wrong: "# resources/exchange_rate.yaml\nresource: exchange_rate\nactions:\n  convert: { on: collection, method: get }\n",
        right: "# resources/exchange_rate.yaml\nresource: exchange_rate\nactions:\n  convert:\n    on: collection\n    method: get\n    answer: conversion\n    output: { result: string(40) }\n",
    },
    Entry {
        code: Code::ActionName,
        title: "a reserved action name",
        explanation: "The name of an action is the last segment of its path and a function of the behaviour. It \
            cannot be that of a standard operation (or `patch`), a hook or a keyword of Rust, nor that of another \
            path at the same place: `bulk` and `summary` on a collection, `restore` with soft delete, a page of the panel, a child \
            resource.",
        wrong: "# resources/activity.yaml\nresource: activity\nactions:\n  update: { on: record }\n",
        right: "# resources/activity.yaml\nresource: activity\nactions:\n  reschedule: { on: record }\n",
    },
    Entry {
        code: Code::ActionEvent,
        title: "an event that a resource cannot have",
        explanation: "An action that changes its record can name the event that it emits in place of `updated`. It \
            cannot if the resource has no events, if the action changes no record, or if it creates one. `emits` names \
            events that only code emits. `created`, \
            `updated` and `deleted` are the events of the standard operations, and `restored` that of a restore.",
        wrong: "# resources/loan.yaml\nresource: loan\nactions:\n  give_back: { on: record, event: given_back }\n",
        right: "# resources/loan.yaml\nresource: loan\nevents: true\nactions:\n  give_back: { on: record, event: given_back }\n",
    },
    Entry {
        code: Code::JobMisfit,
        title: "a job that cannot run as declared",
        explanation: "`every` and `timeout` are a number with a unit, `s`, `m`, `h` or `d`: an interval from 10 seconds \
            to 366 days, and a timeout from 1 second to 24 hours. `attempts` is from 1 to 20. Each job of an \
            application has a name of its own, which no hook and no action of its resource has: each is a function.",
        wrong: "# resources/loan.yaml\nresource: loan\njobs:\n  remind_overdue: { every: 5 minutes }\n",
        right: "# resources/loan.yaml\nresource: loan\njobs:\n  remind_overdue: { every: 5m }\n",
    },
    Entry {
        code: Code::ExternalAction,
        title: "an external action that changes its record",
        explanation: "An external action waits for another server, and runs without a transaction, so that it holds no \
            locks. The server can then not store the record that it returns. Such an action has an `output`, and its \
            function opens a transaction for the changes that it makes.",
        wrong: "# resources/order.yaml\nresource: order\nactions:\n  pay: { on: record, external: true }\n",
        right: "# resources/order.yaml\nresource: order\nactions:\n  pay: { on: record, external: true, answer: payment, output: { state: string(20) } }\n",
    },
    Entry {
        code: Code::IdleHook,
        title: "a hook that never runs",
        explanation: "A hook runs when an operation, an action or a seed saves or deletes a record. Without any of \
            them it never runs, unless the application writes such records: a warning.",
        wrong: "# resources/note.yaml\nresource: note\noperations: [list, show]\nhooks: [before_save]\n",
        right: "# resources/note.yaml\nresource: note\noperations: [list, show, create]\nhooks: [before_save]\n",
    },
    Entry {
        code: Code::Singleton,
        title: "an option that a singleton cannot have",
        explanation: "A singleton is one record that always exists. It has no id, no list, no owner and no parent, \
            and is neither created nor deleted. Its fields start with a default or null, and none is `immutable`.",
        wrong: "# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\nfields:\n  company_name: { type: string(255), required: true }\n",
        right: "# resources/settings.yaml\nresource: settings\nplural: settings\nsingleton: true\nfields:\n  company_name: { type: string(255), default: \"\" }\n",
    },
    Entry {
        code: Code::Seed,
        title: "an invalid seed",
        explanation: "A seed file is in the folder of its resource. Its name ends in `.seed.yaml`: \
            `<resource>.seed.yaml`, unless several resources share one. Rows are identified by the first unique text \
            field that is neither nullable nor read-only and that every row sets, so that repeated seeding changes \
            nothing; the resource needs such a field. A row, and each record embedded in it, must be one that a \
            client could create: its fields exist, its values are valid, and no required field is missing. A record \
            that `exists` or a reference needs comes first: above the row, or in the file of a resource that is \
            seeded earlier. Put text that YAML would read as a number in quotes, and decimals with more digits than \
            floating point holds.",
        wrong: "# resources/currency.yaml\nresource: currency\nseed: currency.seed.yaml\nfields:\n  code: { type: string(3), required: true, unique: true }\n",
        right: "# resources/currency.yaml\nresource: currency\nseed: currency.seed.yaml\nfields:\n  code: { type: string(3), required: true, unique: true }\n# resources/currency.seed.yaml\n- code: GBP\n",
    },
    Entry {
        code: Code::Language,
        title: "an invalid file of texts",
        explanation: "A file of texts is in the folder of the resources and is named for its language, as in the \
            attribute `lang` of HTML: `de.language.yaml`. It has the language's own `name`, if Charter has no table \
            of it, `labels` of resources, fields, choices and actions with an English text and its translation in each \
            line, `messages` of the application's hooks, and `texts` of the panel that it changes. A value in braces, such as `{number}`, stands in both texts.",
        wrong: "# resources/note.yaml\nresource: note\nfields:\n  text: { type: text, required: true }\n# resources/de.language.yaml\nmessages:\n  must be at least {least}: muss größer sein\n",
        right: "# resources/note.yaml\nresource: note\nfields:\n  text: { type: text, required: true }\n# resources/de.language.yaml\nlabels:\n  note: Notiz\nmessages:\n  must be at least {least}: muss mindestens {least} sein\n",
    },
    Entry {
        code: Code::Deprecation,
        title: "a deprecation that clients cannot follow",
        explanation: "A deprecation names the day on which it starts, a later day of removal, and a replacement of \
            the same kind: a field, a filter as in `q`, or an action. The replacement must exist and must not be \
            deprecated itself. A required field cannot be deprecated, because clients cannot omit it.",
        wrong: "# resources/product.yaml\nresource: product\nfields:\n  mass: { type: integer, default: 0 }\n  weight: { type: integer, default: 0, deprecated: { since: 2026-03-21, use: masss } }\n",
        right: "# resources/product.yaml\nresource: product\nfields:\n  mass: { type: integer, default: 0 }\n  weight: { type: integer, default: 0, deprecated: { since: 2026-03-21, use: mass } }\n",
    },
    Entry {
        code: Code::Idle,
        title: "an option without effect",
        explanation: "Writes emit `events`, and `delete: soft` changes deletes. If no operation, action or embedding \
            record does either, the option has no effect, unless the application writes such records: a warning.",
        wrong: "# resources/note.yaml\nresource: note\nevents: true\noperations: [list, show]\n",
        right: "# resources/note.yaml\nresource: note\nevents: true\noperations: [list, show, create]\n",
    },
];
