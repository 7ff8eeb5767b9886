//! Behaviour of activities: `completed` follows the status (specification, "States and transitions").

use charter_runtime::Result;
use charter_runtime::generated::*;
use sea_orm::ActiveValue::Set;

use super::generated::activity::{Behaviour, Entity, StatusId};

impl Behaviour for Entity {
    async fn before_save(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if let Some(status) = draft.model.status_id.try_as_ref() {
            draft.model.completed = Set(*status == StatusId::Completed);
        }
        Ok(())
    }

    async fn complete(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        draft.model.status_id = Set(StatusId::Completed);
        Ok(())
    }
}
