//! Behaviour of settings: the time zone must exist, and new users are members.

use std::str::FromStr;

use charter_runtime::Result;
use charter_runtime::auth::role;
use charter_runtime::generated::*;
use chrono_tz::Tz;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::generated::settings::{Behaviour, Column, Entity};

impl Behaviour for Entity {
    async fn check(_context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.model.timezone.try_as_ref().is_some_and(|name| Tz::from_str(name).is_err()) {
            draft.error(Column::Timezone, "is no time zone such as Europe/London");
        }
        Ok(())
    }

    async fn before_save(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.before.is_none() {
            let member = role::Entity::find().filter(role::Column::Name.eq(role::MEMBER)).one(context.db()).await?;
            draft.model.default_role_id = Set(member.map(|role| role.id));
        }
        Ok(())
    }
}
