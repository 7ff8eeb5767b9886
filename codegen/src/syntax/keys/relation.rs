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
