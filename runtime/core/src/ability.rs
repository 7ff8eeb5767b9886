//! Abilities, such as `products:read`: the words that tokens and roles list, and what each grants.

use std::fmt;

/// Grants everything.
pub const ALL: &str = "*";
/// Grants every read.
pub const ALL_READS: &str = "*:read";
/// Stands for the reads of all resources that the application declares, present and future.
pub const APPLICATION_READ: &str = "application:read";
/// Stands for the writes of all resources that the application declares, present and future.
pub const APPLICATION_WRITE: &str = "application:write";
/// The verb of every read.
pub const READ: &str = "read";

/// The ability that an operation needs: what it does to which resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ability {
    /// The prefix of the resource's abilities: `products`.
    pub resource: &'static str,
    /// `read`, `create`, `update`, `delete`, `restore`, or the name of an action.
    pub verb: &'static str,
}

impl Ability {
    pub fn read(resource: &'static str) -> Ability {
        Ability { resource, verb: READ }
    }

    /// The narrowest ability that grants it: `products:create`.
    pub fn narrow(self) -> String {
        format!("{}:{}", self.resource, self.verb)
    }
}

/// The ability as the API names it: `products:read` or `products:write`.
impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.resource, if self.verb == READ { READ } else { "write" })
    }
}

/// Reports whether a list of abilities grants one.
///
/// `*` grants all. `*:read` grants every read. `products:write` grants `products:create`, `products:update` and every
/// other verb but `products:read`.
pub fn grants(list: &[String], needed: &str) -> bool {
    let (resource, verb) = needed.split_once(':').unwrap_or((needed, ""));
    list.iter().any(|one| {
        one == ALL
            || one == needed
            || verb == READ && one == ALL_READS
            || verb != READ && one.strip_suffix(":write") == Some(resource)
    })
}

/// The words of which [`grants`] accepts each for an ability, for conditions in SQL. `is_application` adds the word that
/// stands for all resources of the application.
pub fn granting_words(needed: &str, is_application: bool) -> Vec<String> {
    let (resource, verb) = needed.split_once(':').unwrap_or((needed, ""));
    let group = if verb == READ { APPLICATION_READ } else { APPLICATION_WRITE };
    let mut words = vec![ALL.to_string(), needed.to_string()];
    words.push(if verb == READ { ALL_READS.into() } else { format!("{resource}:write") });
    words.extend(is_application.then(|| group.to_string()));
    words
}

#[cfg(test)]
mod tests {
    use super::{granting_words, grants};

    fn granted(list: &[&str], needed: &str) -> bool {
        grants(&list.iter().map(ToString::to_string).collect::<Vec<_>>(), needed)
    }

    #[test]
    fn star_grants_everything_and_star_read_every_read() {
        assert!(granted(&["*"], "products:delete") && granted(&["*"], "*") && granted(&["*"], "*:read"));
        assert!(granted(&["*:read"], "products:read") && granted(&["*:read"], "*:read"));
        assert!(!granted(&["*:read"], "products:write") && !granted(&["*:read"], "*"));
    }

    #[test]
    fn write_grants_every_verb_of_its_resource_but_read() {
        assert!(granted(&["products:write"], "products:create") && granted(&["products:write"], "products:write"));
        assert!(!granted(&["products:write"], "products:read") && !granted(&["products:write"], "members:create"));
    }

    #[test]
    fn each_granting_word_grants_the_ability() {
        for needed in ["products:read", "products:write", "products:create"] {
            let words = granting_words(needed, false);
            assert!(words.iter().all(|word| grants(std::slice::from_ref(word), needed)), "{needed}: {words:?}");
        }
        assert!(granting_words("products:read", true).contains(&"application:read".to_string()));
        assert!(granting_words("products:create", true).contains(&"application:write".to_string()));
    }

    #[test]
    fn a_single_verb_grants_nothing_else() {
        assert!(granted(&["products:create"], "products:create"));
        assert!(!granted(&["products:create"], "products:update") && !granted(&["products:create"], "products:write"));
    }
}
