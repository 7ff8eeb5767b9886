//! Behaviour of settings: the time zone must exist.

use std::str::FromStr;

use charter_runtime::Result;
use charter_runtime::generated::*;
use chrono_tz::Tz;

use super::generated::settings::{Behaviour, Entity};

impl Behaviour for Entity {
    async fn check(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.model.timezone.try_as_ref().is_some_and(|name| Tz::from_str(name).is_err()) {
            draft.error("timezone", "is no time zone such as Europe/London");
        }
        Ok(())
    }
}
