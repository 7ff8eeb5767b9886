//! A model that changes at random, one declaration at a time, and is always valid YAML.

use std::fmt::Write;

use crate::declared::{Declared, Property};

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
    /// Every name is given once.
    names: usize,
}

const KINDS: &[&str] = &[
    "string(40)",
    "string(80)",
    "text",
    "integer",
    "bigint",
    "boolean",
    "decimal(9, 2)",
    "decimal(12, 4)",
    "timestamp",
    "date",
    "enum",
    "code",
    "list(string(9))",
    "json",
    "uuid",
];

impl Model {
    /// The YAML, each file under a comment with its path.
    pub fn yaml(&self) -> String {
        let mut text = String::new();
        for resource in &self.resources {
            writeln!(text, "# resources/{0}.yaml\nresource: {0}", resource.name).unwrap();
            for (key, value) in [("renamed_from", &resource.renamed_from), ("table", &resource.table)] {
                value.iter().for_each(|value| writeln!(text, "{key}: {value}").unwrap());
            }
            text.push_str(if resource.soft { "delete: soft\n" } else { "" });
            text.push_str(if resource.custom { "custom_fields: true\n" } else { "" });
            text.push_str("fields:\n");
            resource.fields.iter().for_each(|field| writeln!(text, "  {}", field.yaml()).unwrap());
            for (key, sets) in [("unique", &resource.unique), ("indexes", &resource.indexes)] {
                let sets: Vec<String> = sets.iter().map(|set| format!("[{}]", set.join(", "))).collect();
                writeln!(text, "{key}: [{}]", sets.join(", ")).unwrap();
            }
            writeln!(text, "search: [{}]", resource.search.join(", ")).unwrap();
            writeln!(text, "ordered: [{}]", resource.ordered.join(", ")).unwrap();
        }
        text
    }

    fn name(&mut self, beginning: &str) -> String {
        self.names += 1;
        format!("{beginning}{}", self.names)
    }

    /// One change, and what it is; some need several throws to find one that is possible.
    pub fn change(&mut self, dice: &mut Dice) -> String {
        for resource in &mut self.resources {
            resource.renamed_from = None;
            for field in &mut resource.fields {
                (field.renamed_from, field.backfill) = (None, None);
            }
        }
        loop {
            if let Some(done) = self.try_change(dice) {
                return done;
            }
        }
    }

    fn try_change(&mut self, dice: &mut Dice) -> Option<String> {
        if self.resources.len() < 2 || dice.below(20) == 0 && self.resources.len() < 6 {
            return Some(self.add_resource(dice));
        }
        let at = dice.below(self.resources.len());
        let name = self.resources[at].name.clone();
        match dice.below(21) {
            0 if self.resources.len() > 3 && !self.is_referred_to(&name) => {
                self.resources.remove(at);
                Some(format!("remove {name}"))
            }
            1 => {
                let new = self.name("r");
                self.resources[at].renamed_from = Some(std::mem::replace(&mut self.resources[at].name, new.clone()));
                let (old, new_kind) = (format!("ref({name})"), format!("ref({new})"));
                for field in self.resources.iter_mut().flat_map(|resource| &mut resource.fields) {
                    if field.kind == old {
                        field.kind.clone_from(&new_kind);
                    }
                }
                Some(format!("rename {name} to {new}"))
            }
            2 => {
                let table = self.name("t");
                self.resources[at].table = Some(table.clone());
                Some(format!("the table of {name} is {table}"))
            }
            3 => {
                self.resources[at].soft ^= true;
                Some(format!("soft deletes of {name}"))
            }
            4 => {
                self.resources[at].custom ^= true;
                Some(format!("custom fields of {name}"))
            }
            5..=8 if self.resources[at].fields.len() < 12 => {
                let field = self.field(dice, true);
                let what = format!("add {name}.{}", field.yaml());
                self.resources[at].fields.push(field);
                Some(what)
            }
            9 | 10 if self.resources[at].fields.len() > 1 => {
                let gone = dice.below(self.resources[at].fields.len());
                let gone = self.resources[at].fields.remove(gone).name;
                self.resources[at].forget(&gone);
                Some(format!("remove {name}.{gone}"))
            }
            11 | 12 => {
                let new = self.name("f");
                let which = dice.below(self.resources[at].fields.len());
                let old = std::mem::replace(&mut self.resources[at].fields[which].name, new.clone());
                self.resources[at].fields[which].renamed_from = Some(old.clone());
                self.resources[at].call(&old, &new);
                Some(format!("rename {name}.{old} to {new}"))
            }
            13 => self.resources[at].change_type(dice),
            14 | 15 => self.resources[at].change_null(dice),
            16 => self.resources[at].change_default(dice),
            17 => self.resources[at].change_unique(dice),
            18 => self.resources[at].change_indexes(dice),
            19 => self.resources[at].change_search(dice),
            20 => self.resources[at].change_ordered(dice),
            _ => None,
        }
    }

    fn is_referred_to(&self, name: &str) -> bool {
        let kind = format!("ref({name})");
        self.resources.iter().any(|resource| resource.fields.iter().any(|field| field.kind == kind))
    }

    fn add_resource(&mut self, dice: &mut Dice) -> String {
        let mut resource = Declared { name: self.name("r"), soft: dice.below(3) == 0, ..Declared::default() };
        for _ in 0..1 + dice.below(4) {
            let field = self.field(dice, false);
            resource.fields.push(field);
        }
        let what = format!("add {}", resource.name);
        self.resources.push(resource);
        what
    }

    fn field(&mut self, dice: &mut Dice, with_rows: bool) -> Property {
        let name = self.name("f");
        let target = dice.pick(&self.resources).filter(|_| dice.below(5) == 0);
        let kind = match target {
            Some(target) => format!("ref({})", target.name),
            None => KINDS[dice.below(KINDS.len())].to_owned(),
        };
        let mut field = Property {
            name,
            renamed_from: None,
            kind,
            nullable: false,
            default: None,
            backfill: None,
            unique: false,
            filled: false,
        };
        let must = field.kind.starts_with("ref") || field.kind == "uuid";
        match dice.below(3) {
            _ if field.is_empty_by_itself() => {}
            0 if !must => field.default = Some(field.literal(1 + dice.below(2))),
            1 if !must && with_rows => (field.backfill, field.filled) = (Some(field.backfill_literal()), true),
            1 if !must => {}
            _ => field.nullable = true,
        }
        if with_rows && field.default.as_deref() == Some("now") {
            // The rows that are there have no time of their own.
            field.backfill = Some("now".to_owned());
        }
        field.filled |= field.default.is_some();
        field
    }
}
