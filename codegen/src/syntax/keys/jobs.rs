//! Keys of a background job.

use super::{Shape, Table, key};

/// A background job.
pub static JOB: Table = Table {
    what: "a job",
    keys: &[
        key(
            "every",
            Shape::Text,
            "required",
            "every: 5m",
            "The interval, from 10 seconds to 366 days: a number with `s`, `m`, `h` or `d`. One process runs the job once in each interval. Intervals are counted from 1970-01-01T00:00:00Z.",
        ),
        key("attempts", Shape::Count, "5", "attempts: 3", "The attempts after which a run has failed, 1 to 20."),
        key(
            "timeout",
            Shape::Text,
            "`30s`",
            "timeout: 5m",
            "The maximum duration of an attempt, from 1 second to 24 hours.",
        ),
        key(
            "external",
            Shape::Flag,
            "`false`",
            "external: true",
            "The function waits for another server, and runs without a transaction.",
        ),
    ],
};
