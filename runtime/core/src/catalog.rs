//! Resource graph of an application. Every name in the metadata is resolved once, at start-up.

mod abilities;
mod events;
mod link;
mod name_field;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

pub use name_field::{name_field, title_fields, title_of, title_part};

use charter_model::naming::snake;
use charter_model::title::TitleFormat;
use sha2::{Digest, Sha256};

use crate::db::fold;
use crate::error::Error;
use crate::expression::{Node, condition, condition_over};
use crate::meta::{ActionMethod, FieldMeta, IncludeMeta, IncludeTarget, Kind, Operation, ResourceMeta, Shown};
use crate::principal::Principal;
use crate::record::{RequiredParents, Shape, Source};
use crate::suggest::hint;

/// All resources of an application.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Entry>,
    by_name: HashMap<&'static str, usize>,
    by_plural: HashMap<&'static str, usize>,
    by_type: HashMap<&'static str, usize>,
    /// Hash of all metadata. It changes if another version of the application can give other responses.
    fingerprint: [u8; 32],
    /// The abilities of paths that are no resources.
    mounted_abilities: Vec<&'static str>,
}

/// One resource with the data derived from its metadata.
#[derive(Debug)]
pub struct Entry {
    pub meta: &'static ResourceMeta,
    /// Position in [`Catalog::entries`].
    pub index: usize,
    pub behavior: Behavior,
    /// Fields by name.
    fields: HashMap<&'static str, usize>,
    /// Shapes of a list item and of a single record.
    pub list: Shape,
    pub single: Shape,
    /// Source of each derived field, by field name.
    derived: HashMap<&'static str, Source>,
    /// The title of its records, if it is not the value of one field.
    pub title: Option<TitleFormat>,
    /// The required parents that must not be soft-deleted for a record to be visible.
    pub required_parents: Option<Arc<RequiredParents>>,
    /// The parents of its records. A record is visible if one of its parents is.
    pub parents: Vec<Parent>,
    /// True if an owner or a scope, of the resource or of a parent, hides some records from callers with read access.
    pub is_restricted: bool,
    /// True if some field, of an embedded record too, needs a right to be read or set.
    pub has_field_rights: bool,
    /// `SELECT t."id", ...`: every column of the table.
    pub stored: String,
}

/// Ability that `explain` needs.
pub const EXPLAIN_ABILITY: &str = "system:explain";

/// Facts about the hooks of a resource that linking and the OpenAPI document depend on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Behavior {
    /// A `scope` hook hides some records from some callers.
    pub is_scoped: bool,
    /// A hook can refuse a deletion.
    pub can_refuse_deletion: bool,
    /// The resource of attachments: files that belong to records of resources with `attachments`. They are created by
    /// a multipart body, listed below their record, and need the abilities of its resource.
    pub is_attached: bool,
    /// Its records are created by a multipart body with a file. True for attachments too.
    pub receives_file: bool,
    /// Every Charter application has the resource, as it has users. `application:read` does not grant it.
    pub is_platform: bool,
}

/// A record that the visibility of another depends on: the one in the nested path, or the one that embeds it.
#[derive(Debug, Clone, Copy)]
pub struct Parent {
    /// The field that references it.
    pub field: &'static FieldMeta,
    pub resource: &'static str,
}

impl Catalog {
    /// Links the resources. `ops::link_routes` also validates their paths and patterns.
    ///
    /// # Errors
    /// Every unresolved or duplicate name, in one text.
    pub fn link(resources: Vec<(&'static ResourceMeta, Behavior)>) -> Result<Catalog, String> {
        let mut problems = Vec::new();
        let metas: HashMap<&str, &'static ResourceMeta> =
            resources.iter().map(|(meta, _)| (meta.name, *meta)).collect();
        let required_parents = |meta: &ResourceMeta| Some((meta.name, Arc::new(link::required_parents(meta, &metas)?)));
        let required_parents_by_name: HashMap<&str, Arc<RequiredParents>> =
            metas.values().filter_map(|meta| required_parents(meta)).collect();
        let (mut by_name, mut by_plural, mut by_type) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut types = HashSet::new();
        let mut entries = Vec::with_capacity(resources.len());
        for (index, (meta, behavior)) in resources.into_iter().enumerate() {
            if by_name.insert(meta.name, index).is_some() {
                problems.push(format!("the resource `{}` is declared twice", meta.name));
            }
            if by_plural.insert(meta.plural, index).is_some() {
                problems.push(format!("two resources have the plural `{}`", meta.plural));
            }
            by_type.insert(meta.type_name, index);
            // Clients can write the type in any case and with `_` between words.
            if !types.insert(fold(&meta.type_name.replace('_', ""))) {
                problems.push(format!("two resources have the type `{}`, compared case-insensitively", meta.type_name));
            }
            let derived = link::derived(meta, &metas, &required_parents_by_name, &mut problems);
            link::check(meta, &metas, &mut problems);
            let fields = meta.fields.iter().enumerate().map(|(i, f)| (f.name, i)).collect();
            let shown = |shape: Shown| {
                let is_shown =
                    |f: &&FieldMeta| f.shown == Shown::Always || (shape == Shown::Detail && f.shown == Shown::Detail);
                Shape::of(meta, &derived, meta.fields.iter().filter(is_shown))
            };
            let (list, single) = (shown(Shown::Always), shown(Shown::Detail));
            let required_parents = required_parents_by_name.get(meta.name).cloned();
            let parents = link::parents(meta, &metas);
            let columns =
                meta.fields.iter().filter(|field| field.is_column()).map(|field| format!("t.\"{}\"", field.name));
            let stored = format!("SELECT {}", columns.collect::<Vec<_>>().join(", "));
            let title = match meta.title {
                "" => None,
                text => link::title(meta, text, &mut problems),
            };
            let has_field_rights = link::has_field_rights(meta, &derived);
            entries.push(Entry {
                meta,
                index,
                behavior,
                fields,
                list,
                single,
                derived,
                title,
                required_parents,
                parents,
                is_restricted: false,
                has_field_rights,
                stored,
            });
        }
        let described: Vec<_> = entries.iter().map(|entry| entry.meta).collect();
        let fingerprint = Sha256::digest(format!("{described:?}")).into();
        let mut catalog = Catalog { entries, by_name, by_plural, by_type, fingerprint, mounted_abilities: Vec::new() };
        // An unresolved name could be part of a path, so that conflicts are checked only if all are resolved.
        if problems.is_empty() {
            let restricted = catalog.entries.iter().map(|entry| catalog.is_restricted(entry, &mut problems));
            let restricted: Vec<bool> = restricted.collect();
            catalog.entries.iter_mut().zip(restricted).for_each(|(entry, is)| entry.is_restricted = is);
            let part_has_rights = |field: &FieldMeta| match field.kind {
                Kind::Embedded { resource, .. } => catalog.linked(resource).has_field_rights,
                _ => false,
            };
            let of_parts = catalog.entries.iter().map(|entry| entry.meta.fields.iter().any(part_has_rights));
            let of_parts: Vec<bool> = of_parts.collect();
            catalog.entries.iter_mut().zip(of_parts).for_each(|(entry, is)| entry.has_field_rights |= is);
        }
        if problems.is_empty() { Ok(catalog) } else { Err(problems.join("\n")) }
    }

    /// Value of [`Entry::is_restricted`]. A cycle of parents is an error, because no record would be visible.
    fn is_restricted(&self, entry: &Entry, problems: &mut Vec<String>) -> bool {
        if entry.is_attached() {
            return self.attachables().any(|target| self.is_restricted(target, &mut Vec::new()));
        }
        let own =
            |entry: &Entry| entry.meta.owner.is_some() || entry.meta.read_rule.is_some() || entry.behavior.is_scoped;
        // Visits the parents level by level.
        let (mut is_restricted, mut level) = (own(entry), vec![entry]);
        for _ in 0..self.entries.len() {
            level = level.iter().flat_map(|entry| &entry.parents).map(|parent| self.linked(parent.resource)).collect();
            level.sort_by_key(|entry| entry.meta.name);
            level.dedup_by_key(|entry| entry.meta.name);
            if level.is_empty() {
                return is_restricted;
            }
            is_restricted |= level.iter().any(|entry| own(entry));
        }
        problems.push(format!("the parents of {} form a cycle", entry.meta.name));
        is_restricted
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn fingerprint(&self) -> &[u8] {
        &self.fingerprint
    }

    /// The resource with this singular name.
    ///
    /// # Errors
    /// An internal error if the application has no such resource: the name is misspelt or missing in its routes.
    pub fn get(&self, name: &str) -> Result<&Entry, Error> {
        self.by_name.get(name).map(|&index| &self.entries[index]).ok_or_else(|| {
            let known = self.entries.iter().map(|entry| entry.meta.name);
            Error::internal(format!("the application has no resource `{name}`{}", hint(name, known)))
        })
    }

    /// The resource with a name from the metadata or from the runtime itself, which linking has resolved.
    pub fn linked(&self, name: &str) -> &Entry {
        &self.entries[self.by_name[name]]
    }

    /// The resource with this plural name, which clients use as the entity type.
    pub fn by_plural(&self, plural: &str) -> Option<&Entry> {
        self.by_plural.get(plural).map(|&i| &self.entries[i])
    }

    /// The resource of attachments, whose records belong to those of others.
    pub fn attached(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is_attached())
    }

    /// Every permission that some endpoint needs.
    pub fn permissions(&self) -> BTreeSet<&'static str> {
        let of_resources =
            self.entries.iter().flat_map(|e| [e.meta.read_permission, e.meta.write_permission]).flatten();
        let of_fields = self.field_rights().into_iter().filter(|right| !right.contains(':'));
        let of_actions = self.entries.iter().flat_map(|entry| entry.meta.actions);
        let of_actions = of_actions.filter_map(|action| action.rule?.permission);
        let of_rules = self.entries.iter().flat_map(|entry| self.permissions_of_rules(entry));
        of_resources.chain(of_fields).chain(of_actions).chain(of_rules).collect()
    }

    /// The permissions that the row rules of a resource, the conditions of its actions, `frozen` and its checks name.
    fn permissions_of_rules(&self, entry: &Entry) -> Vec<&'static str> {
        let mut found = Vec::new();
        let find = |name: &str| Some(self.linked(name).meta);
        let rules = [entry.meta.read_rule, entry.meta.write_rule].into_iter().flatten();
        let rules = rules.filter_map(|rule| condition_over(rule, entry.meta, &find).ok());
        let guards = entry.meta.ruled_actions().filter_map(|(_, rule)| rule.guard);
        let of_record = guards.chain(entry.meta.frozen).chain(entry.meta.checks.iter().map(|check| check.that));
        let of_record = of_record.filter_map(|text| condition(text, entry.meta).ok());
        for node in rules.chain(of_record) {
            node.visit(&mut |part| {
                if let Node::CallerCan(permission) = part {
                    found.push(permission.as_str());
                }
            });
        }
        found
    }

    /// Every right that some field needs.
    pub fn field_rights(&self) -> BTreeSet<&'static str> {
        let fields = self.entries.iter().flat_map(|entry| entry.meta.fields);
        fields.flat_map(|field| [field.read, field.write]).filter(|right| !right.is_empty()).collect()
    }

    /// The name of every event that the application can emit, in the order of its resources.
    pub fn events(&self) -> Vec<String> {
        self.entries.iter().flat_map(Entry::events).collect()
    }

    /// The resources whose records can have attachments.
    pub fn attachables(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.meta.attachments)
    }

    /// The resource with this value in a polymorphic type field.
    pub fn by_type(&self, type_name: &str) -> Option<&Entry> {
        self.by_type.get(type_name).map(|&i| &self.entries[i])
    }
}

fn read_right(derived: &HashMap<&'static str, Source>, field: &FieldMeta) -> &'static str {
    match derived.get(field.name) {
        Some(source) if field.read.is_empty() => source.field.read,
        _ => field.read,
    }
}

impl Entry {
    /// True if the resource has endpoints of its own.
    pub fn is_served(&self) -> bool {
        !self.meta.operations.is_empty() || !self.meta.actions.is_empty()
    }

    /// The names of the operations that write: `create`, `update`, `delete`, `restore`, and those of its actions.
    pub fn verbs(&self) -> impl Iterator<Item = &'static str> {
        let serves = |operation| self.meta.operations.contains(&operation);
        let plain = [
            ("create", !self.meta.singleton && serves(Operation::Create)),
            ("update", serves(Operation::Update)),
            ("delete", !self.meta.singleton && serves(Operation::Delete)),
            ("restore", self.meta.keeps_deleted()),
        ];
        let actions = self.meta.actions.iter().filter(|a| a.method == ActionMethod::Post || a.needs_write);
        plain.into_iter().filter(|(_, is_served)| *is_served).map(|(name, _)| name).chain(actions.map(|a| a.name))
    }

    /// True for the resource of attachments. Access to them follows the abilities of the resource they belong to.
    pub fn is_attached(&self) -> bool {
        self.behavior.is_attached
    }

    /// True if a record is created by an upload.
    pub fn receives_file(&self) -> bool {
        self.behavior.receives_file
    }

    /// True if the resource has a list, and therefore saved views.
    pub fn is_listed(&self) -> bool {
        self.is_attached() || !self.meta.singleton && self.meta.operations.contains(&Operation::List)
    }

    pub fn field(&self, name: &str) -> Option<&'static FieldMeta> {
        self.fields.get(name).map(|&i| &self.meta.fields[i])
    }

    /// True if the caller has the right that reading a field needs: that of the field, or of the field it is derived from.
    pub fn may_read_field(&self, field: &FieldMeta, caller: &Principal) -> bool {
        !self.has_field_rights || caller.has_right(read_right(&self.derived, field))
    }

    /// The right that reading a field needs; empty for none.
    pub fn read_right(&self, field: &FieldMeta) -> &'static str {
        read_right(&self.derived, field)
    }

    /// Index of a field in `meta.fields`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.get(name).copied()
    }

    /// Origin of a field's value: the record's own column, or that of the record it is derived from.
    pub fn source(&self, field: &'static FieldMeta) -> Source {
        self.derived.get(field.name).cloned().unwrap_or_else(|| Source::own(field))
    }

    /// A shape with a selection of fields.
    pub fn shape<'f>(&self, fields: impl Iterator<Item = &'f FieldMeta>) -> Shape {
        Shape::of(self.meta, &self.derived, fields)
    }

    /// The include with this name, in camelCase or snake_case.
    pub fn include(&self, name: &str) -> Option<&'static IncludeMeta> {
        self.meta.includes.iter().find(|i| i.name == name || snake(i.name) == name)
    }

    /// The reference field that a relation name in a path means: `product_group` and `productGroup` lead to
    /// `product_group_id`, as does the public name of an include through it.
    pub fn reference(&self, relation: &str) -> Option<&'static FieldMeta> {
        let snake = snake(relation);
        let by_include = self.include(relation).and_then(|include| match include.target {
            IncludeTarget::One { via } => Some(via),
            _ => None,
        });
        let matches_relation = |f: &&FieldMeta| {
            matches!(f.kind, Kind::Ref { .. })
                && (Some(f.name) == by_include || f.name == snake || f.name.strip_suffix("_id") == Some(snake.as_str()))
        };
        self.meta.fields.iter().find(matches_relation)
    }
}
