//! Clients that go away in the middle: at which point of the work is chosen, and not left to chance.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Works until it has waited so many times, and leaves it there when what it waits for has come, as a server does whose
/// client is gone. What was answered by then.
pub async fn leave<F: Future>(work: F, waits: usize) -> Option<F::Output> {
    let (mut work, mut left) = (pin!(work), waits);
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}
