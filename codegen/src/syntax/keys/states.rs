//! Keys of `states` and of its transitions.

use super::{Shape, Table, key};

/// The lifecycle of a record.
pub static STATES: Table = Table {
    what: "`states`",
    keys: &[
        key(
            "field",
            Shape::Name,
            "required",
            "field: status",
            "The `enum` field with the state. Its `default` is the state of a new record. Clients change it by transitions only.",
        ),
        key(
            "transitions",
            Shape::Transitions,
            "required",
            "transitions: { solve: { from: open, to: solved } }",
            "The changes of the state. Each is an action on a record, `POST /<path>/{id}/<transition>`.",
        ),
    ],
};

/// A transition.
pub static TRANSITION: Table = Table {
    what: "a transition",
    keys: &[
        key("from", Shape::NameOrNames, "required", "from: [open, pending]", "The states in which it can run."),
        key("to", Shape::Name, "required", "to: solved", "The state that it leads to."),
        key(
            "if",
            Shape::Text,
            "always",
            "if: assignee_id is not null",
            "A condition over the fields of the record, the time and the caller, which must hold: see [expressions](expressions.md).",
        ),
        key(
            "permission",
            Shape::Right,
            "none",
            "permission: tickets.solve",
            "The permission that the caller's role needs in addition to the ability and permission of a write.",
        ),
        key(
            "set",
            Shape::FieldValues,
            "none",
            "set: { solved_at: now }",
            "Values of other fields: a value of the field's type, `now` for a timestamp, `today` for a date, `caller.id` for a `ref(user)`, `null`, or an [expression](expressions.md#values-that-actions-set) over the record before the transition.",
        ),
        key(
            "message",
            Shape::Text,
            "names the states, or the condition",
            "message: only a solved ticket can be reopened",
            "The error message if the state or the condition does not allow it.",
        ),
        key(
            "event",
            Shape::Name,
            "`updated`",
            "event: solved",
            "The event that it emits in place of `<resource>.updated`.",
        ),
        key(
            "confirm",
            Shape::Text,
            "runs at once",
            "confirm: The customer gets a mail.",
            "The consequences of the transition. The panel shows them on a page that asks before it runs the transition.",
        ),
        key(
            "description",
            Shape::Text,
            "its name",
            "description: Marks the ticket as solved.",
            "A description of the transition in one or two sentences, for readers of the OpenAPI document.",
        ),
    ],
};
