//! The callers of the matrix, and what each of them may see, told from the metadata alone.

use std::collections::BTreeSet;

use charter_runtime::catalog::{Catalog, Entry};
use serde_json::{Value, json};

use super::marker::{Marker, Role};
use crate::panel::{CookieClient, signed_in};
use crate::rights::{token_of, user_with};
use crate::support::{Client, Server};

/// Abilities that callers with a part of them do not share with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Abilities {
    All,
    Some(BTreeSet<String>),
}

/// One caller: a token, and a session of the same user if its rights are those of the user.
pub struct Caller {
    pub name: &'static str,
    pub client: Client,
    pub panel: Option<CookieClient>,
    pub user: Value,
    abilities: Abilities,
    is_admin: bool,
    /// True for the user to whom the hidden records belong.
    owns_hidden: bool,
}

impl Caller {
    pub fn is_admin(&self) -> bool {
        self.is_admin
    }

    pub fn owns_hidden(&self) -> bool {
        self.owns_hidden
    }

    /// True if the worlds differ in nothing that the caller may see.
    pub fn is_compared(&self) -> bool {
        !self.is_admin && !self.owns_hidden
    }

    /// True if the caller can read some resource, and its requests are therefore more than refusals.
    pub fn reads_anything(&self) -> bool {
        self.abilities != Abilities::Some(BTreeSet::new())
    }

    pub fn may_read(&self, catalog: &Catalog, entry: &Entry) -> bool {
        if entry.is_attached() {
            return catalog.attachables().any(|target| self.may_read(catalog, target));
        }
        match &self.abilities {
            Abilities::All => true,
            Abilities::Some(words) => words.contains(&format!("{}:read", entry.meta.ability)),
        }
    }

    /// True if the rules of rows show the caller a record.
    pub fn sees(&self, entry: &Entry, role: Role) -> bool {
        self.is_admin || !entry.is_restricted || self.owns_hidden == role.is_hidden()
    }

    /// True if the caller may read a field wherever it may read the record.
    pub fn may_read_field(&self, catalog: &Catalog, resource: &str, field: &str) -> bool {
        let entry = catalog.linked(resource);
        self.is_admin || entry.field(field).is_none_or(|field| entry.read_right(field).is_empty())
    }

    /// True if an answer to the caller may have the value.
    pub fn may_see(&self, catalog: &Catalog, marker: &Marker) -> bool {
        let entry = catalog.linked(marker.resource);
        self.may_read(catalog, catalog.linked(marker.holder))
            && self.sees(entry, marker.role)
            && self.may_read_field(catalog, marker.resource, marker.field)
    }
}

/// The users to whom the records of a world belong.
pub struct Owners {
    pub reader: Value,
    pub other: Value,
}

/// The abilities of every second resource, from the first or the second.
fn every_second(catalog: &Catalog, from: usize) -> BTreeSet<String> {
    let names: BTreeSet<&str> = catalog
        .entries()
        .iter()
        .filter(|entry| entry.is_served() && !entry.is_attached())
        .map(|entry| entry.meta.ability)
        .collect();
    let names = names.into_iter().skip(from).step_by(2);
    names.flat_map(|name| [format!("{name}:read"), format!("{name}:write")]).collect()
}

/// The callers, in the order in which they send each request: the ones that see most come first, so that a cached
/// answer would be shown to the next.
pub async fn callers(server: &Server) -> (Vec<Caller>, Owners) {
    let catalog = &server.state.catalog;
    let reader = user_with(server, &["*"], &["audit.read"]).await;
    let other = user_with(server, &["*"], &["audit.read"]).await;
    let part = every_second(catalog, 1);
    let words: Vec<&str> = part.iter().map(String::as_str).collect();
    let clerk = user_with(server, &words, &["audit.read"]).await;
    let nobody = user_with(server, &[], &[]).await;
    let narrow = every_second(catalog, 0);
    let words: Vec<&str> = narrow.iter().map(String::as_str).collect();
    let token = async |user: &Value, abilities: &[&str]| token_of(server, user, abilities).await.0.undescribed();
    let caller = |name, client, user: &Value, abilities| Caller {
        name,
        client,
        panel: None,
        user: user.clone(),
        abilities,
        is_admin: false,
        owns_hidden: false,
    };
    let admin = json!({ "id": 1 });
    let all = vec![
        Caller {
            panel: Some(signed_in(server, &admin).await),
            is_admin: true,
            ..caller("administrator", server.admin().undescribed(), &admin, Abilities::All)
        },
        Caller {
            owns_hidden: true,
            ..caller("owner of the hidden records", token(&other, &["*"]).await, &other, Abilities::All)
        },
        Caller {
            panel: Some(signed_in(server, &reader).await),
            ..caller("reader", token(&reader, &["*"]).await, &reader, Abilities::All)
        },
        caller("narrow token", token(&reader, &words).await, &reader, Abilities::Some(narrow)),
        Caller {
            panel: Some(signed_in(server, &clerk).await),
            ..caller("clerk", token(&clerk, &["*"]).await, &clerk, Abilities::Some(part))
        },
        Caller {
            panel: Some(signed_in(server, &nobody).await),
            ..caller("user without abilities", token(&nobody, &["*"]).await, &nobody, Abilities::Some(BTreeSet::new()))
        },
        caller("anonymous", server.anonymous().undescribed(), &Value::Null, Abilities::Some(BTreeSet::new())),
    ];
    (all, Owners { reader, other })
}
