//! Text of an operation that callers without a token may request.

/// The sentences on such requests, after others. `door` has the fields and the limit.
pub(super) fn without_token(door: &str) -> String {
    format!(
        " Without a token, anybody may create one with these fields, as often as the rate allows for each client address: {door}. \
         The answer then has only the `id`, and an `Idempotency-Key` has no effect."
    )
}
