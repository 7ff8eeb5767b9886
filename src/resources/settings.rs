//! Behaviour of settings: the time zone must exist, nobody makes a role the default that they could not assign, and new users are
//! members.

use std::str::FromStr;

use charter_runtime::Result;
use charter_runtime::auth::role;
use charter_runtime::generated::*;
use chrono_tz::Tz;
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::generated::settings::{Behaviour, Column, Entity};

impl Behaviour for Entity {
    async fn check(context: &Context<'_>, draft: &mut Draft<Entity>) -> Result<()> {
        if draft.model.timezone.try_as_ref().is_some_and(|name| Tz::from_str(name).is_err()) {
            draft.error(Column::Timezone, "is no time zone such as Europe/London");
        }
        let before = draft.before.as_ref().and_then(|settings| settings.default_role_id);
        let role = draft.model.default_role_id.try_as_ref().copied().flatten().filter(|role| Some(*role) != before);
        if let Some((name, what)) = role::exceeding(context, role.as_slice()).await? {
            draft.error(Column::DefaultRoleId, format!("cannot be the role {name}: you do not have its {what}"));
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
