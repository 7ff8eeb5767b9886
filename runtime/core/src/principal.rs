//! The caller of a request, with the checks of abilities and permissions.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::error::{Error, Result};

/// The user that a token or session authenticates. The abilities and the user's permissions must both allow an
/// operation.
#[derive(Debug, Clone, Default)]
pub struct Principal {
    /// `None` for commands of the operator.
    pub user_id: Option<i64>,
    pub token_id: Option<i64>,
    pub is_admin: bool,
    pub is_active: bool,
    pub role_ids: Vec<i64>,
    pub permissions: HashSet<String>,
    pub abilities: Vec<String>,
    /// Expiry of the token, which limits what it may grant.
    pub expires_at: Option<DateTime<Utc>>,
}

/// Reports whether the list has the ability, or `*` for all.
pub fn grants_ability(abilities: &[String], ability: &str) -> bool {
    abilities.iter().any(|held| held == "*" || held == ability)
}

impl Principal {
    /// The operator at the command line, who may do everything.
    pub fn operator() -> Principal {
        Principal { is_admin: true, is_active: true, abilities: vec!["*".into()], ..Principal::default() }
    }

    /// Reports whether this principal may do everything that `before` could do.
    pub fn covers(&self, before: &Principal) -> bool {
        let is_permitted = !before.is_admin && before.permissions.is_subset(&self.permissions);
        (self.is_admin || is_permitted) && before.abilities.iter().all(|ability| self.has_ability(ability))
    }

    pub fn has_ability(&self, ability: &str) -> bool {
        grants_ability(&self.abilities, ability)
    }

    /// # Errors
    /// [`Error::AbilityMissing`] if the token does not have it.
    pub fn need_ability(&self, ability: &str) -> Result<()> {
        if self.has_ability(ability) { Ok(()) } else { Err(Error::AbilityMissing(ability.into())) }
    }

    /// # Errors
    /// [`Error::AbilityMissing`] with the first ability if the token has none of them.
    pub fn need_any_ability(&self, abilities: &[String]) -> Result<()> {
        match abilities.first() {
            Some(first) if !abilities.iter().any(|ability| self.has_ability(ability)) => {
                Err(Error::AbilityMissing(first.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Administrators have every permission.
    ///
    /// # Errors
    /// [`Error::PermissionMissing`] if no role of the user grants it.
    pub fn need_permission(&self, permission: &str) -> Result<()> {
        if self.is_admin || self.permissions.contains(permission) {
            Ok(())
        } else {
            Err(Error::PermissionMissing(permission.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_includes_every_ability_and_administrators_have_every_permission() {
        let caller = Principal { abilities: vec!["products:read".into()], ..Principal::default() };
        assert!(caller.need_ability("products:read").is_ok());
        assert!(caller.need_ability("products:write").is_err());
        assert!(caller.need_permission("settings.manage").is_err());
        assert!(Principal::operator().need_ability("products:write").is_ok());
        assert!(Principal::operator().need_permission("settings.manage").is_ok());
    }
}
