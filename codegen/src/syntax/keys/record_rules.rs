//! Keys of the elements of `checks` and `unique`.

use super::{Shape, Table, key};

/// An element of `checks`.
pub static CHECK: Table = Table {
    what: "a check",
    keys: &[
        key(
            "that",
            Shape::Condition,
            "required",
            "that: ends_at > starts_at",
            "The condition that a record must meet. It also holds if it is neither true nor false, because a field has no value.",
        ),
        key(
            "field",
            Shape::Name,
            "the first field of the condition",
            "field: ends_at",
            "The field under which a request that breaks the check gets the message.",
        ),
        key(
            "message",
            Shape::Text,
            "`must satisfy` and the condition",
            "message: must be after the start",
            "The message, which completes \"this value …\".",
        ),
    ],
};

/// An element of `unique` as a mapping.
pub static UNIQUE: Table = Table {
    what: "a unique set",
    keys: &[
        key(
            "fields",
            Shape::Names,
            "required",
            "fields: [asset_id]",
            "The fields whose values must be unique together.",
        ),
        key(
            "where",
            Shape::Condition,
            "all records",
            "where: returned_at is null",
            "The condition of the records that count. It names fields of the record, but neither the time nor the caller.",
        ),
        key(
            "ignore_case",
            Shape::Flag,
            "`false`",
            "ignore_case: true",
            "Texts that differ in upper and lower case alone are the same.",
        ),
    ],
};
