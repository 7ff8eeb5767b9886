//! Running hooks: their nesting depth, and the validation of the values that they set.

use sea_orm::Value;

use super::input;
use super::input::changeset::Changes;
use super::input::embedded;
use super::input::rules;
use super::route::SaveHook;
use crate::catalog::Entry;
use crate::error::{Error, Result};
use crate::meta::ResourceMeta;
use crate::ops::Context;

/// Maximum nesting depth of hooks. A hook that revises a record runs the hooks of that record.
const MAX_DEPTH: usize = 32;

/// A running hook or action, and the hooks that it is nested in.
#[derive(Debug)]
pub struct RunningHook<'a> {
    resource: &'a str,
    hook: &'a str,
    /// 1 for a hook that a request runs directly.
    depth: usize,
    outer: Option<&'a RunningHook<'a>>,
}

impl<'a> RunningHook<'a> {
    /// Enters a hook.
    ///
    /// # Errors
    /// When the nesting is too deep: hooks that revise each other without end would exhaust the stack and abort the
    /// process. The error names the nested hooks.
    pub fn enter<'b>(context: &Context<'b>, meta: &ResourceMeta, hook: &'b str) -> Result<RunningHook<'b>> {
        RunningHook { resource: meta.name, hook, depth: 1, outer: None }.nested_in(context.running())
    }

    /// Enters an `after_commit` hook, which counts as nested in the hook that made the change, at `outer_depth`.
    pub fn enter_after_commit(resource: &'a str, hook: &'a str, outer_depth: usize) -> Result<RunningHook<'a>> {
        RunningHook { resource, hook, depth: outer_depth + 1, outer: None }.check_depth()
    }

    fn nested_in(self, outer: Option<&'a RunningHook<'a>>) -> Result<RunningHook<'a>> {
        RunningHook { depth: outer.map_or(0, |outer| outer.depth) + 1, outer, ..self }.check_depth()
    }

    fn check_depth(self) -> Result<RunningHook<'a>> {
        match self.depth > MAX_DEPTH {
            true => Err(Error::internal(format!(
                "hooks are nested more than {MAX_DEPTH} deep, innermost first: {}",
                self.names()
            ))),
            false => Ok(self),
        }
    }

    pub fn depth(&self) -> usize {
        self.depth
    }

    /// `loan.after_save, book.after_save`: innermost first.
    fn names(&self) -> String {
        let hooks = std::iter::successors(Some(self), |running| running.outer);
        hooks.map(|running| format!("{}.{}", running.resource, running.hook)).collect::<Vec<_>>().join(", ")
    }

    /// Validates the values that the hook set as if a client had sent them, and normalizes them to the form that is
    /// stored. `before` has the values from before the hook ran.
    ///
    /// # Errors
    /// [`Error::Internal`], which names the hook and the field: the hook is wrong, and a client cannot correct it.
    pub fn verify(&self, before: &[Option<Value>], changes: &mut Changes) -> Result<()> {
        // Nothing is stored.
        if !changes.errors.is_empty() {
            return Ok(());
        }
        let set = changes.differing(before);
        for (field, value) in &set {
            match input::read_value_of(field, value) {
                Ok(value) => changes.set(field.name, value),
                Err(problem) => return Err(self.invalid_value(changes.meta.name, field.name, &problem)),
            }
        }
        Ok(())
    }

    /// [`RunningHook::verify`], and checks the embedded records that the hook set.
    ///
    /// # Errors
    /// [`Error::Internal`], which names the hook and the field; those of the database.
    pub async fn settle(&self, context: &Context<'_>, before: &[Option<Value>], changes: &mut Changes) -> Result<()> {
        self.verify(before, changes)?;
        embedded::check_drafted(context, self, changes).await
    }

    /// The error without the value, which may be a secret.
    fn invalid_value(&self, changed: &str, field: &str, problem: &str) -> Error {
        let RunningHook { resource, hook, .. } = self;
        Error::internal(format!("{resource}.{hook} sets {changed}.{field} to a value that {problem}"))
    }
}

/// Runs a hook that may change the record to store, and validates the values that it set.
///
/// # Errors
/// The hook's own, and those of [`RunningHook::enter`] and [`RunningHook::settle`].
pub(super) async fn save(
    context: &Context<'_>,
    entry: &Entry,
    (name, hook): (&str, SaveHook),
    changes: &mut Changes,
) -> Result<()> {
    let running = RunningHook::enter(context, entry.meta, name)?;
    let before = changes.values().to_vec();
    hook(&context.within_hook(&running), changes).await?;
    running.settle(context, &before, changes).await?;
    // A rule between two fields can fail with one value from the hook and one from the client.
    rules::check_record(context, changes).await
}
