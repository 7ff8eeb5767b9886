//! The caller of a request, with the checks of abilities and permissions.
//!
//! A request may do what both its token and its user's roles allow (the decisions, "Authentication, users, roles,
//! settings").

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::ability::{self, Ability};
use crate::error::{Error, Result};

/// The user that a token or session authenticates.
#[derive(Debug, Clone, Default)]
pub struct Principal {
    /// `None` for commands of the operator.
    pub user_id: Option<i64>,
    pub token_id: Option<i64>,
    pub is_admin: bool,
    pub is_active: bool,
    /// Anybody, who sent no token and creates a record by an open door.
    pub is_public: bool,
    pub role_ids: Vec<i64>,
    pub permissions: HashSet<String>,
    /// Abilities of the token; `*` for a session.
    pub abilities: Vec<String>,
    /// Abilities that the user's roles grant; `*` for an administrator.
    pub role_abilities: Vec<String>,
    /// Expiry of the token, which limits what it may grant.
    pub expires_at: Option<DateTime<Utc>>,
}

impl Principal {
    /// The operator at the command line, who may do everything.
    pub fn operator() -> Principal {
        let all = vec![ability::ALL.to_string()];
        Principal {
            is_admin: true,
            is_active: true,
            abilities: all.clone(),
            role_abilities: all,
            ..Principal::default()
        }
    }

    /// Anybody, without a token and without any right.
    pub fn public() -> Principal {
        Principal { is_public: true, ..Principal::default() }
    }

    /// Reports whether this principal may do everything that `before` could do.
    pub fn covers(&self, before: &Principal) -> bool {
        let is_permitted = !before.is_admin && before.permissions.is_subset(&self.permissions);
        let covers = |now: &[String], before: &[String]| before.iter().all(|one| ability::grants(now, one));
        (self.is_admin || is_permitted)
            && covers(&self.abilities, &before.abilities)
            && covers(&self.role_abilities, &before.role_abilities)
    }

    /// Reports whether the token and the user's roles grant the ability.
    pub fn has_ability(&self, ability: &str) -> bool {
        ability::grants(&self.abilities, ability) && ability::grants(&self.role_abilities, ability)
    }

    /// # Errors
    /// [`Error::AbilityMissing`] or [`Error::RoleAbilityMissing`].
    pub fn need_ability(&self, ability: &str) -> Result<()> {
        self.need(ability, ability)
    }

    /// Reports whether the caller may do this.
    pub fn may(&self, ability: Ability) -> bool {
        self.has_ability(&ability.narrow())
    }

    /// # Errors
    /// [`Error::AbilityMissing`] or [`Error::RoleAbilityMissing`] with the first ability, if the caller has none of them.
    pub fn need_any_ability(&self, abilities: &[Ability]) -> Result<()> {
        match abilities.first() {
            Some(first) if !abilities.iter().any(|ability| self.may(*ability)) => {
                // Of the others, one may be missing from the token and another from the roles.
                self.need(&first.narrow(), &first.to_string())
            }
            _ => Ok(()),
        }
    }

    fn need(&self, needed: &str, shown: &str) -> Result<()> {
        if !ability::grants(&self.abilities, needed) {
            Err(Error::AbilityMissing(shown.into()))
        } else if !ability::grants(&self.role_abilities, needed) {
            Err(Error::RoleAbilityMissing(shown.into()))
        } else {
            Ok(())
        }
    }

    /// Administrators have every permission.
    ///
    /// # Errors
    /// [`Error::PermissionMissing`] if no role of the user grants it.
    pub fn need_permission(&self, permission: &str) -> Result<()> {
        if self.has_permission(permission) { Ok(()) } else { Err(Error::PermissionMissing(permission.into())) }
    }

    /// Reports whether the caller has a right of a field: an ability if it has a colon, else a permission. An empty one
    /// is for everyone.
    pub fn has_right(&self, right: &str) -> bool {
        match right.contains(':') {
            true => self.has_ability(right),
            false => right.is_empty() || self.has_permission(right),
        }
    }

    pub fn has_permission(&self, permission: &str) -> bool {
        self.is_admin || self.permissions.contains(permission)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_and_the_roles_must_both_grant_an_ability() {
        let list = |ability: &str| vec![ability.to_string()];
        let caller = Principal { abilities: list("*"), role_abilities: list("products:read"), ..Principal::default() };
        assert!(caller.need_ability("products:read").is_ok());
        assert!(matches!(caller.need_ability("products:write"), Err(Error::RoleAbilityMissing(_))));
        let narrow = Principal { abilities: list("products:read"), role_abilities: list("*"), ..Principal::default() };
        assert!(matches!(narrow.need_ability("products:write"), Err(Error::AbilityMissing(_))));
    }

    #[test]
    fn the_operator_has_every_ability_and_permission() {
        assert!(Principal::operator().need_ability("products:write").is_ok());
        assert!(Principal::operator().need_permission("settings.manage").is_ok());
    }
}
