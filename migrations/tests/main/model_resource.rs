//! Resources and fields of the random model: their YAML and their random changes.

use crate::model::Dice;

#[derive(Debug, Clone, Default)]
pub struct ModelResource {
    pub name: String,
    /// The name in the last migration, or `None` if the resource is new.
    pub before: Option<String>,
    /// The creation order of resources.
    pub number: usize,
    pub table: Option<String>,
    pub soft: bool,
    pub custom: bool,
    pub attachments: bool,
    pub owner: Option<String>,
    /// The resource whose child records these are, and the field that references it.
    pub parent: Option<(String, String)>,
    pub fields: Vec<ModelField>,
    /// The fields that this migration removes.
    pub removed: Vec<RemovedField>,
    pub unique: Vec<Vec<String>>,
    pub indexes: Vec<Vec<String>>,
    pub search: Vec<String>,
    pub ordered: Vec<String>,
}

/// A removed field, as in the last migration.
#[derive(Debug, Clone)]
pub struct RemovedField {
    pub name: String,
    pub kind: String,
    pub filled: bool,
}

#[derive(Debug, Clone, Default)]
pub struct ModelField {
    pub name: String,
    /// The name and type in the last migration, or `None` if the field is new.
    pub before: Option<(String, String)>,
    pub kind: String,
    pub nullable: bool,
    pub default: Option<String>,
    pub backfill: Option<String>,
    pub unique: bool,
    pub was_unique: bool,
    /// Several rows may have the same value, for example the default.
    pub filled: bool,
}

pub const KINDS: &[&str] = &[
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
    "time",
    "enum",
    "code",
    "list(string(9))",
    "json",
    "uuid",
];

/// Types of one family can be changed into each other, and every value of the walk fits them. Exceptions are fractions,
/// which fit no integer, and decimals, which are no codes.
pub fn family(kind: &str) -> &str {
    match kind {
        "text" | "enum" => "text",
        kind if kind.starts_with("string") => "text",
        "integer" | "bigint" | "code" => "number",
        kind if kind.starts_with("decimal") => "number",
        kind => kind,
    }
}

impl ModelField {
    pub fn yaml(&self) -> String {
        let mut keys = vec![format!("type: {}", self.kind)];
        match self.kind.as_str() {
            "enum" => keys.push("values: [red, blue, green]".to_owned()),
            "code" => keys.push("values: { 0: None, 1: One, 2: Two, 3: Three }".to_owned()),
            _ => {}
        }
        if self.nullable {
            keys.push("nullable: true".to_owned());
        } else if self.default.is_none() && !self.defaults_to_empty() {
            keys.push("required: true".to_owned());
        }
        let former = self.before.as_ref().map(|(name, _)| name.clone()).filter(|name| *name != self.name);
        let texts = [("default", &self.default), ("backfill", &self.backfill), ("renamed_from", &former)];
        for (key, value) in texts {
            keys.extend(value.as_ref().map(|value| format!("{key}: {value}")));
        }
        if self.unique {
            keys.push("unique: true".to_owned());
        }
        format!("{}: {{ {} }}", self.name, keys.join(", "))
    }

    /// The referenced resource.
    pub fn target(&self) -> Option<&str> {
        self.kind.strip_prefix("ref(")?.strip_suffix(')')
    }

    /// A list or object, whose default is empty and which is not nullable.
    pub fn defaults_to_empty(&self) -> bool {
        self.kind == "json" || self.kind.starts_with("list")
    }

    pub fn is_text(&self) -> bool {
        self.kind == "text" || self.kind.starts_with("string")
    }

    /// A type that an index can contain, and of which the walk writes a different value into each row.
    pub fn is_indexable(&self) -> bool {
        self.kind.starts_with("string")
            || matches!(self.kind.as_str(), "integer" | "bigint" | "date" | "time" | "timestamp")
    }

    pub fn literal(&self, number: usize) -> String {
        match self.kind.as_str() {
            "enum" => ["red", "blue", "green"][number % 3].to_owned(),
            "boolean" => number.is_multiple_of(2).to_string(),
            "timestamp" | "date" => "now".to_owned(),
            "time" => format!("{:02}:30:00", number % 24),
            // Characters and words that the parser of `CREATE TABLE` statements looks for.
            _ if self.is_text() => {
                [r#""it's, (1""#, r#""a CONSTRAINT \"b""#, r#""\"c\" ') NULL""#][number % 3].to_owned()
            }
            kind if kind.starts_with("decimal") => format!("{number}.5"),
            _ => number.to_string(),
        }
    }

    /// The field takes the name of a removed one. For the migration, it is the same field.
    pub fn reuse(&mut self, removed: RemovedField) {
        self.filled |= removed.filled || family(&removed.kind) == family(&self.kind);
        self.was_unique = true;
        self.before = Some((removed.name, removed.kind));
    }

    /// Sets a backfill, which gives several rows the same value.
    pub fn set_backfill(&mut self, dice: &mut Dice) {
        let value = if self.target().is_some() { "1".to_owned() } else { self.literal(dice.below(3)) };
        (self.backfill, self.filled) = (Some(value), true);
    }
}

impl ModelResource {
    /// A free name for a field of this type, and the removed field that had it. `renamed` is the field that gets the name;
    /// sometimes the name is one that a kept field must not reuse.
    pub fn field_name(
        &self,
        dice: &mut Dice,
        kind: &str,
        renamed: Option<usize>,
    ) -> Option<(String, Option<RemovedField>)> {
        let name = format!("f{}", 1 + dice.below(14));
        let is_used = self.fields.iter().enumerate().any(|(number, field)| {
            let before = field.before.as_ref().is_some_and(|(before, _)| *before == name);
            field.name == name || before && Some(number) != renamed
        });
        let removed = self.removed.iter().find(|removed| removed.name == name).cloned();
        let is_kept = renamed.is_some_and(|number| self.fields[number].before.is_some());
        let fits = match &removed {
            None => true,
            Some(_) if is_kept => dice.below(4) == 0,
            // The values of the removed field are kept and must fit, or the column is recreated.
            Some(removed) => {
                removed.kind == kind
                    || family(&removed.kind) != family(kind) && !is_number_and_reference(&removed.kind, kind)
            }
        };
        (!is_used && fits).then_some((name, removed))
    }

    /// Removes a field and returns its name.
    pub fn remove(&mut self, number: usize) -> String {
        let field = self.fields.remove(number);
        if let Some((name, kind)) = field.before {
            self.removed.push(RemovedField { name, kind, filled: field.filled });
        }
        self.remove_from_sets(&field.name);
        field.name
    }

    /// Removes every set that contains a field.
    pub fn remove_from_sets(&mut self, name: &str) {
        for sets in [&mut self.unique, &mut self.indexes] {
            sets.retain(|set| set.iter().all(|field| field != name));
        }
        self.search.retain(|field| field != name);
        self.ordered.retain(|field| field != name);
        self.owner.take_if(|owner| owner == name);
        self.parent.take_if(|(_, by)| by == name);
    }

    pub fn rename_in_sets(&mut self, old: &str, new: &str) {
        let sets = self.unique.iter_mut().chain(&mut self.indexes).flatten();
        let by = self.parent.iter_mut().map(|(_, by)| by);
        let names = sets.chain(&mut self.search).chain(&mut self.ordered).chain(&mut self.owner).chain(by);
        names.filter(|name| *name == old).for_each(|name| new.clone_into(name));
    }

    /// Turns a foreign key into a number.
    pub fn become_number(&mut self, number: usize) {
        let field = &mut self.fields[number];
        (field.kind, field.filled) = ("bigint".to_owned(), true);
        let name = field.name.clone();
        self.owner.take_if(|owner| *owner == name);
        self.parent.take_if(|(_, by)| *by == name);
    }

    pub fn change_type(&mut self, dice: &mut Dice) -> Option<String> {
        let at = dice.below(self.fields.len());
        let field = &self.fields[at];
        let stored = field.before.as_ref().map_or(field.kind.as_str(), |(_, kind)| kind);
        let types = KINDS.iter().filter(|kind| family(kind) == family(stored) && **kind != field.kind);
        let to = dice.pick(&types.collect::<Vec<_>>())?;
        // Filled rows may contain a fraction.
        let is_whole = |kind: &str| !kind.starts_with("decimal");
        let has_fraction = !is_whole(stored) && (field.filled || *to == "code");
        if family(&field.kind) != family(stored) || is_whole(to) && has_fraction {
            return None;
        }
        Some(self.give_type(dice, at, to))
    }

    /// Changes to a type without conversion: the column is recreated.
    pub fn change_kind(&mut self, dice: &mut Dice) -> Option<String> {
        let at = dice.below(self.fields.len());
        let to = dice.pick(KINDS)?;
        let field = &self.fields[at];
        let stored = field.before.as_ref().map_or(field.kind.as_str(), |(_, kind)| kind);
        if family(to) == family(stored) || is_number_and_reference(stored, to) || field.target().is_some() {
            return None;
        }
        let what = self.give_type(dice, at, to);
        let field = &mut self.fields[at];
        (field.filled, field.nullable) = (field.default.is_some(), !field.defaults_to_empty());
        Some(format!("{what}, recreated"))
    }

    fn give_type(&mut self, dice: &mut Dice, at: usize, to: &str) -> String {
        let field = &mut self.fields[at];
        let what = format!("{}.{} from {} to {to}", self.name, field.name, field.kind);
        to.clone_into(&mut field.kind);
        let (literal, name) = (field.literal(dice.below(3)), field.name.clone());
        let has_no_literal = field.kind == "uuid" || field.defaults_to_empty();
        for value in [&mut field.default, &mut field.backfill] {
            *value = value.take().filter(|_| !has_no_literal).map(|_| literal.clone());
        }
        let (indexable, text, sortable) =
            (field.is_indexable(), field.is_text(), field.kind != "text" && !field.defaults_to_empty());
        field.unique &= indexable;
        for sets in [&mut self.unique, &mut self.indexes] {
            sets.retain(|set| indexable || set.iter().all(|field| *field != name));
        }
        self.search.retain(|field| text || *field != name);
        self.ordered.retain(|field| sortable || *field != name);
        what
    }

    pub fn change_null(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        let at = dice.below(self.fields.len());
        let field = &mut self.fields[at];
        let is_fixed = field.defaults_to_empty() || field.kind == "uuid" || field.unique;
        // A foreign key needs a record to reference.
        if is_fixed || field.nullable && field.target().is_some() {
            return None;
        }
        field.nullable ^= true;
        if !field.nullable && (field.default.is_none() || field.literal(0) == "now" || dice.below(2) == 0) {
            field.set_backfill(dice);
        }
        field.filled = true;
        // A unique set must not be filled with equal values.
        let what = format!("{name}.{} is nullable: {}", field.name, field.nullable);
        let changed = field.name.clone();
        self.unique.retain(|set| !set.contains(&changed));
        Some(what)
    }

    pub fn change_default(&mut self, dice: &mut Dice) -> Option<String> {
        let at = dice.below(self.fields.len());
        let field = &mut self.fields[at];
        if field.defaults_to_empty() || field.target().is_some() || field.kind == "uuid" || field.unique {
            return None;
        }
        let is_needed = !field.nullable && field.before.is_none() && field.backfill.is_none();
        field.default = match field.default {
            Some(_) if dice.below(2) == 0 && !is_needed => None,
            _ => Some(field.literal(dice.below(3))),
        };
        field.filled |= field.default.is_some();
        let what = format!("{}.{} has the default {:?}", self.name, field.name, field.default);
        let changed = field.name.clone();
        self.unique.retain(|set| !set.contains(&changed));
        Some(what)
    }

    pub fn change_unique(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        if !self.unique.is_empty() && dice.below(2) == 0 {
            return self.unique.pop().map(|set| format!("{name}: {set:?} is not unique"));
        }
        let fit = |field: &&ModelField| field.is_indexable() && !field.filled && field.default.is_none();
        let mut fields: Vec<String> = self.fields.iter().filter(fit).map(|field| field.name.clone()).collect();
        let first = dice.pick(&fields)?;
        fields.retain(|field| *field != first);
        if let Some(second) = dice.pick(&fields).filter(|_| dice.below(2) == 0) {
            let set = vec![first, second];
            if self.unique.contains(&set) {
                return None;
            }
            self.unique.push(set.clone());
            return Some(format!("{name}: {set:?} is unique"));
        }
        let field = self.fields.iter_mut().find(|field| field.name == first)?;
        field.unique ^= true;
        Some(format!("{name}.{first} is unique: {}", field.unique))
    }

    pub fn change_indexes(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        if !self.indexes.is_empty() && dice.below(3) == 0 {
            return self.indexes.pop().map(|set| format!("{name}: no index over {set:?}"));
        }
        let fit = |field: &&ModelField| field.is_indexable() || field.kind.starts_with("ref");
        let mut fields: Vec<String> = self.fields.iter().filter(fit).map(|field| field.name.clone()).collect();
        let first = dice.pick(&fields)?;
        fields.retain(|field| *field != first);
        let set: Vec<String> = std::iter::once(first).chain(dice.pick(&fields)).collect();
        if self.indexes.contains(&set) {
            return None;
        }
        self.indexes.push(set.clone());
        Some(format!("{name}: an index over {set:?}"))
    }

    pub fn change_ordered(&mut self, dice: &mut Dice) -> Option<String> {
        let fit = |field: &&ModelField| field.kind != "text" && !field.defaults_to_empty();
        let fields: Vec<String> = self.fields.iter().filter(fit).map(|field| field.name.clone()).collect();
        let field = dice.pick(&fields)?;
        toggle(&mut self.ordered, &field);
        Some(format!("{}: the order of {field}", self.name))
    }

    pub fn change_search(&mut self, dice: &mut Dice) -> Option<String> {
        let fields: Vec<String> =
            self.fields.iter().filter(|field| field.is_text()).map(|field| field.name.clone()).collect();
        let field = dice.pick(&fields)?;
        toggle(&mut self.search, &field);
        Some(format!("{}: search in {field}", self.name))
    }

    pub fn change_owner(&mut self, dice: &mut Dice) -> Option<String> {
        let fields = self.fields.iter().filter(|field| field.kind == "ref(user)" && self.parent.is_none());
        let field = dice.pick(&fields.map(|field| field.name.clone()).collect::<Vec<_>>())?;
        self.owner = if self.owner.is_some() { None } else { Some(field) };
        Some(format!("{} is owned by {:?}", self.name, self.owner))
    }
}

/// Returns true for a number and a foreign key: the change requires that every value references a record.
fn is_number_and_reference(from: &str, to: &str) -> bool {
    [from, to].contains(&"bigint") && [from, to].iter().any(|kind| kind.starts_with("ref("))
}

fn toggle(names: &mut Vec<String>, name: &str) {
    match names.iter().position(|one| one == name) {
        Some(at) => drop(names.remove(at)),
        None => names.push(name.to_owned()),
    }
}
