//! What the random model declares: a resource and its fields as YAML, and how each of them changes.

use crate::model::Dice;

#[derive(Debug, Clone, Default)]
pub struct Declared {
    pub name: String,
    /// Its name in the last migration; none where it is new.
    pub before: Option<String>,
    /// Its place among all that were ever made.
    pub made: usize,
    pub table: Option<String>,
    pub soft: bool,
    pub custom: bool,
    pub attachments: bool,
    pub owner: Option<String>,
    /// The resource whose records it is written with, and the field that says whose.
    pub held_by: Option<(String, String)>,
    pub fields: Vec<Property>,
    /// The fields that go in this migration.
    pub gone: Vec<Gone>,
    pub unique: Vec<Vec<String>>,
    pub indexes: Vec<Vec<String>>,
    pub search: Vec<String>,
    pub ordered: Vec<String>,
}

/// What stood under a name in the last migration.
#[derive(Debug, Clone)]
pub struct Gone {
    pub name: String,
    pub kind: String,
    pub filled: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Property {
    pub name: String,
    /// Its name and its type in the last migration; none where it is new.
    pub before: Option<(String, String)>,
    pub kind: String,
    pub nullable: bool,
    pub default: Option<String>,
    pub backfill: Option<String>,
    pub unique: bool,
    pub was_unique: bool,
    /// Several rows may have the same value.
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
    "enum",
    "code",
    "list(string(9))",
    "json",
    "uuid",
];

/// Within a family every type becomes every other, and every value that the walk writes has its place in it; but for halves,
/// which are in no whole number, and decimals, which are no codes.
pub fn family(kind: &str) -> &str {
    match kind {
        "text" | "enum" => "text",
        kind if kind.starts_with("string") => "text",
        "integer" | "bigint" | "code" => "number",
        kind if kind.starts_with("decimal") => "number",
        kind => kind,
    }
}

impl Property {
    pub fn yaml(&self) -> String {
        let mut keys = vec![format!("type: {}", self.kind)];
        match self.kind.as_str() {
            "enum" => keys.push("values: [red, blue, green]".to_owned()),
            "code" => keys.push("values: { 0: None, 1: One, 2: Two, 3: Three }".to_owned()),
            _ => {}
        }
        if self.nullable {
            keys.push("nullable: true".to_owned());
        } else if self.default.is_none() && !self.is_empty_by_itself() {
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

    /// The resource that it refers to.
    pub fn target(&self) -> Option<&str> {
        self.kind.strip_prefix("ref(")?.strip_suffix(')')
    }

    /// A list or an object, which begins empty and is never null.
    pub fn is_empty_by_itself(&self) -> bool {
        self.kind == "json" || self.kind.starts_with("list")
    }

    pub fn is_text(&self) -> bool {
        self.kind == "text" || self.kind.starts_with("string")
    }

    /// What an index can be over, and what can be told apart.
    pub fn is_distinct(&self) -> bool {
        self.kind.starts_with("string") || matches!(self.kind.as_str(), "integer" | "bigint" | "date" | "timestamp")
    }

    pub fn literal(&self, number: usize) -> String {
        match self.kind.as_str() {
            "enum" => ["red", "blue", "green"][number % 3].to_owned(),
            "boolean" => number.is_multiple_of(2).to_string(),
            "timestamp" | "date" => "now".to_owned(),
            // What the text of a table is taken apart by.
            _ if self.is_text() => {
                [r#""it's, (1""#, r#""a CONSTRAINT \"b""#, r#""\"c\" ') NULL""#][number % 3].to_owned()
            }
            kind if kind.starts_with("decimal") => format!("{number}.5"),
            _ => number.to_string(),
        }
    }

    /// What stood under its name is what it was: a migration knows no difference.
    pub fn take_up(&mut self, gone: Gone) {
        self.filled |= gone.filled || family(&gone.kind) == family(&self.kind);
        self.was_unique = true;
        self.before = Some((gone.name, gone.kind));
    }

    /// Rows without a value get one, which is then in several.
    pub fn fill(&mut self, dice: &mut Dice) {
        let value = if self.target().is_some() { "1".to_owned() } else { self.literal(dice.below(3)) };
        (self.backfill, self.filled) = (Some(value), true);
    }
}

impl Declared {
    /// A name for a field of this type that no other has, and what stood under it in the last migration and now goes.
    /// `renamed` is the field that is to have it; now and then a name is taken for that which may not be.
    pub fn field_name(&self, dice: &mut Dice, kind: &str, renamed: Option<usize>) -> Option<(String, Option<Gone>)> {
        let name = format!("f{}", 1 + dice.below(14));
        let is_taken = self.fields.iter().enumerate().any(|(number, field)| {
            let before = field.before.as_ref().is_some_and(|(before, _)| *before == name);
            field.name == name || before && Some(number) != renamed
        });
        let gone = self.gone.iter().find(|gone| gone.name == name).cloned();
        let is_kept = renamed.is_some_and(|number| self.fields[number].before.is_some());
        let fits = match &gone {
            None => true,
            Some(_) if is_kept => dice.below(4) == 0,
            // The values are those of the field that goes, and must fit, or go with it.
            Some(gone) => {
                gone.kind == kind || family(&gone.kind) != family(kind) && !is_number_that_refers(&gone.kind, kind)
            }
        };
        (!is_taken && fits).then_some((name, gone))
    }

    /// Removes a field, and answers its name.
    pub fn remove(&mut self, number: usize) -> String {
        let field = self.fields.remove(number);
        if let Some((name, kind)) = field.before {
            self.gone.push(Gone { name, kind, filled: field.filled });
        }
        self.forget(&field.name);
        field.name
    }

    /// Every set that names a field goes with it.
    pub fn forget(&mut self, name: &str) {
        for sets in [&mut self.unique, &mut self.indexes] {
            sets.retain(|set| set.iter().all(|field| field != name));
        }
        self.search.retain(|field| field != name);
        self.ordered.retain(|field| field != name);
        self.owner.take_if(|owner| owner == name);
        self.held_by.take_if(|(_, by)| by == name);
    }

    pub fn call(&mut self, old: &str, new: &str) {
        let sets = self.unique.iter_mut().chain(&mut self.indexes).flatten();
        let held = self.held_by.iter_mut().map(|(_, by)| by);
        let names = sets.chain(&mut self.search).chain(&mut self.ordered).chain(&mut self.owner).chain(held);
        names.filter(|name| *name == old).for_each(|name| new.clone_into(name));
    }

    /// A reference that is a plain number from now on.
    pub fn become_number(&mut self, number: usize) {
        let field = &mut self.fields[number];
        (field.kind, field.filled) = ("bigint".to_owned(), true);
        let name = field.name.clone();
        self.owner.take_if(|owner| *owner == name);
        self.held_by.take_if(|(_, by)| *by == name);
    }

    pub fn change_type(&mut self, dice: &mut Dice) -> Option<String> {
        let at = dice.below(self.fields.len());
        let field = &self.fields[at];
        let stored = field.before.as_ref().map_or(field.kind.as_str(), |(_, kind)| kind);
        let ways = KINDS.iter().filter(|kind| family(kind) == family(stored) && **kind != field.kind);
        let to = dice.pick(&ways.collect::<Vec<_>>())?;
        // What rows were filled with has half of something.
        let is_whole = |kind: &str| !kind.starts_with("decimal");
        let has_half = !is_whole(stored) && (field.filled || *to == "code");
        if family(&field.kind) != family(stored) || is_whole(to) && has_half {
            return None;
        }
        Some(self.give_type(dice, at, to))
    }

    /// A type to which no way leads: the column is made anew.
    pub fn change_kind(&mut self, dice: &mut Dice) -> Option<String> {
        let at = dice.below(self.fields.len());
        let to = dice.pick(KINDS)?;
        let field = &self.fields[at];
        let stored = field.before.as_ref().map_or(field.kind.as_str(), |(_, kind)| kind);
        if family(to) == family(stored) || is_number_that_refers(stored, to) || field.target().is_some() {
            return None;
        }
        let what = self.give_type(dice, at, to);
        let field = &mut self.fields[at];
        (field.filled, field.nullable) = (field.default.is_some(), !field.is_empty_by_itself());
        Some(format!("{what}, anew"))
    }

    fn give_type(&mut self, dice: &mut Dice, at: usize, to: &str) -> String {
        let field = &mut self.fields[at];
        let what = format!("{}.{} from {} to {to}", self.name, field.name, field.kind);
        to.clone_into(&mut field.kind);
        let (literal, name) = (field.literal(dice.below(3)), field.name.clone());
        let has_none = field.kind == "uuid" || field.is_empty_by_itself();
        for value in [&mut field.default, &mut field.backfill] {
            *value = value.take().filter(|_| !has_none).map(|_| literal.clone());
        }
        let (distinct, text, plain) =
            (field.is_distinct(), field.is_text(), field.kind != "text" && !field.is_empty_by_itself());
        field.unique &= distinct;
        for sets in [&mut self.unique, &mut self.indexes] {
            sets.retain(|set| distinct || set.iter().all(|field| *field != name));
        }
        self.search.retain(|field| text || *field != name);
        self.ordered.retain(|field| plain || *field != name);
        what
    }

    pub fn change_null(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        let at = dice.below(self.fields.len());
        let field = &mut self.fields[at];
        let is_fixed = field.is_empty_by_itself() || field.kind == "uuid" || field.unique;
        // Which record would a new one refer to?
        if is_fixed || field.nullable && field.target().is_some() {
            return None;
        }
        field.nullable ^= true;
        if !field.nullable && (field.default.is_none() || field.literal(0) == "now" || dice.below(2) == 0) {
            field.fill(dice);
        }
        field.filled = true;
        // A set that may not repeat must not be filled with the same.
        let what = format!("{name}.{} is nullable: {}", field.name, field.nullable);
        let gone = field.name.clone();
        self.unique.retain(|set| !set.contains(&gone));
        Some(what)
    }

    pub fn change_default(&mut self, dice: &mut Dice) -> Option<String> {
        let at = dice.below(self.fields.len());
        let field = &mut self.fields[at];
        if field.is_empty_by_itself() || field.target().is_some() || field.kind == "uuid" || field.unique {
            return None;
        }
        let is_needed = !field.nullable && field.before.is_none() && field.backfill.is_none();
        field.default = match field.default {
            Some(_) if dice.below(2) == 0 && !is_needed => None,
            _ => Some(field.literal(dice.below(3))),
        };
        field.filled |= field.default.is_some();
        let what = format!("{}.{} has the default {:?}", self.name, field.name, field.default);
        let gone = field.name.clone();
        self.unique.retain(|set| !set.contains(&gone));
        Some(what)
    }

    pub fn change_unique(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        if !self.unique.is_empty() && dice.below(2) == 0 {
            return self.unique.pop().map(|set| format!("{name}: {set:?} may repeat"));
        }
        let fit = |field: &&Property| field.is_distinct() && !field.filled && field.default.is_none();
        let mut fields: Vec<String> = self.fields.iter().filter(fit).map(|field| field.name.clone()).collect();
        let first = dice.pick(&fields)?;
        fields.retain(|field| *field != first);
        if let Some(second) = dice.pick(&fields).filter(|_| dice.below(2) == 0) {
            let set = vec![first, second];
            if self.unique.contains(&set) {
                return None;
            }
            self.unique.push(set.clone());
            return Some(format!("{name}: {set:?} must not repeat"));
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
        let fit = |field: &&Property| field.is_distinct() || field.kind.starts_with("ref");
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
        let fit = |field: &&Property| field.kind != "text" && !field.is_empty_by_itself();
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
        let fields = self.fields.iter().filter(|field| field.kind == "ref(user)" && self.held_by.is_none());
        let field = dice.pick(&fields.map(|field| field.name.clone()).collect::<Vec<_>>())?;
        self.owner = if self.owner.is_some() { None } else { Some(field) };
        Some(format!("{} is owned by {:?}", self.name, self.owner))
    }
}

/// A number becomes a reference where every value leads to a record.
fn is_number_that_refers(from: &str, to: &str) -> bool {
    [from, to].contains(&"bigint") && [from, to].iter().any(|kind| kind.starts_with("ref("))
}

fn toggle(names: &mut Vec<String>, name: &str) {
    match names.iter().position(|one| one == name) {
        Some(at) => drop(names.remove(at)),
        None => names.push(name.to_owned()),
    }
}
