//! Usage checks: options, hooks and events that no served operation uses.

pub(super) mod unreachable_options;
pub(super) mod unused_hooks;
