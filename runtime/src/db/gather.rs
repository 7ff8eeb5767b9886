//! What is asked at the same time is done together: while a statement is under way, those who want the same of other
//! records wait for it to end, and go together with the next.
//!
//! Nobody waits for company: who comes while no statement is under way goes at once, and alone. Each is answered from a
//! statement that began after it came. Of many who wait half go, so that the database has work while the others are answered.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use sea_orm::{DbErr, RuntimeErr};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::held::{Kept, Spare};
use crate::error::{Error, Result};

/// So few go all at once; of more half do. All who went together come back together: where all did, the database would rest
/// while they are answered, and they while it works.
const FEW: usize = 12;
/// So many go together at most.
const MOST: usize = 64;
/// So many bytes of what they give go together at most.
const MOST_BYTES: usize = 1 << 20;
/// A statement that takes longer, perhaps because it waits for another transaction, no longer keeps others waiting.
const PATIENCE: Duration = Duration::from_millis(5);

/// Those who want something of one kind, by kind: the text of the statement that does it.
pub struct Gather<I, O> {
    /// Who waits for the statement of a kind that is under way. Where none is there is nothing.
    waiting: Mutex<Kinds<I, O>>,
    patience: Duration,
    spare: Arc<Spare>,
}

type Kinds<I, O> = HashMap<Arc<str>, Vec<Waiting<I, O>>>;

/// What is asked for.
pub trait Item: Clone + Send + 'static {
    /// How many of those who wait go.
    fn share(waiting: usize) -> usize {
        waiting.div_ceil(2).clamp(FEW, MOST)
    }

    /// About how many bytes it gives.
    fn bytes(&self) -> usize;
}

/// Does what several want, and answers one for each. It is given the connection of the statement before, and says what is
/// kept for the next.
type Run<I, O> = Arc<dyn Fn(Vec<I>, Kept) -> BoxFuture<'static, Result<(Vec<O>, Kept), DbErr>> + Send + Sync>;

struct Waiting<I, O> {
    item: I,
    answer: oneshot::Sender<Result<O>>,
}

impl<I, O> Default for Gather<I, O> {
    fn default() -> Self {
        Gather { waiting: Mutex::default(), patience: PATIENCE, spare: Arc::default() }
    }
}

impl<I, O> std::fmt::Debug for Gather<I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gather").finish_non_exhaustive()
    }
}

impl<I, O> Gather<I, O> {
    /// With connections that others may use too.
    pub fn sharing(spare: &Arc<Spare>) -> Self {
        Gather { spare: spare.clone(), ..Gather::default() }
    }
}

impl<I: Item, O: Send + 'static> Gather<I, O> {
    /// What `run` answers for an item: it is given several and answers one for each, in their order. It runs to its end,
    /// whoever still waits. Where the database refuses what several want, each who still waits is tried alone.
    ///
    /// # Errors
    /// What `run` fails with for this item alone; or for all, where it is not what they want that the database refuses.
    pub async fn ask<R, F>(self: &Arc<Self>, kind: Arc<str>, item: I, run: R) -> Result<O>
    where
        R: Fn(Vec<I>, Kept) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(Vec<O>, Kept), DbErr>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        if self.join(&kind, Waiting { item, answer }) {
            let run: Run<I, O> = Arc::new(move |items, kept| Box::pin(run(items, kept)));
            tokio::spawn(Place { gather: self.clone(), kind, left: false }.go(run));
        }
        answered.await.map_err(Error::internal)?
    }

    /// Whether somebody has to go.
    fn join(&self, kind: &Arc<str>, waiting: Waiting<I, O>) -> bool {
        match self.lock().entry(kind.clone()) {
            Entry::Occupied(mut others) => {
                others.get_mut().push(waiting);
                false
            }
            Entry::Vacant(none) => {
                none.insert(vec![waiting]);
                true
            }
        }
    }
}

impl<I, O> Gather<I, O> {
    fn lock(&self) -> MutexGuard<'_, Kinds<I, O>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one that is under way for a kind.
struct Place<I, O> {
    gather: Arc<Gather<I, O>>,
    kind: Arc<str>,
    left: bool,
}

impl<I: Item, O: Send + 'static> Place<I, O> {
    /// Those who go next; nobody where none is left to wait, and then nothing is under way.
    fn next(&mut self) -> Vec<Waiting<I, O>> {
        let mut kinds = self.gather.lock();
        let Some(waiting) = kinds.get_mut(&self.kind) else { return Vec::new() };
        waiting.retain(|one| !one.answer.is_closed());
        let mut bytes = 0;
        let fits = |one: &&Waiting<I, O>| {
            let first = bytes == 0;
            bytes += one.item.bytes();
            first || bytes <= MOST_BYTES
        };
        let count = waiting.iter().take(I::share(waiting.len())).take_while(fits).count();
        let next: Vec<_> = waiting.drain(..count).collect();
        if next.is_empty() {
            self.left = true;
            kinds.remove(&self.kind);
        }
        next
    }

    /// Goes again and again until nobody waits.
    fn go(mut self, run: Run<I, O>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            // Those who are about to come go too.
            tokio::task::yield_now().await;
            let mut kept = None;
            while !self.left {
                let those = self.next();
                if those.is_empty() {
                    break;
                }
                let connection = kept.take().or_else(|| self.gather.spare.take());
                let mut work = run(those.iter().map(|waiting| waiting.item.clone()).collect(), connection);
                let done = timeout(self.gather.patience, &mut work).await;
                let refused = matches!(&done, Ok(Err(_))) && those.len() > 1;
                if done.is_err() || refused {
                    self.pass_on(&run);
                }
                let done = match done {
                    Ok(done) => done,
                    Err(_) => work.await,
                };
                let done = done.map(|(answers, connection)| {
                    kept = connection;
                    answers
                });
                settle(those, done, &run).await;
            }
            self.gather.spare.rest(kept).await;
        })
    }

    /// Lets another go in this one's place.
    fn pass_on(&mut self, run: &Run<I, O>) {
        self.left = true;
        let next = Place { gather: self.gather.clone(), kind: self.kind.clone(), left: false };
        tokio::spawn(next.go(run.clone()));
    }
}

/// Whoever waits when the last one ends without having been asked for more, is told so by the end of the channel.
impl<I, O> Drop for Place<I, O> {
    fn drop(&mut self) {
        if !self.left {
            self.gather.lock().remove(&self.kind);
        }
    }
}

async fn settle<I, O>(those: Vec<Waiting<I, O>>, done: Result<Vec<O>, DbErr>, run: &Run<I, O>) {
    let failed = match done {
        Ok(answers) => {
            // Who no longer waits needs none.
            those.into_iter().zip(answers).for_each(|(waiting, answer)| drop(waiting.answer.send(Ok(answer))));
            return;
        }
        Err(error) => error,
    };
    if those.len() > 1 && is_refused(&failed) {
        let wanted = those.into_iter().filter(|waiting| !waiting.answer.is_closed());
        let alone = wanted.map(|Waiting { item, answer }| async move {
            let one = run(vec![item], None).await.map_err(Error::from);
            let one = one.and_then(|(mut one, _)| one.pop().ok_or_else(|| Error::internal("nothing was answered")));
            drop(answer.send(one));
        });
        join_all(alone).await;
        return;
    }
    let error = Error::from(failed);
    let mut those = those.into_iter();
    let first = those.next();
    for Waiting { answer, .. } in those {
        let same = match &error {
            Error::Unavailable(what) => Error::Unavailable(what.clone()),
            other => Error::internal(other),
        };
        drop(answer.send(Err(same)));
    }
    if let Some(Waiting { answer, .. }) = first {
        drop(answer.send(Err(error)));
    }
}

/// Whether the database said that it cannot be as one of those wants it, and so has done nothing: values that it does not
/// take, rows that stand in the way, a deadlock, a limit. What took too long, or was cut off, is not that: it may have
/// happened, and nobody waits for it any more.
fn is_refused(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) = error else {
        return false;
    };
    let code = error.as_database_error().and_then(|error| error.code());
    // The classes of SQLSTATE: data exception, integrity constraint violation, transaction rollback, program limit.
    code.is_some_and(|code| ["22", "23", "40", "54"].iter().any(|class| code.starts_with(class)))
}

#[cfg(test)]
mod tests;
