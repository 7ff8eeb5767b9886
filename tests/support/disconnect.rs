//! Simulates client disconnects at chosen points of a task.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Polls a future at most `polls` times and then drops it, as a server does when its client disconnects. Returns its
/// output if it completed.
pub async fn poll_times<F: Future>(work: F, polls: usize) -> Option<F::Output> {
    let (mut work, mut left) = (pin!(work), polls);
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}
