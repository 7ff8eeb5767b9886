//! Behaviour of activities: `completed` follows the status (specification, "States and transitions").

use charter_runtime::Result;
use charter_runtime::generated::*;
use sea_orm::ActiveValue::Set;

use super::generated::activity::{Behaviour, Entity};

/// The status of completed activities.
const COMPLETED: i32 = 2002;

impl Behaviour for Entity {
    async fn before_save(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if let Some(status) = draft.model.status_id.try_as_ref() {
            draft.model.completed = Set(*status == COMPLETED);
        }
        Ok(())
    }

    async fn complete(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        draft.model.status_id = Set(COMPLETED);
        Ok(())
    }
}
