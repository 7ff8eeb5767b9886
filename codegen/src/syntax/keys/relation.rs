//! Keys of includes and actions.

use charter_model::{ActionMethod, ActionOn};

use super::field::DEPRECATION;
use super::{INPUT, OUTPUT, Shape, Table, key};

/// An include as a mapping.
pub static INCLUDE: Table = Table {
    what: "an include",
    keys: &[
        key(
            "one",
            Shape::Name,
            "one of `one` and `many` is required",
            "one: owned_by",
            "The `ref` field whose record is included.",
        ),
        key("many", Shape::Name, "none", "many: stock_level", "The resource whose records refer to this one."),
        key(
            "by",
            Shape::Name,
            "the only reference from there",
            "by: product_id",
            "With `many`: the `ref` field of the other resource that refers to this one.",
        ),
        key(
            "fields",
            Shape::Names,
            "those of a list item",
            "fields: [id, name, email]",
            "The fields that each included record shows.",
        ),
    ],
};

/// An action.
pub static ACTION: Table = Table {
    what: "an action",
    keys: &[
        key(
            "on",
            Shape::Word(ActionOn::WORDS),
            "required",
            "on: record",
            "`record` is `/<path>/{id}/<action>`, `collection` is `/<path>/<action>`.",
        ),
        key(
            "method",
            Shape::Word(ActionMethod::WORDS),
            "`post`",
            "method: get",
            "`get` needs the read ability and takes its input from the query string; `post` needs the write ability and takes it from the body.",
        ),
        key(
            "input",
            Shape::Fields(&INPUT),
            "no input",
            "input: { amount: { type: decimal(18, 8), required: true } }",
            "Its parameters.",
        ),
        key(
            "answer",
            Shape::Name,
            "the name of the resource, for `on: record`; none for `on: collection`, which needs both `answer` and `output`",
            "answer: conversion",
            "The key of the output in the response.",
        ),
        key(
            "output",
            Shape::Output(&OUTPUT),
            "the record, for `on: record`",
            "output: { result: string(40) }",
            "The response: fields under the key `answer`, or `created`, a new record of this resource with 201 and its `Location`.",
        ),
        key(
            "event",
            Shape::Name,
            "`updated`",
            "event: deactivated",
            "For an action that changes its record: the event that it emits in place of `<resource>.updated`.",
        ),
        key(
            "until",
            Shape::Text,
            "always",
            "until: completed",
            "For an action on a record: the panel offers the action until this field is true or has a value; with `not` before the field, until it is false or null.",
        ),
        key(
            "confirm",
            Shape::Text,
            "runs at once",
            "confirm: The books can no longer be lent.",
            "The consequences of the action. The panel shows them, with the numbers of the hook `consequences`, on a page that asks before it runs the action.",
        ),
        key(
            "if",
            Shape::Text,
            "always",
            "if: returned_at is null",
            "For an action on a record: a condition over its fields, the time and the caller, which must hold: see [expressions](expressions.md).",
        ),
        key(
            "permission",
            Shape::Right,
            "none",
            "permission: tickets.solve",
            "The permission that the caller's role needs in addition to the ability and permission of its method.",
        ),
        key(
            "set",
            Shape::FieldValues,
            "the code of the action",
            "set: { returned_at: now }",
            "For an action on a record, which then needs no code: the values that it sets. Each is a value of the field's type, `now` for a timestamp, `today` for a date, `caller.id` for a `ref(user)`, `null`, or an [expression](expressions.md#values-that-actions-set) over the record before the action.",
        ),
        key(
            "message",
            Shape::Text,
            "names the condition",
            "message: the book is back already",
            "The error message if the condition of `if` does not allow it.",
        ),
        key(
            "external",
            Shape::Flag,
            "`false`",
            "external: true",
            "The function waits for another server: it runs without a transaction, and once for each `Idempotency-Key`. Such an action has an `output`.",
        ),
        DEPRECATION,
        key(
            "description",
            Shape::Text,
            "its name",
            "description: Marks the activity as done.",
            "A description of the action in one or two sentences, for readers of the OpenAPI document.",
        ),
    ],
};
