//! The resources of an application, linked: every name that metadata mentions is looked up once, at the start.

mod events;
mod link;
mod required_parents;
pub mod validate;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

pub use required_parents::RequiredParents;
use sha2::{Digest, Sha256};

use crate::db::fold;
use crate::error::Error;
use crate::meta::{FieldMeta, IncludeMeta, IncludeTarget, Kind, Operation, ResourceMeta, Shown};
use crate::ops::Route;
use crate::ops::list::explain;
use crate::query::hint;
use crate::record::Shape;

/// All resources of an application.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Entry>,
    by_name: HashMap<&'static str, usize>,
    by_plural: HashMap<&'static str, usize>,
    by_type: HashMap<&'static str, usize>,
    /// A digest of all metadata: what another version of the application may answer otherwise.
    fingerprint: [u8; 32],
}

/// One resource with what was derived from its metadata.
#[derive(Debug)]
pub struct Entry {
    pub meta: &'static ResourceMeta,
    pub route: Route,
    /// Fields by name.
    fields: HashMap<&'static str, usize>,
    /// The shape of a list item, and of the single record.
    pub list: Shape,
    pub single: Shape,
    /// The other end of each derived field: by field name.
    derived: HashMap<&'static str, Source>,
    /// What must hold for a record to be there at all.
    pub standing: Option<Arc<RequiredParents>>,
    /// What each of its records belongs to: it is seen where one of these is.
    pub parents: Vec<Parent>,
    /// Whether an owner or a scope hides some records from callers who may read the resource: its own, or that of a parent.
    pub is_restricted: bool,
    /// `SELECT t."id", ...`: every column of its own.
    pub stored: String,
}

/// The record without which another one is not seen: the one that its path names, or that it is embedded in.
#[derive(Debug, Clone, Copy)]
pub struct Parent {
    /// The field that refers to it.
    pub field: &'static FieldMeta,
    pub resource: &'static str,
}

/// Where the value of a field comes from.
#[derive(Debug, Clone)]
pub struct Source {
    /// The reference field that leads to the table that holds it; none when it is the record's own.
    via: Option<&'static str>,
    /// The column there.
    pub column: &'static str,
    /// What it holds.
    pub field: &'static FieldMeta,
    /// The labels, when the value is a code and its label is meant.
    pub labels: Option<&'static [(i32, &'static str)]>,
    /// The record that holds it, when it is another.
    pub join: Option<Join>,
}

/// A record that a reference leads to.
#[derive(Debug, Clone)]
pub struct Join {
    pub meta: &'static ResourceMeta,
    /// What must hold for it to be there at all.
    pub standing: Option<Arc<RequiredParents>>,
}

impl Catalog {
    /// Links the resources.
    ///
    /// # Errors
    /// Every name that leads nowhere, in one text: a resource declared twice, a reference to none. Where there are none,
    /// paths that meet and patterns that are none.
    pub fn link(routes: Vec<Route>) -> Result<Catalog, String> {
        let mut problems = Vec::new();
        let metas: HashMap<&str, &'static ResourceMeta> = routes.iter().map(|r| (r.meta.name, r.meta)).collect();
        let standing = |meta: &ResourceMeta| Some((meta.name, Arc::new(link::standing(meta, &metas)?)));
        let standings: HashMap<&str, Arc<RequiredParents>> = metas.values().filter_map(|meta| standing(meta)).collect();
        let (mut by_name, mut by_plural, mut by_type) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut types = HashSet::new();
        let mut entries = Vec::with_capacity(routes.len());
        for (index, route) in routes.into_iter().enumerate() {
            let meta = route.meta;
            if by_name.insert(meta.name, index).is_some() {
                problems.push(format!("the resource `{}` is declared twice", meta.name));
            }
            if by_plural.insert(meta.plural, index).is_some() {
                problems.push(format!("two resources have the plural `{}`", meta.plural));
            }
            by_type.insert(meta.type_name, index);
            // As clients write it, who may leave its capitals out and part it with `_`.
            if !types.insert(fold(&meta.type_name.replace('_', ""))) {
                problems.push(format!("two resources have the type `{}`, in whichever case", meta.type_name));
            }
            let derived = link::derived(meta, &metas, &standings, &mut problems);
            link::check(meta, &metas, &mut problems);
            let fields = meta.fields.iter().enumerate().map(|(i, f)| (f.name, i)).collect();
            let shown = |shape: Shown| {
                let wanted =
                    |f: &&FieldMeta| f.shown == Shown::Always || (shape == Shown::Detail && f.shown == Shown::Detail);
                Shape::of(meta, &derived, meta.fields.iter().filter(wanted))
            };
            let (list, single) = (shown(Shown::Always), shown(Shown::Detail));
            let standing = standings.get(meta.name).cloned();
            let parents = link::parents(meta, &metas);
            let columns =
                meta.fields.iter().filter(|field| field.is_column()).map(|field| format!("t.\"{}\"", field.name));
            let stored = format!("SELECT {}", columns.collect::<Vec<_>>().join(", "));
            entries.push(Entry {
                meta,
                route,
                fields,
                list,
                single,
                derived,
                standing,
                parents,
                is_restricted: false,
                stored,
            });
        }
        let described: Vec<_> = entries.iter().map(|entry| entry.meta).collect();
        let fingerprint = Sha256::digest(format!("{described:?}")).into();
        let mut catalog = Catalog { entries, by_name, by_plural, by_type, fingerprint };
        // A name that leads nowhere may be part of a path.
        if problems.is_empty() {
            let restricted = catalog.entries.iter().map(|entry| catalog.restricts(entry, &mut problems));
            let restricted: Vec<bool> = restricted.collect();
            catalog.entries.iter_mut().zip(restricted).for_each(|(entry, is)| entry.is_restricted = is);
            problems.extend(validate::validate(&catalog));
        }
        if problems.is_empty() { Ok(catalog) } else { Err(problems.join("\n")) }
    }

    /// The value of [`Entry::is_restricted`]. Parents that lead in a circle are a problem: no record could be seen.
    fn restricts(&self, entry: &Entry, problems: &mut Vec<String>) -> bool {
        if entry.is_attached() {
            return self.attachables().any(|target| self.restricts(target, &mut Vec::new()));
        }
        let own = |entry: &Entry| entry.meta.owner.is_some() || entry.route.hooks.scope.is_some();
        // Those above, each level in its turn.
        let (mut restricts, mut level) = (own(entry), vec![entry]);
        for _ in 0..self.entries.len() {
            level = level.iter().flat_map(|entry| &entry.parents).map(|parent| self.linked(parent.resource)).collect();
            level.sort_by_key(|entry| entry.meta.name);
            level.dedup_by_key(|entry| entry.meta.name);
            if level.is_empty() {
                return restricts;
            }
            restricts |= level.iter().any(|entry| own(entry));
        }
        problems.push(format!("{} belongs to itself, by way of its parents", entry.meta.name));
        restricts
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn fingerprint(&self) -> &[u8] {
        &self.fingerprint
    }

    /// By singular name.
    ///
    /// # Errors
    /// When the application has no such resource: a name that it misspelt, or left out of its routes.
    pub fn get(&self, name: &str) -> Result<&Entry, Error> {
        self.by_name.get(name).map(|&index| &self.entries[index]).ok_or_else(|| {
            let known = self.entries.iter().map(|entry| entry.meta.name);
            Error::internal(format!("the application has no resource `{name}`{}", hint(name, known)))
        })
    }

    /// By a name that metadata mentions, or of the runtime's own: linking has proved that there is one.
    pub(crate) fn linked(&self, name: &str) -> &Entry {
        &self.entries[self.by_name[name]]
    }

    /// By plural name, which is what clients call an entity type.
    pub fn by_plural(&self, plural: &str) -> Option<&Entry> {
        self.by_plural.get(plural).map(|&i| &self.entries[i])
    }

    /// The resource whose records hang on those of others, where the application has it.
    pub fn attached(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is_attached())
    }

    /// Every ability that some endpoint needs.
    pub fn abilities(&self) -> BTreeSet<String> {
        let served = self.entries.iter().filter(|e| e.is_served() && !e.is_attached()).map(|e| e.meta.ability);
        let all = served.flat_map(|ability| [format!("{ability}:read"), format!("{ability}:write")]);
        all.chain([explain::ABILITY.to_string()]).collect()
    }

    /// Every permission that some endpoint needs.
    pub fn permissions(&self) -> BTreeSet<&'static str> {
        self.entries.iter().flat_map(|e| [e.meta.read_permission, e.meta.write_permission]).flatten().collect()
    }

    /// The name of every event that the application can emit, in the order of its resources.
    pub fn events(&self) -> Vec<String> {
        self.entries.iter().flat_map(Entry::events).collect()
    }

    /// Those to whose records files can be attached.
    pub fn attachables(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.meta.attachments)
    }

    /// By the value of a polymorphic type field.
    pub fn by_type(&self, type_name: &str) -> Option<&Entry> {
        self.by_type.get(type_name).map(|&i| &self.entries[i])
    }
}

impl Entry {
    /// Whether it has any endpoint of its own.
    pub fn is_served(&self) -> bool {
        !self.meta.operations.is_empty() || !self.meta.actions.is_empty()
    }

    /// Whether its records hang on those of other resources, whose abilities are theirs.
    pub fn is_attached(&self) -> bool {
        self.route.upload.is_some()
    }

    /// Whether it has a list, to which saved views apply.
    pub fn is_listed(&self) -> bool {
        self.is_attached() || !self.meta.singleton && self.meta.operations.contains(&Operation::List)
    }

    pub fn field(&self, name: &str) -> Option<&'static FieldMeta> {
        self.fields.get(name).map(|&i| &self.meta.fields[i])
    }

    /// The position of a field in `meta.fields`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.get(name).copied()
    }

    /// Where a field's value comes from: its own column, or that of the record it is derived from.
    pub fn source(&self, field: &'static FieldMeta) -> Source {
        self.derived.get(field.name).cloned().unwrap_or_else(|| Source::own(field))
    }

    /// A shape with other fields than the two plain ones.
    pub fn shape<'f>(&self, fields: impl Iterator<Item = &'f FieldMeta>) -> Shape {
        Shape::of(self.meta, &self.derived, fields)
    }

    /// The include that a client's name means, camelCase or snake_case.
    pub fn include(&self, name: &str) -> Option<&'static IncludeMeta> {
        self.meta.includes.iter().find(|i| i.name == name || snake_case(i.name) == name)
    }

    /// The reference field that a relation name in a path means: `product_group` and `productGroup` lead to
    /// `product_group_id`, and so does the public name of an include that goes through it.
    pub fn reference(&self, relation: &str) -> Option<&'static FieldMeta> {
        let snake = snake_case(relation);
        let by_include = self.include(relation).and_then(|include| match include.target {
            IncludeTarget::One { via } => Some(via),
            _ => None,
        });
        let is_it = |f: &&FieldMeta| {
            matches!(f.kind, Kind::Ref { .. })
                && (Some(f.name) == by_include || f.name == snake || f.name.strip_suffix("_id") == Some(snake.as_str()))
        };
        self.meta.fields.iter().find(is_it)
    }
}

impl Source {
    /// A column of the resource's own table.
    pub fn own(field: &'static FieldMeta) -> Source {
        Source { via: None, column: field.name, field, labels: None, join: None }
    }

    /// A column of the record that `via` refers to.
    pub fn through(via: &'static str, join: Join, field: &'static FieldMeta) -> Source {
        Source { via: Some(via), column: field.name, field, labels: None, join: Some(join) }
    }

    /// The reference field that leads to the record that holds it.
    pub fn via(&self) -> Option<&'static str> {
        self.via
    }

    /// Of what kind the value is that is shown and asked about: a label is text.
    pub fn kind(&self) -> Kind {
        if self.labels.is_some() { Kind::Text } else { self.field.kind }
    }

    /// Whether it is a column of the record itself.
    pub fn is_own(&self, column: &str) -> bool {
        self.via.is_none() && self.column == column
    }

    /// Writes `t."column"`, or `"t_via"."column"` of the record that a reference leads to, where `t` is the record's alias.
    pub fn write(&self, text: &mut String, alias: &str) {
        let _ = match self.via {
            Some(via) => write!(text, "\"{alias}_{via}\".\"{}\"", self.column),
            None => write!(text, "{alias}.\"{}\"", self.column),
        };
    }

    /// The tables that it is looked for in, beside that of the record.
    pub fn tables(&self, found: &mut Vec<&'static str>) {
        if let Some(Join { meta, standing }) = &self.join {
            found.push(meta.table);
            found.extend(standing.iter().flat_map(|standing| &standing.tables));
        }
    }

    /// Writes the join that the column needs, unless it is the record's own or `joined` already. A deleted record joins
    /// as if it were not there, and so does one that cannot be without another which is deleted. `of` is the alias of the
    /// record.
    pub fn write_join(&self, text: &mut String, of: &str, joined: &mut Vec<&'static str>) {
        let (Some(via), Some(Join { meta, standing })) = (self.via, &self.join) else { return };
        if joined.contains(&via) {
            return;
        }
        joined.push(via);
        let (table, alias) = (meta.table, format!("\"{of}_{via}\""));
        let _ = write!(text, " LEFT JOIN \"{table}\" AS {alias} ON {alias}.\"id\" = {of}.\"{via}\"");
        if meta.soft_delete {
            let _ = write!(text, " AND {alias}.\"deleted_at\" IS NULL");
        }
        if let Some(standing) = standing {
            text.push_str(" AND ");
            standing.write(text, &alias);
        }
    }
}

/// `productGroup` is `product_group`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
