//! A model that changes at random, several declarations at a time, and is always valid YAML. Its names are few, so that one
//! that was given up is soon taken by something else.

use std::fmt::Write;

use crate::declared::{Declared, KINDS, Property};

/// A small generator of numbers (xorshift64*): the same walk for the same seed, everywhere.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
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
    pub resources: Vec<Declared>,
    /// The names of resources that the last migration had and this one removes.
    gone: Vec<String>,
    /// How many resources there have been: one refers by need only to one that is older, so that a first can be made.
    made: usize,
}

/// The most changes that one migration holds.
const AT_ONCE: usize = 4;
/// So many names there are of each sort, and so many resources and fields at most.
const NAMES: usize = 14;
const RESOURCES: usize = 6;
const FIELDS: usize = 10;

impl Model {
    /// The YAML, each file under a comment with its path.
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
            text.push_str(if resource.held_by.is_some() { "operations: []\n" } else { "" });
            text.push_str("fields:\n");
            resource.fields.iter().for_each(|field| writeln!(text, "  {}", field.yaml()).unwrap());
            for part in &self.resources {
                let by = part.held_by.as_ref().filter(|(holder, _)| *holder == resource.name);
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

    /// The changes of one migration, and what they are; some need several throws to find one that is possible.
    pub fn change(&mut self, dice: &mut Dice) -> String {
        self.gone.clear();
        for resource in &mut self.resources {
            resource.before = Some(resource.name.clone());
            resource.gone.clear();
            for field in &mut resource.fields {
                (field.before, field.backfill) = (Some((field.name.clone(), field.kind.clone())), None);
                field.was_unique = field.unique;
            }
        }
        let mut done = Vec::new();
        let count = 1 + dice.below(AT_ONCE);
        while done.len() < count {
            done.extend(self.try_change(dice));
        }
        done.join("; ")
    }

    fn try_change(&mut self, dice: &mut Dice) -> Option<String> {
        if self.resources.len() < 2 || dice.below(16) == 0 && self.resources.len() < RESOURCES {
            return self.add_resource(dice);
        }
        let at = dice.below(self.resources.len());
        let name = self.resources[at].name.clone();
        match dice.below(27) {
            0 if self.resources.len() > 3 => Some(self.remove_resource(dice, at)),
            1 => self.rename_resource(dice, at),
            2 => {
                let table = format!("t{}", 1 + dice.below(NAMES));
                let is_taken = self.resources.iter().any(|other| other.table.as_ref() == Some(&table));
                self.resources[at].table = (!is_taken).then(|| table.clone());
                Some(format!("the table of {name} is {:?}", self.resources[at].table))
            }
            3 => {
                self.resources[at].soft ^= true;
                Some(format!("soft deletes of {name}"))
            }
            4 => {
                let resource = &mut self.resources[at];
                resource.custom ^= resource.held_by.is_none();
                resource.attachments ^= resource.held_by.is_none() && dice.below(2) == 0;
                Some(format!("custom fields of {name}"))
            }
            5..=8 if self.resources[at].fields.len() < FIELDS => {
                let field = self.field(dice, at, true)?;
                let what = format!("add {name}.{}", field.yaml());
                self.resources[at].fields.push(field);
                Some(what)
            }
            9 | 10 if self.resources[at].fields.len() > 1 => {
                let gone = dice.below(self.resources[at].fields.len());
                let gone = self.resources[at].remove(gone);
                Some(format!("remove {name}.{gone}"))
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
            25 => self.change_holder(dice, at),
            26 => self.resources[at].change_null(dice),
            _ => None,
        }
    }

    fn add_resource(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.resource_name(dice)?;
        self.made += 1;
        let at = self.resources.len();
        self.resources.push(Declared { name, soft: dice.below(3) == 0, made: self.made, ..Declared::default() });
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

    /// Those that refer to it refer no more, or keep the id as a number.
    fn remove_resource(&mut self, dice: &mut Dice, at: usize) -> String {
        let removed = self.resources.remove(at);
        self.gone.extend(removed.before);
        let kind = format!("ref({})", removed.name);
        for resource in &mut self.resources {
            resource.held_by.take_if(|(holder, _)| *holder == removed.name);
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
            resource.held_by.iter_mut().filter(|(holder, _)| *holder == old).for_each(|held| held.0.clone_from(&new));
            resource.fields.iter_mut().filter(|field| field.kind == from).for_each(|field| field.kind.clone_from(&to));
            for (_, kind) in resource.fields.iter_mut().filter_map(|field| field.before.as_mut()) {
                if *kind == from {
                    kind.clone_from(&to);
                }
            }
            resource.gone.iter_mut().filter(|gone| gone.kind == from).for_each(|gone| gone.kind.clone_from(&to));
        }
        Some(format!("rename {old} to {new}"))
    }

    fn resource_name(&self, dice: &mut Dice) -> Option<String> {
        let name = format!("r{}", 1 + dice.below(NAMES));
        let has = |resource: &Declared| resource.name == name || resource.before.as_ref() == Some(&name);
        (!self.resources.iter().any(has) && !self.gone.contains(&name)).then_some(name)
    }

    fn rename_field(&mut self, dice: &mut Dice, at: usize) -> Option<String> {
        let which = dice.below(self.resources[at].fields.len());
        let resource = &mut self.resources[at];
        let (new, taken) = resource.field_name(dice, &resource.fields[which].kind, Some(which))?;
        let field = &mut resource.fields[which];
        let old = std::mem::replace(&mut field.name, new.clone());
        if let Some(gone) = taken.filter(|_| field.before.is_none()) {
            field.unique = false;
            field.take_up(gone);
            resource.gone.retain(|gone| gone.name != new);
        }
        self.resources[at].call(&old, &new);
        Some(format!("rename {}.{old} to {new}", self.resources[at].name))
    }

    /// A number that refers, a reference that leads elsewhere, or one that is a number.
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
            return Some(format!("{what} refers no more"));
        }
        if !refers && (!is_free || stored != "bigint" || target.before.is_none()) {
            return None;
        }
        // One that led elsewhere is a column made anew.
        (field.nullable, field.backfill, field.filled) = (true, None, true);
        let name = field.name.clone();
        field.kind = format!("ref({})", target.name);
        if refers {
            resource.forget(&name);
        } else {
            resource.unique.retain(|set| !set.contains(&name));
        }
        Some(format!("{what} refers to {}", target.name))
    }

    /// A reference that must be given: rows without one get the first record.
    fn require_reference(&mut self, dice: &mut Dice, at: usize) -> Option<String> {
        let older = |field: &Property| field.target() == Some("user") || self.is_older(field.target(), at);
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

    /// Whether a resource was there in the last migration, before that at this place was made.
    fn is_older(&self, target: Option<&str>, at: usize) -> bool {
        let target = self.resources.iter().find(|one| Some(one.name.as_str()) == target);
        target.is_some_and(|target| target.made < self.resources[at].made && target.before.is_some())
    }

    /// Whether a field that goes on takes the name of one that goes, which is refused.
    pub fn takes_a_name(&self) -> bool {
        self.resources.iter().any(|resource| {
            let goes = |field: &Property| resource.gone.iter().any(|gone| gone.name == field.name);
            resource.fields.iter().any(|field| field.before.is_some() && goes(field))
        })
    }

    /// Records are read and written with those that they refer to, or stand by themselves again.
    fn change_holder(&mut self, dice: &mut Dice, at: usize) -> Option<String> {
        let part = &self.resources[at];
        let name = part.name.clone();
        if part.held_by.is_some() {
            self.resources[at].held_by = None;
            return Some(format!("{name} stands by itself"));
        }
        let is_held = |name: &str| self.resources.iter().any(|one| one.name == name && one.held_by.is_some());
        let holds = self.resources.iter().any(|one| one.held_by.as_ref().is_some_and(|(holder, _)| *holder == name));
        if part.custom || part.attachments || part.owner.is_some() || holds {
            return None;
        }
        let leads = part.fields.iter().filter_map(|field| Some((field.target()?.to_owned(), field.name.clone())));
        let leads: Vec<_> = leads.filter(|(to, _)| *to != name && to != "user" && !is_held(to)).collect();
        let held = dice.pick(&leads)?;
        let what = format!("{} holds {name} by {}", held.0, held.1);
        self.resources[at].held_by = Some(held);
        Some(what)
    }

    /// A field that is new in a resource, whose table may hold rows.
    fn field(&mut self, dice: &mut Dice, at: usize, with_rows: bool) -> Option<Property> {
        let target = dice.pick(&self.resources).filter(|_| dice.below(5) == 0);
        let is_older = self.is_older(target.as_ref().map(|target| target.name.as_str()), at);
        let kind = match target {
            Some(_) if dice.below(5) == 0 => "ref(user)".to_owned(),
            Some(target) => format!("ref({})", target.name),
            None => KINDS[dice.below(KINDS.len())].to_owned(),
        };
        let (name, taken) = self.resources[at].field_name(dice, &kind, None)?;
        let mut field = Property { name, kind, ..Property::default() };
        if let Some(gone) = taken {
            self.resources[at].gone.retain(|one| one.name != gone.name);
            field.take_up(gone);
        }
        let must = field.kind == "uuid" || field.target().is_some_and(|to| to != "user") && !is_older;
        match dice.below(4) {
            _ if field.is_empty_by_itself() => {}
            0 if !must && field.target().is_none() => field.default = Some(field.literal(1 + dice.below(3))),
            1 if !must && with_rows => field.fill(dice),
            1 if !must => {}
            2 if !must && with_rows && field.target().is_none() => {
                field.fill(dice);
                field.default = Some(field.literal(dice.below(3)));
            }
            _ => field.nullable = true,
        }
        if with_rows && field.default.as_deref() == Some("now") {
            // The rows that are there have no time of their own.
            field.backfill = Some("now".to_owned());
        }
        field.filled |= field.default.is_some();
        Some(field)
    }
}
