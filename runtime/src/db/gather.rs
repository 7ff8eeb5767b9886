//! What is asked at the same time is done together: while statements are under way, those who want the same of other
//! records wait for one of them to end, and go together with the next.
//!
//! Nobody waits for company: who comes while no statement is under way goes at once, and alone. Each is answered from a
//! statement that began after it came.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use sea_orm::DbErr;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::{Error, Result};

/// So many statements of one kind are under way at once.
const LANES: usize = 1;
/// So many go together at most.
pub const MOST: usize = 64;
/// A statement that takes longer, perhaps because it waits for another transaction, no longer keeps others waiting.
const PATIENCE: Duration = Duration::from_millis(5);

/// Those who want something of one kind, by kind: the text of the statement that does it.
pub struct Gather<I, O> {
    lanes: Mutex<HashMap<Arc<str>, Lane<I, O>>>,
    patience: Duration,
}

struct Lane<I, O> {
    under_way: usize,
    waiting: Vec<Waiting<I, O>>,
}

struct Waiting<I, O> {
    item: I,
    answer: oneshot::Sender<Result<O>>,
}

impl<I, O> Default for Gather<I, O> {
    fn default() -> Self {
        Gather { lanes: Mutex::default(), patience: PATIENCE }
    }
}

impl<I, O> std::fmt::Debug for Gather<I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gather").finish_non_exhaustive()
    }
}

impl<I: Clone + Send + 'static, O: Send + 'static> Gather<I, O> {
    /// What `run` answers for an item: it is given several and answers one for each, in their order. It runs to its end,
    /// whoever still waits. Where the database refuses what several want, each is tried alone.
    ///
    /// # Errors
    /// What `run` fails with for this item alone, or for all because the database is away.
    pub async fn ask<R, F>(self: &Arc<Self>, kind: Arc<str>, item: I, run: R) -> Result<O>
    where
        R: Fn(Vec<I>) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Vec<O>, DbErr>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        if self.join(&kind, Waiting { item, answer }) {
            tokio::spawn(go(Place { gather: self.clone(), kind, left: false }, Arc::new(run)));
        }
        answered.await.map_err(Error::internal)?
    }

    /// Whether somebody has to go.
    fn join(&self, kind: &Arc<str>, waiting: Waiting<I, O>) -> bool {
        let mut lanes = self.lock();
        let lane = match lanes.entry(kind.clone()) {
            Entry::Occupied(lane) => lane.into_mut(),
            Entry::Vacant(none) => none.insert(Lane { under_way: 0, waiting: Vec::new() }),
        };
        lane.waiting.push(waiting);
        let goes = lane.under_way < LANES;
        lane.under_way += usize::from(goes);
        goes
    }
}

impl<I, O> Gather<I, O> {
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Lane<I, O>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of those under way.
struct Place<I, O> {
    gather: Arc<Gather<I, O>>,
    kind: Arc<str>,
    left: bool,
}

impl<I, O> Place<I, O> {
    /// Those who go next; nobody where none is left to wait, and then this is no longer under way.
    fn next(&mut self) -> Vec<Waiting<I, O>> {
        let mut lanes = self.gather.lock();
        let Some(lane) = lanes.get_mut(&self.kind) else { return Vec::new() };
        lane.waiting.retain(|waiting| !waiting.answer.is_closed());
        let next: Vec<_> = lane.waiting.drain(..lane.waiting.len().min(MOST)).collect();
        if next.is_empty() {
            self.left = true;
            leave(&mut lanes, &self.kind);
        }
        next
    }
}

/// Whoever waits when the last one ends without having been asked for more, is told so by the end of the channel.
impl<I, O> Drop for Place<I, O> {
    fn drop(&mut self) {
        if !self.left {
            leave(&mut self.gather.lock(), &self.kind);
        }
    }
}

fn leave<I, O>(lanes: &mut HashMap<Arc<str>, Lane<I, O>>, kind: &Arc<str>) {
    if let Some(lane) = lanes.get_mut(kind) {
        lane.under_way -= 1;
        if lane.under_way == 0 {
            lanes.remove(kind);
        }
    }
}

/// Goes again and again until nobody waits.
async fn go<I, O, R, F>(mut place: Place<I, O>, run: Arc<R>)
where
    I: Clone + Send + 'static,
    O: Send + 'static,
    R: Fn(Vec<I>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Vec<O>, DbErr>> + Send + 'static,
{
    // Those who are about to come go too.
    tokio::task::yield_now().await;
    loop {
        let those = place.next();
        if those.is_empty() {
            return;
        }
        let items: Vec<I> = those.iter().map(|waiting| waiting.item.clone()).collect();
        let mut work = pin!(run(items));
        let done = timeout(place.gather.patience, &mut work).await;
        let slow = done.is_err();
        let refused = matches!(&done, Ok(Err(_))) && those.len() > 1;
        if slow || refused {
            pass_on(&mut place, &run);
        }
        let done = match done {
            Ok(done) => done,
            Err(_) => work.await,
        };
        settle(those, done, &run).await;
        if place.left {
            return;
        }
    }
}

/// Lets another go in this one's place.
fn pass_on<I, O, R, F>(place: &mut Place<I, O>, run: &Arc<R>)
where
    I: Clone + Send + 'static,
    O: Send + 'static,
    R: Fn(Vec<I>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Vec<O>, DbErr>> + Send + 'static,
{
    place.left = true;
    let next = Place { gather: place.gather.clone(), kind: place.kind.clone(), left: false };
    tokio::spawn(boxed(next, run.clone()));
}

/// [`go`], which calls itself this way.
fn boxed<I, O, R, F>(place: Place<I, O>, run: Arc<R>) -> futures_util::future::BoxFuture<'static, ()>
where
    I: Clone + Send + 'static,
    O: Send + 'static,
    R: Fn(Vec<I>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Vec<O>, DbErr>> + Send + 'static,
{
    Box::pin(go(place, run))
}

async fn settle<I, O, R, F>(those: Vec<Waiting<I, O>>, done: Result<Vec<O>, DbErr>, run: &Arc<R>)
where
    I: Clone + Send + 'static,
    O: Send + 'static,
    R: Fn(Vec<I>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Vec<O>, DbErr>> + Send + 'static,
{
    let failed = match done {
        Ok(answers) => {
            // Who no longer waits needs none.
            those.into_iter().zip(answers).for_each(|(waiting, answer)| drop(waiting.answer.send(Ok(answer))));
            return;
        }
        Err(error) => error,
    };
    if those.len() > 1 && is_refused(&failed) {
        let alone = those.into_iter().map(|Waiting { item, answer }| async move {
            let one = run(vec![item]).await.map_err(Error::from);
            let one = one.and_then(|mut one| one.pop().ok_or_else(|| Error::internal("nothing was answered")));
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

/// Whether the database was there, and did nothing of what it was asked.
fn is_refused(error: &DbErr) -> bool {
    match error {
        DbErr::Exec(sea_orm::RuntimeErr::SqlxError(error)) | DbErr::Query(sea_orm::RuntimeErr::SqlxError(error)) => {
            error.as_database_error().is_some()
        }
        // It was not even sent.
        DbErr::Type(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
