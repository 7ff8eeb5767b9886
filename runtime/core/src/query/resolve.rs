//! Resolves the names in `q`, `sort`, `fields` and `include`, with suggestions for unknown ones.

use charter_model::Predicate;
use charter_model::naming::snake;

use super::condition::Reference;
use super::plan::Planner;
use super::to_many::ToMany;
use crate::ability::Ability;
use crate::catalog::Entry;
use crate::custom_field::CustomFieldType;
use crate::meta::{FieldMeta, Filter, IncludeMeta, IncludeTarget, Kind, ResourceMeta, Shown};
use crate::principal::Principal;
use crate::record::RECORD;
use crate::record::{Join, Source};
use crate::suggest::hint;

/// Length limit of a field name with its relation. Longer names are not looked up.
const MAX_NAME_CHARACTERS: usize = 200;

impl<'a> Planner<'a> {
    /// The fields that a parameter names: `name_or_sku` is two, unless a field has that very name.
    pub(super) fn names(self, name: &str) -> Vec<&str> {
        if self.resolve(name).is_ok() { vec![name] } else { name.split("_or_").collect() }
    }

    /// Number of conditions that a name stands for: one for each field in it.
    pub fn conditions(self, name: &str) -> usize {
        self.names(name).len()
    }

    /// Resolves a name in `q` or `sort` to a field, a field of a related record, or a custom field.
    pub(super) fn resolve(self, name: &str) -> Result<Named<'a>, String> {
        if let Some(custom) = name.strip_prefix("cf.") {
            if !self.entry.meta.custom_fields || self.readable("custom_fields").is_none() {
                return Err(format!("{} have no custom fields", self.entry.meta.plural));
            }
            if !self.entry.can_filter_custom_fields() {
                return Err(format!("the custom fields of {} cannot be filtered by", self.entry.meta.plural));
            }
            return match self.custom.get(custom) {
                Some(of_type) => Ok(Named::Custom(custom.to_string(), *of_type)),
                None => Err(format!(
                    "refers to an unknown custom field `{custom}`{}",
                    hint(custom, self.custom.keys().map(String::as_str))
                )),
            };
        }
        let Some((relation, name)) = name.split_once('.') else {
            let field = self.readable(name).filter(|f| is_filterable(f) || self.is_mark(f));
            return match field {
                Some(field) => Ok(Named::Field(field, self.entry.source(field))),
                None if self.readable(name).is_some_and(|f| f.shown != Shown::Never) => {
                    Err(format!("`{name}` cannot be filtered by"))
                }
                None => Err(format!("refers to an unknown field `{name}`{}", hint(name, self.field_names()))),
            };
        };
        let known = || self.entry.meta.fields.iter().filter(|f| matches!(f.kind, Kind::Ref { .. })).map(|f| f.name);
        let known = || known().map(|name| name.strip_suffix("_id").unwrap_or(name));
        let known = || known().chain(self.relations_to_many().map(|relation| relation.name));
        let unknown = || format!("refers to an unknown relation `{relation}`{}", hint(&snake(relation), known()));
        let Some(via) = self.entry.reference(relation) else {
            let relation = self.to_many(relation).ok_or_else(unknown)?;
            relation.check(self, name)?;
            return Ok(Named::ToMany(relation, name.to_owned()));
        };
        let Kind::Ref { resource } = via.kind else { return Err(unknown()) };
        let other = self.catalog.linked(resource);
        let is_filterable = |f: &FieldMeta| {
            is_filterable(f)
                && f.is_column()
                && self.entry.exposes(via, other, f.name)
                && other.may_read_field(f, self.caller)
        };
        if !self.may_filter_by(via, other, name) {
            let ability = Ability::read(other.meta.ability);
            return Err(format!("is on {}, which requires the ability `{ability}`", other.meta.plural));
        }
        match other.field(name).filter(|f| is_filterable(f)) {
            Some(field) if let Some(condition) = (self.visible)(other) => {
                let reference = Reference { via, table: other.meta.table, condition: Box::new(condition) };
                Ok(Named::Related(field, reference))
            }
            Some(field) => {
                let join = Join { meta: other.meta, required_parents: other.required_parents.clone() };
                Ok(Named::Field(field, Source::through(via.name, join, field)))
            }
            None => {
                let known = || other.meta.fields.iter().filter(|f| is_filterable(f)).map(|f| f.name);
                let is_its = |f: &FieldMeta| f.shown != Shown::Never && other.may_read_field(f, self.caller);
                let is_there = known().next().is_none() || other.field(name).is_some_and(is_its);
                match self.unshown(via, relation) {
                    Some(problem) if is_there => Err(problem),
                    _ => Err(format!("refers to an unknown field `{name}` of {relation}{}", hint(name, known()))),
                }
            }
        }
    }

    /// The problem of a filter through a reference that no include shows.
    fn unshown(self, via: &FieldMeta, relation: &str) -> Option<String> {
        let is_it =
            |include: &IncludeMeta| matches!(include.target, IncludeTarget::One { via: one } if one == via.name);
        if self.entry.meta.includes.iter().any(is_it) {
            return None;
        }
        let problem = format!("filters through `{relation}`, which no include shows");
        Some(match self.readable(via.name).is_some_and(is_filterable) {
            true => format!("{problem}; filter by `{}`", via.name),
            false => problem,
        })
    }

    /// Reports whether the caller may filter by a field of the `target` of a reference: the record itself shows it, or
    /// the caller may read the target.
    fn may_filter_by(self, via: &FieldMeta, target: &Entry, field: &str) -> bool {
        let is_shown = |include: &IncludeMeta| {
            matches!(include.target, IncludeTarget::One { via: other } if other == via.name)
                && include.fields.contains(&field)
        };
        let meta = target.meta;
        self.entry.derives(via, field)
            || meta.read_permission.is_none_or(|permission| self.caller.has_permission(permission))
                && (self.entry.meta.includes.iter().any(is_shown) || self.caller.may(Ability::read(meta.ability)))
    }

    /// Canonical form of a name in `q`: `productGroup.name` and `product_group.name` have the same. `None` if it is
    /// unknown.
    pub fn meaning(self, name: &str) -> Option<Vec<String>> {
        let mut canonical: Vec<String> = Vec::new();
        for name in self.names(name) {
            canonical.push(match self.resolve(name).ok()? {
                Named::Custom(name, _) => format!("cf.{name}"),
                Named::Field(field, source) => {
                    let mut text = String::from(field.name);
                    source.write(&mut text, RECORD);
                    text
                }
                Named::Related(field, reference) => format!("{}.{}", reference.via.name, field.name),
                Named::ToMany(relation, name) => format!("{}.{name}", relation.name),
            });
        }
        canonical.sort_unstable();
        Some(canonical)
    }

    /// The embedded fields that a request names in `include`. They are always part of a full record; only a sparse
    /// response needs their names.
    pub fn embedded(self, names: &[String]) -> Vec<&'static FieldMeta> {
        let named = |field: &&FieldMeta| {
            self.readable(field.name).is_some() && names.iter().any(|name| snake(name) == field.name)
        };
        embedded(self.entry.meta).filter(named).collect()
    }

    /// True for `deleted_at` if the request selects deleted records.
    pub(super) fn is_mark(self, field: &FieldMeta) -> bool {
        self.deleted && field.name == "deleted_at"
    }

    /// The field of this name, if the caller may read it.
    pub fn readable(self, name: &str) -> Option<&'static FieldMeta> {
        self.entry.field(name).filter(|field| self.entry.may_read_field(field, self.caller))
    }

    pub(super) fn field_names(self) -> impl Iterator<Item = &'static str> {
        let readable = move |field: &&FieldMeta| is_filterable(field) && self.readable(field.name).is_some();
        self.entry.meta.fields.iter().filter(readable).map(|f| f.name)
    }

    pub(super) fn unknown_predicate(self, key: &str) -> String {
        let names = Predicate::names();
        // The predicate begins after the longest field name that the key starts with.
        let underscores = key.match_indices('_').filter(|(at, _)| *at <= MAX_NAME_CHARACTERS);
        let mut splits = underscores.map(|(at, _)| key.split_at(at));
        match splits.rfind(|(name, _)| self.resolve(name).is_ok()) {
            Some((_, written)) => {
                let written = &written[1..];
                format!(
                    "refers to an unknown predicate `{written}`{}",
                    hint(Predicate::from_foreign_name(written).unwrap_or(written), names)
                )
            }
            None if self.resolve(key).is_ok() => format!("needs a predicate: `{key}_eq`, for example"),
            None => {
                format!("does not end with a predicate; the predicates are {}", names.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Entry {
    /// True if lists can be filtered and sorted by custom fields. The field that holds them all decides.
    pub fn can_filter_custom_fields(&self) -> bool {
        self.meta.fields.iter().any(|field| field.kind == Kind::CustomFields && is_filterable(field))
    }

    /// True if clients see this field of the referenced `target` record through an include or a derived field. A
    /// field that they cannot see cannot be filtered by. An include answers 403 if a permission is missing.
    pub fn exposes(&self, reference: &FieldMeta, target: &Entry, field: &str) -> bool {
        let included = target.meta.read_permission.is_none()
            && self.meta.includes.iter().any(|include| {
                matches!(include.target, IncludeTarget::One { via } if via == reference.name)
                    && (include.fields.is_empty() || include.fields.contains(&field))
            });
        included || self.derives(reference, field)
    }

    /// True if a field of this resource is derived from this field of the referenced record.
    fn derives(&self, reference: &FieldMeta, field: &str) -> bool {
        let is_derived = |f: &FieldMeta| matches!(f.kind, Kind::Derived { via, field: other } if via == reference.name && other == field);
        self.meta.fields.iter().any(is_derived)
    }
}

/// The names that `include` accepts.
pub fn include_names(meta: &'static ResourceMeta) -> impl Iterator<Item = &'static str> {
    meta.includes.iter().map(|include| include.name).chain(embedded(meta).map(|field| field.name))
}

/// The embedded fields that `include` accepts from the caller.
pub fn embedded_names(entry: &Entry, caller: &Principal) -> impl Iterator<Item = &'static str> {
    embedded(entry.meta).filter(move |field| entry.may_read_field(field, caller)).map(|field| field.name)
}

/// True if the caller may read the field that an include loads records by.
pub fn may_include(entry: &Entry, include: &IncludeMeta, caller: &Principal) -> bool {
    let may_read = |name| entry.field(name).is_some_and(|field| entry.may_read_field(field, caller));
    match include.target {
        IncludeTarget::One { via } | IncludeTarget::Links { field: via } => may_read(via),
        IncludeTarget::CustomFieldValues => may_read("custom_fields"),
        IncludeTarget::Many { .. } | IncludeTarget::AllowedActions => true,
    }
}

fn embedded(meta: &'static ResourceMeta) -> impl Iterator<Item = &'static FieldMeta> {
    meta.fields.iter().filter(|field| matches!(field.kind, Kind::Embedded { .. }) && field.shown != Shown::Never)
}

/// A resolved name.
pub(super) enum Named<'a> {
    Field(&'static FieldMeta, Source),
    /// A field of a related record that the caller may not be allowed to see.
    Related(&'static FieldMeta, Reference),
    Custom(String, CustomFieldType),
    /// A field of the records of a relation, one of which meets the condition.
    ToMany(ToMany<'a>, String),
}

/// True if the field declares that it may be asked this. `kind` is that of the value, which for a derived field is the other
/// record's.
pub fn allows(field: &FieldMeta, predicate: Predicate, kind: Kind) -> bool {
    match field.filter {
        Filter::Off => false,
        Filter::Only(names) => names.contains(&predicate.name()),
        Filter::Fitting => kind.accepts(predicate),
    }
}

/// True if a field can be used in filters: list items show it, and its `filter` is not off.
pub fn is_filterable(field: &FieldMeta) -> bool {
    field.shown != Shown::Never && field.filter != Filter::Off
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use chrono_tz::Tz;

    use super::Named;
    use crate::catalog::Behavior;
    use crate::catalog::{Catalog, Entry};
    use crate::custom_field::CustomFieldTypes;
    use crate::principal::Principal;
    use crate::query::{Condition, Planner, RelativeTo};
    use crate::resource::Resource as _;

    mod keeper {
        use charter_macros::Resource;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "keeper", operations("list"))]
        pub struct Model {
            pub id: i64,
            #[field(string(255))]
            pub name: String,
        }
    }

    mod animal {
        use charter_macros::Resource;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "animal", operations("list"), include(name = "keeper", via = "keeper_id"))]
        pub struct Model {
            pub id: i64,
            #[field(reference("keeper"))]
            pub keeper_id: i64,
        }
    }

    mod tag {
        use charter_macros::Resource;
        use sea_orm::entity::prelude::*;

        #[derive(Clone, Debug, PartialEq, Resource)]
        #[resource(name = "tag", operations("list"), custom_fields)]
        pub struct Model {
            pub id: i64,
            #[field(no_filter)]
            pub custom_fields: Json,
        }
    }

    #[test]
    fn custom_fields_with_filters_turned_off_are_rejected() {
        let catalog = Catalog::link(vec![(tag::Entity::meta(), Behavior::default())]).unwrap();
        let custom = CustomFieldTypes::new();
        let planner = Planner {
            catalog: &catalog,
            entry: catalog.linked("tag"),
            custom: &custom,
            deleted: false,
            caller: &Principal::operator(),
            visible: &|_| None,
            relative_to: &RelativeTo::new(DateTime::UNIX_EPOCH, Tz::UTC, None),
        };
        assert_eq!(planner.resolve("cf.size").err().unwrap(), "the custom fields of tags cannot be filtered by");
    }

    #[test]
    fn filter_on_a_restricted_related_record_includes_its_visibility_condition() {
        let scoped = Behavior { is_scoped: true, ..Behavior::default() };
        let resources = vec![(animal::Entity::meta(), Behavior::default()), (keeper::Entity::meta(), scoped)];
        let catalog = Catalog::link(resources).unwrap();
        let custom = CustomFieldTypes::new();
        let entry = catalog.linked("animal");
        assert!(catalog.linked("keeper").is_restricted && !entry.is_restricted);
        let is_restricted = |visible: &(dyn Fn(&Entry) -> Option<Condition> + Sync)| {
            let caller = &Principal::operator();
            let relative_to = &RelativeTo::new(DateTime::UNIX_EPOCH, Tz::UTC, None);
            let planner =
                Planner { catalog: &catalog, entry, custom: &custom, deleted: false, caller, visible, relative_to };
            planner.resolve("keeper.name").map(|named| matches!(named, Named::Related(..))).unwrap()
        };
        assert!(is_restricted(&|_| Some(Condition::always())));
        assert!(!is_restricted(&|_| None));
    }
}
