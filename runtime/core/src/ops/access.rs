//! Access to resources: the abilities and the permission that an operation needs.

use crate::ability::{Ability, READ};
use crate::catalog::{Catalog, Entry};
use crate::error::Result;
use crate::meta::ActionMeta;
use crate::ops::endpoints::RouteOperation;
use crate::principal::Principal;

/// The rights that an operation needs.
#[derive(Debug, Clone)]
pub struct Access {
    /// The caller needs one of these.
    pub abilities: Vec<Ability>,
    /// The caller needs all of these.
    pub permissions: Vec<&'static str>,
}

impl Access {
    /// Access to read a resource.
    pub fn read(entry: &Entry) -> Access {
        let ability = Ability::read(entry.meta.ability);
        Access { abilities: vec![ability], permissions: entry.meta.read_permission.into_iter().collect() }
    }

    /// Access to change a resource. A write responds with the record, so it needs the permission to read where the
    /// resource has no permission to write.
    pub fn write(entry: &Entry, verb: &'static str) -> Access {
        let ability = Ability { resource: entry.meta.ability, verb };
        let permission = entry.meta.write_permission.or(entry.meta.read_permission);
        Access { abilities: vec![ability], permissions: permission.into_iter().collect() }
    }

    /// Access for a verb: `read`, or the name of another operation. Attachments need the ability of one of the resources
    /// that can have them; the resource of an attachment is known only once it is loaded.
    pub fn of(catalog: &Catalog, entry: &Entry, verb: &'static str) -> Access {
        let access = |entry: &Entry| if verb == READ { Access::read(entry) } else { Access::write(entry, verb) };
        if !entry.is_attached() {
            return access(entry);
        }
        let mut abilities: Vec<Ability> = catalog.attachables().flat_map(|target| access(target).abilities).collect();
        abilities.sort();
        abilities.dedup();
        Access { abilities, permissions: Vec::new() }
    }

    /// Access for an operation. An action can need a permission of its own.
    pub fn of_operation(catalog: &Catalog, entry: &Entry, call: RouteOperation) -> Access {
        let mut access = Access::of(catalog, entry, call.verb());
        if let RouteOperation::Action(ActionMeta { rule: Some(rule), .. }) = call {
            let own = rule.permission.filter(|permission| !access.permissions.contains(permission));
            access.permissions.extend(own);
        }
        access
    }

    /// # Errors
    /// 403 if the caller has none of the abilities, or lacks a permission.
    pub fn check(&self, caller: &Principal) -> Result<()> {
        caller.need_any_ability(&self.abilities)?;
        self.permissions.iter().try_for_each(|permission| caller.need_permission(permission))
    }

    pub fn allows(&self, caller: &Principal) -> bool {
        self.check(caller).is_ok()
    }

    /// The permissions as one text, several joined by `and`; `None` if it needs none.
    pub fn permissions_text(&self) -> Option<String> {
        (!self.permissions.is_empty()).then(|| self.permissions.join(" and "))
    }

    /// The abilities as the API names them: `products:write`, or several joined by `or`.
    pub fn abilities_text(&self) -> String {
        let mut names: Vec<String> = self.abilities.iter().map(ToString::to_string).collect();
        names.dedup();
        names.join(" or ")
    }
}
