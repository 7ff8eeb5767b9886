//! Explanations of the codes of `states`, from `C0605`.

use super::Entry;
use crate::diagnostic::Code;

pub const ENTRIES: &[Entry] = &[
    Entry {
        code: Code::StateField,
        title: "a field that cannot be a state",
        explanation: "The `field` of `states` is an `enum` with a `default`, which is the state of a new record. It is \
            never null and has no `access`, because only transitions change it.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, solved], required: true }\nstates:\n  field: status\n  transitions:\n    solve: { from: open, to: solved }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, solved], default: open }\nstates:\n  field: status\n  transitions:\n    solve: { from: open, to: solved }\n",
    },
    Entry {
        code: Code::UnknownState,
        title: "an unknown state",
        explanation: "`from` and `to` of a transition are values of the field of the state.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, solved], default: open }\nstates:\n  field: status\n  transitions:\n    solve: { from: open, to: solvd }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, solved], default: open }\nstates:\n  field: status\n  transitions:\n    solve: { from: open, to: solved }\n",
    },
    Entry {
        code: Code::UnreachableState,
        title: "a state that no record reaches",
        explanation: "No chain of transitions leads from the `default` of the field to this state. A record is in it only \
            if seed data or the application's code set it: a warning.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, pending, solved], default: open }\nstates:\n  field: status\n  transitions:\n    solve: { from: open, to: solved }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, pending, solved], default: open }\nstates:\n  field: status\n  transitions:\n    wait: { from: open, to: pending }\n    solve: { from: [open, pending], to: solved }\n",
    },
    Entry {
        code: Code::IdleTransition,
        title: "a transition without effect",
        explanation: "A transition starts from at least one state. One that leads from a state to the same state needs \
            `set`, or it changes nothing.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, solved], default: open }\nstates:\n  field: status\n  transitions:\n    solve: { from: [open, solved], to: solved }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, solved], default: open }\nstates:\n  field: status\n  transitions:\n    solve: { from: open, to: solved }\n",
    },
    Entry {
        code: Code::TransitionSet,
        title: "a value that an action cannot set",
        explanation: "`set` of a transition or an action names fields of the record that have a column, but no computed one. \
            Each value fits the type and the rules of its field: a literal, `now` for a timestamp, `today` for a date, \
            `caller.id` for a `ref(user)`, `null` for a field that can be null, or an expression. Values that break a check \
            or `required_when` of each record are refused too: the action could never run.",
        wrong: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, solved], default: open }\n  hours: { type: integer, default: 0 }\nstates:\n  field: status\n  transitions:\n    solve: { from: open, to: solved, set: { hours: many } }\n",
        right: "# resources/ticket.yaml\nresource: ticket\nfields:\n  status: { type: enum, values: [open, solved], default: open }\n  hours: { type: integer, default: 0 }\nstates:\n  field: status\n  transitions:\n    solve: { from: open, to: solved, set: { hours: 1 } }\n",
    },
];
