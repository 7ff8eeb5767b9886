//! The abilities of an application.

use std::collections::BTreeSet;

use super::{Catalog, EXPLAIN_ABILITY, Entry};
use crate::ability::{ALL, ALL_READS, APPLICATION_READ, APPLICATION_WRITE};

impl Catalog {
    /// The same catalog with the abilities of paths that are no resources: `reports:read`.
    pub fn with_mounted_abilities(self, mounted_abilities: Vec<&'static str>) -> Catalog {
        Catalog { mounted_abilities, ..self }
    }

    /// Every ability that some endpoint needs, as the API names it: `products:read` and `products:write`.
    pub fn abilities(&self) -> BTreeSet<String> {
        let all = self.with_abilities().flat_map(|entry| {
            let ability = entry.meta.ability;
            [format!("{ability}:read"), format!("{ability}:write")]
        });
        all.chain([EXPLAIN_ABILITY.to_string()]).chain(self.mounted_abilities.iter().map(ToString::to_string)).collect()
    }

    /// Every ability that a token or a role can have: `*`, `*:read`, those of the application, those of
    /// [`Catalog::abilities`], and each verb alone, such as `products:create`.
    pub fn grantable_abilities(&self) -> BTreeSet<String> {
        let mut all = self.abilities();
        all.extend([ALL, ALL_READS, APPLICATION_READ, APPLICATION_WRITE].map(String::from));
        for entry in self.with_abilities() {
            all.extend(entry.verbs().map(|verb| format!("{}:{verb}", entry.meta.ability)));
        }
        all
    }

    /// Adds the abilities that `application:read` and `application:write` stand for.
    pub fn expand_abilities(&self, mut abilities: Vec<String>) -> Vec<String> {
        for (group, word) in [(APPLICATION_READ, "read"), (APPLICATION_WRITE, "write")] {
            if abilities.iter().any(|ability| ability == group) {
                let of_application = self.with_abilities().filter(|entry| !entry.behavior.is_platform);
                abilities.extend(of_application.map(|entry| format!("{}:{word}", entry.meta.ability)));
                let has_verb = |ability: &&&str| ability.rsplit(':').next() == Some(word);
                abilities.extend(self.mounted_abilities.iter().filter(has_verb).map(ToString::to_string));
            }
        }
        abilities
    }

    fn with_abilities(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_served() && !entry.is_attached())
    }
}
