//! A resource's own code while it runs: how deep hooks are within one another, and the check of what one sets.

use sea_orm::Value;

use super::input;
use super::input::changeset::Changes;
use super::input::rules;
use super::route::SaveHook;
use crate::catalog::Entry;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::meta::ResourceMeta;

/// Hooks are within one another at most so deep: one that revises a record runs the hooks of that record.
const MAX_DEPTH: usize = 32;

/// A hook or an action that is running, and those that led to it.
#[derive(Debug)]
pub struct RunningHook<'a> {
    resource: &'a str,
    hook: &'a str,
    /// 1 for one that a request runs.
    depth: usize,
    above: Option<&'a RunningHook<'a>>,
}

impl<'a> RunningHook<'a> {
    /// A hook that is about to run.
    ///
    /// # Errors
    /// When it would be too deep: hooks that revise each other without end would exhaust the stack, and end the process. The
    /// error names them.
    pub fn enter<'b>(context: &Context<'b>, meta: &ResourceMeta, hook: &'b str) -> Result<RunningHook<'b>> {
        RunningHook { resource: meta.name, hook, depth: 1, above: None }.below(context.running())
    }

    /// One that runs when the change that `led` made stands, which is as deep as if it ran within that.
    pub fn later(resource: &'a str, hook: &'a str, led: usize) -> Result<RunningHook<'a>> {
        RunningHook { resource, hook, depth: led + 1, above: None }.checked()
    }

    fn below(self, above: Option<&'a RunningHook<'a>>) -> Result<RunningHook<'a>> {
        RunningHook { depth: above.map_or(0, |above| above.depth) + 1, above, ..self }.checked()
    }

    fn checked(self) -> Result<RunningHook<'a>> {
        match self.depth > MAX_DEPTH {
            true => Err(Error::internal(format!(
                "hooks run within one another more than {MAX_DEPTH} deep; the innermost first: {}",
                self.names()
            ))),
            false => Ok(self),
        }
    }

    pub fn depth(&self) -> usize {
        self.depth
    }

    /// `loan.after_save, book.after_save`: the innermost first.
    fn names(&self) -> String {
        let around = std::iter::successors(Some(self), |running| running.above);
        around.map(|running| format!("{}.{}", running.resource, running.hook)).collect::<Vec<_>>().join(", ")
    }

    /// Checks the values that it set as if a client had given them, and stores them in the form in which a client's are
    /// stored. `before`: what was to be stored when it began.
    ///
    /// # Errors
    /// [`Error::Internal`], which names the place: it is the code that is wrong, and no client can put that right.
    pub fn verify(&self, before: &[Option<Value>], changes: &mut Changes) -> Result<()> {
        // Nothing will be stored.
        if !changes.errors.is_empty() {
            return Ok(());
        }
        let set = changes.differing(before);
        for (field, value) in &set {
            match input::read_value_of(field, value) {
                Ok(value) => changes.set(field.name, value),
                Err(problem) => return Err(self.fault(field.name, &problem)),
            }
        }
        Ok(())
    }

    /// The values themselves may be secrets.
    fn fault(&self, field: &str, problem: &str) -> Error {
        let RunningHook { resource, hook, .. } = self;
        Error::internal(format!("{resource}.{hook} sets {resource}.{field} to a value that {problem}"))
    }
}

/// Runs a hook that may change what is stored, and checks what it set.
///
/// # Errors
/// Its own, and those of [`Running::enter`] and [`Running::verify`].
pub async fn save(
    context: &Context<'_>,
    entry: &Entry,
    (name, hook): (&str, SaveHook),
    changes: &mut Changes,
) -> Result<()> {
    let running = RunningHook::enter(context, entry.meta, name)?;
    let before = changes.values().to_vec();
    hook(&context.within_hook(&running), changes).await?;
    running.verify(&before, changes)?;
    // Of two fields that contradict each other one may be the client's.
    rules::check_record(changes)
}
