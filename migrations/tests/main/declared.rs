//! What the random model declares: a resource and its fields as YAML, and how each of them changes.

use crate::model::Dice;

#[derive(Debug, Clone, Default)]
pub struct Declared {
    pub name: String,
    pub renamed_from: Option<String>,
    pub table: Option<String>,
    pub soft: bool,
    pub custom: bool,
    pub fields: Vec<Property>,
    pub unique: Vec<Vec<String>>,
    pub indexes: Vec<Vec<String>>,
    pub search: Vec<String>,
    pub ordered: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Property {
    pub name: String,
    pub renamed_from: Option<String>,
    pub kind: String,
    pub nullable: bool,
    pub default: Option<String>,
    pub backfill: Option<String>,
    pub unique: bool,
    /// Its rows were filled once, so that they may have the same value.
    pub filled: bool,
}

/// Ways that keep the values, for every value that the walk writes.
const WAYS: &[(&str, &str)] = &[
    ("string(40)", "string(80)"),
    ("string(80)", "string(40)"),
    ("string(40)", "text"),
    ("text", "string(80)"),
    ("integer", "bigint"),
    ("bigint", "integer"),
    ("integer", "decimal(9, 2)"),
    ("decimal(9, 2)", "decimal(12, 4)"),
    ("decimal(12, 4)", "decimal(9, 2)"),
    ("decimal(9, 2)", "integer"),
];

impl Property {
    pub fn yaml(&self) -> String {
        let mut keys = vec![format!("type: {}", self.kind)];
        match self.kind.as_str() {
            "enum" => keys.push("values: [red, blue]".to_owned()),
            "code" => keys.push("values: { 1: One, 2: Two }".to_owned()),
            _ => {}
        }
        if self.nullable {
            keys.push("nullable: true".to_owned());
        } else if self.default.is_none() && !self.is_empty_by_itself() {
            keys.push("required: true".to_owned());
        }
        let texts = [("default", &self.default), ("backfill", &self.backfill), ("renamed_from", &self.renamed_from)];
        for (key, value) in texts {
            keys.extend(value.as_ref().map(|value| format!("{key}: {value}")));
        }
        if self.unique {
            keys.push("unique: true".to_owned());
        }
        format!("{}: {{ {} }}", self.name, keys.join(", "))
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
            "enum" => ["red", "blue"][number % 2].to_owned(),
            "boolean" => number.is_multiple_of(2).to_string(),
            "timestamp" | "date" => "now".to_owned(),
            kind if kind.starts_with("string") || kind == "text" => format!("\"it's {number}\""),
            kind if kind.starts_with("decimal") => format!("{number}.5"),
            _ => number.to_string(),
        }
    }

    pub fn backfill_literal(&self) -> String {
        self.literal(1)
    }
}

impl Declared {
    /// Every set that names a field goes with it.
    pub fn forget(&mut self, name: &str) {
        for sets in [&mut self.unique, &mut self.indexes] {
            sets.retain(|set| set.iter().all(|field| field != name));
        }
        self.search.retain(|field| field != name);
        self.ordered.retain(|field| field != name);
    }

    pub fn call(&mut self, old: &str, new: &str) {
        let sets = self.unique.iter_mut().chain(&mut self.indexes).flatten();
        for name in sets.chain(&mut self.search).chain(&mut self.ordered).filter(|name| *name == old) {
            *name = new.to_owned();
        }
    }

    pub fn change_type(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        let at = dice.below(self.fields.len());
        let field = &mut self.fields[at];
        let ways: Vec<&str> = WAYS.iter().filter(|(from, _)| *from == field.kind).map(|(_, to)| *to).collect();
        let to = dice.pick(&ways)?;
        // What rows were filled with has half of something.
        if to == "integer" && field.kind.starts_with("decimal") && (field.filled || field.default.is_some()) {
            return None;
        }
        let what = format!("{name}.{} from {} to {to}", field.name, field.kind);
        // Text of any length is in no index that `unique` would need.
        if field.unique || to == "text" {
            field.unique = false;
            let gone = field.name.clone();
            self.forget(&gone);
        }
        self.fields[at].kind = to.to_owned();
        Some(what)
    }

    pub fn change_null(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        let at = dice.below(self.fields.len());
        let field = &mut self.fields[at];
        if field.is_empty_by_itself() || field.kind.starts_with("ref") || field.kind == "uuid" || field.unique {
            return None;
        }
        field.nullable ^= true;
        if !field.nullable {
            (field.backfill, field.filled) = (Some(field.backfill_literal()), true);
        }
        // A set that may not repeat must not be filled with the same.
        let what = format!("{name}.{} is nullable: {}", field.name, field.nullable);
        let gone = field.name.clone();
        self.unique.retain(|set| !set.contains(&gone));
        Some(what)
    }

    pub fn change_default(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        let at = dice.below(self.fields.len());
        let field = &mut self.fields[at];
        if field.is_empty_by_itself() || field.kind.starts_with("ref") || field.kind == "uuid" || field.unique {
            return None;
        }
        field.default = match field.default {
            Some(_) => None,
            None => Some(field.literal(dice.below(3).clamp(1, 2))),
        };
        Some(format!("{name}.{} has the default {:?}", field.name, field.default))
    }

    pub fn change_unique(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        if !self.unique.is_empty() && dice.below(2) == 0 {
            return self.unique.pop().map(|set| format!("{name}: {set:?} may repeat"));
        }
        let fit = |field: &&Property| field.is_distinct() && field.nullable && !field.filled;
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
        let field = self.fields.iter_mut().find(|field| field.name == first && field.default.is_none())?;
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
        let name = self.name.clone();
        let fit = |field: &&Property| field.kind != "text" && !field.is_empty_by_itself();
        let fields: Vec<String> = self.fields.iter().filter(fit).map(|field| field.name.clone()).collect();
        let field = dice.pick(&fields)?;
        match self.ordered.iter().position(|ordered| *ordered == field) {
            Some(at) => drop(self.ordered.remove(at)),
            None => self.ordered.push(field.clone()),
        }
        Some(format!("{name}: the order of {field}"))
    }

    pub fn change_search(&mut self, dice: &mut Dice) -> Option<String> {
        let name = self.name.clone();
        let fields: Vec<String> =
            self.fields.iter().filter(|field| field.is_text()).map(|field| field.name.clone()).collect();
        let field = dice.pick(&fields)?;
        match self.search.iter().position(|searched| *searched == field) {
            Some(at) => drop(self.search.remove(at)),
            None => self.search.push(field.clone()),
        }
        Some(format!("{name}: search in {field}"))
    }
}
