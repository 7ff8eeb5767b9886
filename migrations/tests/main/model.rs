//! Random model, which changes several declarations at a time and is always valid YAML. It has few names, so that a name is
//! soon reused.

use std::fmt::Write;

use crate::model_resource::{KINDS, ModelField, ModelResource};

/// Random number generator (xorshift64*), with the same sequence for a seed on every machine.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A random number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end.max(1)
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() { None } else { Some(from[self.below(from.len())].clone()) }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Model {
    pub resources: Vec<ModelResource>,
    /// The names of the resources that this migration removes.
    removed: Vec<String>,
    /// The number of resources ever created. A required foreign key references an older resource only, so that a first row
    /// can be inserted.
    created: usize,
}

/// The most changes of one migration.
const MAX_CHANGES: usize = 4;
/// The number of names for resources, and for tables.
const NAMES: usize = 14;
const MAX_RESOURCES: usize = 6;
const MAX_FIELDS: usize = 10;

impl Model {
    /// The YAML files, each after a comment with its path.
    pub fn yaml(&self) -> String {
        let mut text = String::new();
        for resource in &self.resources {
            writeln!(text, "# resources/{0}.yaml\nresource: {0}", resource.name).unwrap();
            let former = resource.before.clone().filter(|before| *before != resource.name);
            for (key, value) in [("renamed_from", &former), ("table", &resource.table), ("owner", &resource.owner)] {
                value.iter().for_each(|value| writeln!(text, "{key}: {value}").unwrap());
            }
            text.push_str(if resource.soft { "delete: soft\n" } else { "" });
            text.push_str(if resource.custom { "custom_fields: true\n" } else { "" });
            text.push_str(if resource.attachments { "attachments: true\n" } else { "" });
            text.push_str(if resource.parent.is_some() { "operations: []\n" } else { "" });
            text.push_str("fields:\n");
            resource.fields.iter().for_each(|field| writeln!(text, "  {}", field.yaml()).unwrap());
            for part in &self.resources {
                let by = part.parent.as_ref().filter(|(parent, _)| *parent == resource.name);
                by.iter().for_each(|(_, by)| writeln!(text, "  m_{0}: {{ many: {0}, by: {by} }}", part.name).unwrap());
            }
            for (key, sets) in [("unique", &resource.unique), ("indexes", &resource.indexes)] {
                let sets: Vec<String> = sets.iter().map(|set| format!("[{}]", set.join(", "))).collect();
                writeln!(text, "{key}: [{}]", sets.join(", ")).unwrap();
            }
            writeln!(text, "search: [{}]", resource.search.join(", ")).unwrap();
            writeln!(text, "ordered: [{}]", resource.ordered.join(", ")).unwrap();
        }
        text
    }

    /// Makes the changes of one migration, and returns their description. An impossible change is tried again.
    pub fn change(&mut self, dice: &mut Dice) -> String {
        self.removed.clear();
        for resource in &mut self.resources {
            resource.before = Some(resource.name.clone());
            resource.removed.clear();
            for field in &mut resource.fields {
                (field.before, field.backfill) = (Some((field.name.clone(), field.kind.clone())), None);
                field.was_unique = field.unique;
            }
        }
        let mut done = Vec::new();
        let count = 1 + dice.below(MAX_CHANGES);
        while done.len() < count {
            done.extend(self.try_change(dice));
        }
        done.join("; ")
    }

    fn try_change(&mut self, dice: &mut Dice) -> Option<String> {
        if self.resources.len() < 2 || dice.below(16) == 0 && self.resources.len() < MAX_RESOURCES {
            return self.add_resource(dice);
        }
        let at = dice.below(self.resources.len());
        let name = self.resources[at].name.clone();
        match dice.below(27) {
            0 if self.resources.len() > 3 => Some(self.remove_resource(dice, at)),
            1 => self.rename_resource(dice, at),
            2 => {
                let table = format!("t{}", 1 + dice.below(NAMES));
                let is_used = self.resources.iter().any(|other| other.table.as_ref() == Some(&table));
                self.resources[at].table = (!is_used).then(|| table.clone());
                Some(format!("the table of {name} is {:?}", self.resources[at].table))
            }
            3 => {
                self.resources[at].soft ^= true;
                Some(format!("soft deletes of {name}"))
            }
            4 => {
                let resource = &mut self.resources[at];
                resource.custom ^= resource.parent.is_none();
                resource.attachments ^= resource.parent.is_none() && dice.below(2) == 0;
                Some(format!("custom fields of {name}"))
            }
            5..=8 if self.resources[at].fields.len() < MAX_FIELDS => {
                let field = self.field(dice, at, true)?;
                let what = format!("add {name}.{}", field.yaml());
                self.resources[at].fields.push(field);
                Some(what)
            }
            9 | 10 if self.resources[at].fields.len() > 1 => {
                let removed = dice.below(self.resources[at].fields.len());
                let removed = self.resources[at].remove(removed);
                Some(format!("remove {name}.{removed}"))
            }
            11 | 12 => self.rename_field(dice, at),
            13 | 14 => self.resources[at].change_type(dice),
            15 => self.resources[at].change_kind(dice),
            16 => self.change_reference(dice, at),
            17 => self.require_reference(dice, at),
            18 => self.resources[at].change_null(dice),
            19 => self.resources[at].change_default(dice),
            20 => self.resources[at].change_unique(dice),
            21 => self.resources[at].change_indexes(dice),
            22 => self.resources[at].change_search(dice),
            23 => self.resources[at].change_ordered(dice),
            24 => self.resources[at].change_owner(dice),
            25 => self.change_parent(dice, at),
            26 => self.resources[at].change_null(dice),
            _ => None,
        }
    }

    fn add_resource(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.resource_name(dice)?;
        self.created += 1;
        let at = self.resources.len();
        self.resources.push(ModelResource {
            name,
            soft: dice.below(3) == 0,
            number: self.created,
            ..ModelResource::default()
        });
        for _ in 0..1 + dice.below(4) {
            if let Some(field) = self.field(dice, at, false) {
                self.resources[at].fields.push(field);
            }
        }
        if self.resources[at].fields.is_empty() {
            self.resources.pop();
            return None;
        }
        Some(format!("add {}", self.resources[at].name))
    }

    /// A foreign key to the resource is removed, or becomes a number.
    fn remove_resource(&mut self, dice: &mut Dice, at: usize) -> String {
        let removed = self.resources.remove(at);
        self.removed.extend(removed.before);
        let kind = format!("ref({})", removed.name);
        for resource in &mut self.resources {
            resource.parent.take_if(|(parent, _)| *parent == removed.name);
            for number in (0..resource.fields.len()).rev() {
                if resource.fields[number].kind != kind {
                    continue;
                }
                let is_new = resource.fields[number].before.is_none();
                if resource.fields.len() > 1 && (is_new || dice.below(2) == 0) {
                    resource.remove(number);
                } else {
                    resource.become_number(number);
                }
            }
        }
        format!("remove {}", removed.name)
    }

    fn rename_resource(&mut self, dice: &mut Dice, at: usize) -> Option<String> {
        let new = self.resource_name(dice)?;
        let old = std::mem::replace(&mut self.resources[at].name, new.clone());
        let (from, to) = (format!("ref({old})"), format!("ref({new})"));
        for resource in &mut self.resources {
            resource
                .parent
                .iter_mut()
                .filter(|(parent, _)| *parent == old)
                .for_each(|parent| parent.0.clone_from(&new));
            resource.fields.iter_mut().filter(|field| field.kind == from).for_each(|field| field.kind.clone_from(&to));
            for (_, kind) in resource.fields.iter_mut().filter_map(|field| field.before.as_mut()) {
                if *kind == from {
                    kind.clone_from(&to);
                }
            }
            resource.removed.iter_mut().filter(|field| field.kind == from).for_each(|field| field.kind.clone_from(&to));
        }
        Some(format!("rename {old} to {new}"))
    }

    fn resource_name(&self, dice: &mut Dice) -> Option<String> {
        let name = format!("r{}", 1 + dice.below(NAMES));
        let has = |resource: &ModelResource| resource.name == name || resource.before.as_ref() == Some(&name);
        (!self.resources.iter().any(has) && !self.removed.contains(&name)).then_some(name)
    }

    fn rename_field(&mut self, dice: &mut Dice, at: usize) -> Option<String> {
        let which = dice.below(self.resources[at].fields.len());
        let resource = &mut self.resources[at];
        let (new, reused) = resource.field_name(dice, &resource.fields[which].kind, Some(which))?;
        let field = &mut resource.fields[which];
        let old = std::mem::replace(&mut field.name, new.clone());
        if let Some(removed) = reused.filter(|_| field.before.is_none()) {
            field.unique = false;
            field.reuse(removed);
            resource.removed.retain(|field| field.name != new);
        }
        self.resources[at].rename_in_sets(&old, &new);
        Some(format!("rename {}.{old} to {new}", self.resources[at].name))
    }

    /// Turns a number into a foreign key or back, or changes the referenced resource.
    fn change_reference(&mut self, dice: &mut Dice, at: usize) -> Option<String> {
        let target = dice.pick(&self.resources)?;
        let resource = &mut self.resources[at];
        let fit = |number: &usize| {
            let field = &resource.fields[*number];
            field.before.is_some()
                && field.kind != "ref(user)"
                && (field.kind.starts_with("ref") || field.kind == "bigint")
        };
        let number = dice.pick(&(0..resource.fields.len()).filter(fit).collect::<Vec<_>>())?;
        let field = &mut resource.fields[number];
        let what = format!("{}.{}", resource.name, field.name);
        let stored = field.before.as_ref().map(|(_, kind)| kind.clone())?;
        let refers = field.kind.starts_with("ref");
        let is_free = field.nullable && !field.unique && !field.was_unique && field.default.is_none();
        if refers && stored.starts_with("ref") && dice.below(2) == 0 {
            resource.become_number(number);
            return Some(format!("{what} is a number"));
        }
        if !refers && (!is_free || stored != "bigint" || target.before.is_none()) {
            return None;
        }
        // A column with another target is removed and added.
        (field.nullable, field.backfill, field.filled) = (true, None, true);
        let name = field.name.clone();
        field.kind = format!("ref({})", target.name);
        if refers {
            resource.remove_from_sets(&name);
        } else {
            resource.unique.retain(|set| !set.contains(&name));
        }
        Some(format!("{what} references {}", target.name))
    }

    /// Makes a foreign key required. Rows without a value reference the first record.
    fn require_reference(&mut self, dice: &mut Dice, at: usize) -> Option<String> {
        let older = |field: &ModelField| field.target() == Some("user") || self.is_older(field.target(), at);
        let resource = &self.resources[at];
        let fit = |number: &usize| {
            let field = &resource.fields[*number];
            field.nullable && field.before.is_some() && older(field)
        };
        let number = dice.pick(&(0..resource.fields.len()).filter(fit).collect::<Vec<_>>())?;
        let resource = &mut self.resources[at];
        let field = &mut resource.fields[number];
        (field.nullable, field.backfill, field.filled) = (false, Some("1".to_owned()), true);
        let (what, name) = (format!("{}.{} is required", resource.name, field.name), field.name.clone());
        resource.unique.retain(|set| !set.contains(&name));
        Some(what)
    }

    /// Returns true if `target` existed in the last migration and is older than the resource at `at`.
    fn is_older(&self, target: Option<&str>, at: usize) -> bool {
        let target = self.resources.iter().find(|one| Some(one.name.as_str()) == target);
        target.is_some_and(|target| target.number < self.resources[at].number && target.before.is_some())
    }

    /// Returns true if a kept field takes the name of a removed one, which the plan rejects.
    pub fn reuses_a_name(&self) -> bool {
        self.resources.iter().any(|resource| {
            let is_reused = |field: &ModelField| resource.removed.iter().any(|removed| removed.name == field.name);
            resource.fields.iter().any(|field| field.before.is_some() && is_reused(field))
        })
    }

    /// Makes a resource the child records of another one, or independent again.
    fn change_parent(&mut self, dice: &mut Dice, at: usize) -> Option<String> {
        let part = &self.resources[at];
        let name = part.name.clone();
        if part.parent.is_some() {
            self.resources[at].parent = None;
            return Some(format!("{name} has no parent"));
        }
        let is_child = |name: &str| self.resources.iter().any(|one| one.name == name && one.parent.is_some());
        let is_parent = self.resources.iter().any(|one| one.parent.as_ref().is_some_and(|(parent, _)| *parent == name));
        if part.custom || part.attachments || part.owner.is_some() || is_parent {
            return None;
        }
        let references = part.fields.iter().filter_map(|field| Some((field.target()?.to_owned(), field.name.clone())));
        let references: Vec<_> = references.filter(|(to, _)| *to != name && to != "user" && !is_child(to)).collect();
        let parent = dice.pick(&references)?;
        let what = format!("{} is the parent of {name} by {}", parent.0, parent.1);
        self.resources[at].parent = Some(parent);
        Some(what)
    }

    /// A new field of a resource. `with_rows`: its table may contain rows.
    fn field(&mut self, dice: &mut Dice, at: usize, with_rows: bool) -> Option<ModelField> {
        let target = dice.pick(&self.resources).filter(|_| dice.below(5) == 0);
        let is_older = self.is_older(target.as_ref().map(|target| target.name.as_str()), at);
        let kind = match target {
            Some(_) if dice.below(5) == 0 => "ref(user)".to_owned(),
            Some(target) => format!("ref({})", target.name),
            None => KINDS[dice.below(KINDS.len())].to_owned(),
        };
        let (name, reused) = self.resources[at].field_name(dice, &kind, None)?;
        let mut field = ModelField { name, kind, ..ModelField::default() };
        if let Some(removed) = reused {
            self.resources[at].removed.retain(|one| one.name != removed.name);
            field.reuse(removed);
        }
        let must_be_nullable = field.kind == "uuid" || field.target().is_some_and(|to| to != "user") && !is_older;
        match dice.below(4) {
            _ if field.defaults_to_empty() => {}
            0 if !must_be_nullable && field.target().is_none() => {
                field.default = Some(field.literal(1 + dice.below(3)))
            }
            1 if !must_be_nullable && with_rows => field.set_backfill(dice),
            1 if !must_be_nullable => {}
            2 if !must_be_nullable && with_rows && field.target().is_none() => {
                field.set_backfill(dice);
                field.default = Some(field.literal(dice.below(3)));
            }
            _ => field.nullable = true,
        }
        if with_rows && field.default.as_deref() == Some("now") {
            // Existing rows need a value too.
            field.backfill = Some("now".to_owned());
        }
        field.filled |= field.default.is_some();
        Some(field)
    }
}
