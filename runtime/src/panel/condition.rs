//! What a list's address asks: its conditions one by one, its order, its page; and how they are written again.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::chooser::Step;
use super::columns::Column;
use super::place::Place;
use super::tools::Tool;
use super::{deleted, words, zone};
use crate::error::{Error, Result};
use crate::meta::Kind;
use crate::query::{Pair, Predicate, Reads};

/// One condition, as it is chosen and as a saved view keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// How it joins those before it: `and`, `or`, `nand`, `nor`.
    pub logic: String,
    pub field: String,
    pub predicate: String,
    /// With commas between several.
    pub value: String,
}

/// What a list is asked for.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    pub rows: Vec<Row>,
    pub sort: Option<String>,
    pub page: Option<String>,
    pub per_page: Option<String>,
    pub view_id: Option<i64>,
    /// The names of the columns that were chosen.
    pub columns: Option<Vec<String>>,
    /// What the address asks beside, which the API reads and this page does not show.
    pub others: Vec<Pair>,
    /// Whether the address is to be written anew: it came from a form.
    pub is_rough: bool,
    /// The arrow that moved a column.
    pub arrow: Option<String>,
    /// The tool that is open. It is closed again once it did what it is there for.
    pub tool: Option<Tool>,
}

pub const LOGICS: &[&str] = &["and", "or", "nand", "nor"];

impl Wish {
    /// Reads an address.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it has more conditions than a page can be drawn with: each of them has a link that holds the
    /// others.
    pub fn read(pairs: Vec<Pair>, columns: &[Column], zone: chrono_tz::Tz) -> Result<Wish> {
        let mut wish = Wish::default();
        let mut chosen: Vec<(usize, &str, String)> = Vec::new();
        let mut filters: Option<String> = None;
        let mut steps: Vec<Pair> = Vec::new();
        for Pair { name, value } in pairs {
            let blank = value.trim().is_empty();
            if let Some((number, part)) = form_field(&name) {
                chosen.push((number, part, value));
                continue;
            }
            match name.as_str() {
                "apply" => wish.is_rough = true,
                "_up" | "_down" => {
                    wish.is_rough = true;
                    steps.push(Pair { name, value });
                }
                "tool" => wish.tool = Tool::named(&value),
                "columns" => wish.columns.get_or_insert_default().extend(value.split(',').map(String::from)),
                "sort" | "page" | "per_page" | "view_id" if blank => wish.is_rough = true,
                "sort" => wish.sort = Some(value),
                "page" => wish.page = Some(value),
                "per_page" => wish.per_page = Some(value),
                // What is no number is a view that there is not, and said to be that.
                "view_id" => wish.view_id = Some(value.trim().parse().unwrap_or_default()),
                // As for the API, the last one counts.
                "filters" => filters = Some(value),
                _ if name.starts_with("q[") && blank => wish.is_rough = true,
                // An element with a comma is one of a list that has no form here.
                _ if name.ends_with("[]") && value.contains(',') => wish.others.push(Pair { name, value }),
                _ if name.starts_with("q[") => match row(&name, &value, columns) {
                    Some(row) => wish.add(row, name.ends_with("[]")),
                    None => wish.others.push(Pair { name, value }),
                },
                "include" | "include[]" | "count" | "deleted" => wish.others.push(Pair { name, value }),
                _ => {}
            }
        }
        if let Some(text) = filters {
            match serde_json::from_str(&text).ok().and_then(|filters| from_json(&filters)) {
                // What `q` asks narrows what they find: it is joined behind them.
                Some(rows) => wish.rows.splice(0..0, rows).for_each(drop),
                None => wish.others.push(Pair { name: "filters".into(), value: text }),
            }
        }
        wish.take(chosen, columns, zone);
        if let Some(columns) = &mut wish.columns {
            columns.retain(|name| !name.is_empty());
            for step in steps.iter().filter_map(Step::of) {
                step.take(columns);
                wish.arrow = Some(step.arrow());
            }
        }
        if wish.rows.len() > MOST {
            return Err(Error::Malformed(format!("The address has more than {MOST} conditions.")));
        }
        Ok(wish)
    }

    /// Elements of one list that come one by one are one condition.
    fn add(&mut self, row: Row, repeated: bool) {
        let same = |other: &&mut Row| other.field == row.field && other.predicate == row.predicate;
        match self.rows.iter_mut().find(same).filter(|_| repeated) {
            Some(other) => {
                other.value.push(',');
                other.value.push_str(&row.value);
            }
            None => self.rows.push(row),
        }
    }

    /// The conditions of the form: those that are not filled in are left out.
    fn take(&mut self, mut chosen: Vec<(usize, &str, String)>, columns: &[Column], zone: chrono_tz::Tz) {
        chosen.sort_by_key(|(number, ..)| *number);
        let numbers: Vec<usize> = chosen.iter().map(|(number, ..)| *number).collect();
        let mut done: Option<usize> = None;
        for number in numbers {
            if done == Some(number) {
                continue;
            }
            done = Some(number);
            let part = |wanted: &str| {
                let mut found = chosen.iter().filter(|(of, part, _)| *of == number && *part == wanted);
                found.next_back().map(|(.., value)| value.clone()).unwrap_or_default()
            };
            let (field, predicate) = (part("field"), part("predicate"));
            let Some(known) = Predicate::from_name(&predicate) else { continue };
            let mut value = match known.reads() {
                // A box for each.
                Reads::List => {
                    let all = chosen
                        .iter()
                        .filter(|(of, part, text)| *of == number && *part == "value" && !text.trim().is_empty());
                    all.map(|(.., text)| text.as_str()).collect::<Vec<_>>().join(",")
                }
                _ => part("value"),
            };
            if field.is_empty() || (value.trim().is_empty() && !known.is_switch()) {
                continue;
            }
            let is_time = columns.iter().any(|c| c.name == field && matches!(c.kind, Kind::Timestamp { .. }));
            if is_time && !known.is_switch() {
                value = value.split(',').map(|time| zone::utc(zone, time.trim())).collect::<Vec<_>>().join(",");
            }
            let logic = Some(part("logic")).filter(|logic| LOGICS.contains(&logic.as_str()));
            self.rows.push(Row { logic: logic.unwrap_or_else(|| "and".into()), field, predicate, value });
        }
    }

    /// The parameters of the conditions: `q[...]` where all must hold, else `filters`.
    pub fn conditions(&self) -> Vec<Pair> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let mut seen = HashSet::with_capacity(self.rows.len());
        if self.rows.iter().all(|row| row.logic == "and" && seen.insert(key(row))) {
            return self
                .rows
                .iter()
                .map(|row| Pair { name: format!("q[{}]", key(row)), value: written(row) })
                .collect();
        }
        vec![Pair { name: "filters".into(), value: self.filters().to_string() }]
    }

    /// Whether deleted records are asked for.
    pub fn is_of_deleted(&self) -> bool {
        deleted::is_asked(&self.others)
    }

    /// Whether the conditions stand in the address one by one.
    pub fn is_plain(&self) -> bool {
        self.conditions().iter().all(|pair| pair.name != "filters")
    }

    /// The conditions as a saved view keeps them.
    pub fn filters(&self) -> Value {
        let filter = |row: &Row| {
            let reads = Predicate::from_name(&row.predicate).map(Predicate::reads);
            let value = match reads {
                Some(Reads::List) => json!(row.value.split(',').map(str::trim).collect::<Vec<_>>()),
                Some(Reads::Switch) => json!(written(row)),
                _ => json!(row.value),
            };
            json!({ "field": row.field, "predicate": row.predicate, "value": value, "logic": row.logic })
        };
        Value::Array(self.rows.iter().map(filter).collect())
    }

    /// All parameters of this page's address but the page number.
    pub fn pairs(&self) -> Vec<Pair> {
        let mut pairs = self.conditions();
        let pair = |name: &str, value: String| Pair { name: name.into(), value };
        pairs.extend(self.view_id.map(|id| pair("view_id", id.to_string())));
        pairs.extend(self.columns.as_ref().map(|columns| pair("columns", columns.join(","))));
        pairs.extend(self.sort.clone().map(|sort| pair("sort", sort)));
        pairs.extend(self.per_page.clone().map(|count| pair("per_page", count)));
        pairs.extend(self.others.iter().cloned());
        pairs
    }

    /// The same without one condition, from its first page on.
    pub fn without(&self, index: usize) -> Wish {
        let mut wish = Wish { page: None, ..self.clone() };
        wish.rows.remove(index);
        wish
    }

    /// The address of the page.
    pub fn address(&self, place: &Place<'_>) -> String {
        let mut pairs = self.pairs();
        pairs.extend(self.page.clone().map(|page| Pair { name: "page".into(), value: page }));
        address(&place.collection(), &pairs)
    }

    /// What the API is asked. A view's columns are its own.
    pub fn api(&self, place: &Place<'_>, fields: Option<&str>) -> String {
        let mut pairs = self.pairs();
        pairs.retain(|pair| pair.name != "columns");
        pairs.extend(fields.map(|fields| Pair { name: "fields".into(), value: fields.into() }));
        pairs.extend(self.page.clone().map(|page| Pair { name: "page".into(), value: page }));
        address(&place.collection(), &pairs)
    }
}

/// A path with parameters.
pub fn address(path: &str, pairs: &[Pair]) -> String {
    let written: Vec<String> =
        pairs.iter().map(|pair| format!("{}={}", words::escape(&pair.name), words::escape(&pair.value))).collect();
    if written.is_empty() { path.to_string() } else { format!("{path}?{}", written.join("&")) }
}

/// The conditions of a saved view, or of `filters`; nothing when they have a form that is not one of ours.
pub fn from_json(filters: &Value) -> Option<Vec<Row>> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let row = |filter: &Value| Row {
        logic: filter["logic"].as_str().unwrap_or("and").to_string(),
        field: text(&filter["field"]),
        predicate: text(&filter["predicate"]),
        value: match &filter["value"] {
            Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(","),
            one => text(one),
        },
    };
    let comma = |filter: &Value| {
        let list = filter["value"].as_array();
        list.is_some_and(|list| list.iter().any(|element| text(element).contains(',')))
    };
    let filters = filters.as_array().filter(|list| list.iter().all(Value::is_object))?;
    if filters.iter().any(comma) {
        return None;
    }
    Some(filters.iter().map(row).collect())
}

fn key(row: &Row) -> String {
    format!("{}_{}", row.field, row.predicate)
}

/// A switch is on by itself.
fn written(row: &Row) -> String {
    let switch = Predicate::from_name(&row.predicate).is_some_and(Predicate::is_switch);
    if switch && row.value.trim().is_empty() { "true".into() } else { row.value.clone() }
}

/// `q[name_cont]` is a condition on `name`, where there is such a column.
fn row(parameter: &str, value: &str, columns: &[Column]) -> Option<Row> {
    let key = parameter.strip_prefix("q[")?.trim_end_matches("[]").strip_suffix(']')?;
    let known = |name: &str| columns.iter().any(|column| column.name == name);
    let (field, predicate) = Predicate::splits(key).find(|(name, _)| known(name))?;
    Some(Row { logic: "and".into(), field: field.into(), predicate: predicate.name().into(), value: value.into() })
}

/// At most so many conditions in an address, and in the form: twice as many as a list takes.
const MOST: usize = 100;

/// Whether a field of a form belongs to a condition.
pub fn is_form_field(name: &str) -> bool {
    form_field(name).is_some()
}

/// `f3.value` is the value of the third condition of the form.
fn form_field(name: &str) -> Option<(usize, &'static str)> {
    let (number, part) = name.strip_prefix('f')?.split_once('.')?;
    let part = ["logic", "field", "predicate", "value"].into_iter().find(|known| *known == part)?;
    Some((number.parse().ok().filter(|number| *number < MOST)?, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let column = |name: &str, kind| Column {
            name: name.into(),
            label: name.into(),
            kind,
            field: None,
            custom: None,
            predicates: Vec::new(),
            sortable: true,
            script: String::new(),
        };
        let at = Kind::Timestamp { form: crate::meta::TimestampForm::Seconds };
        vec![column("name", Kind::Text), column("is_not", Kind::Boolean), column("made_at", at)]
    }

    fn read(query: &str) -> Wish {
        Wish::read(crate::query::decode(query).unwrap(), &columns(), chrono_tz::Tz::UTC).unwrap()
    }

    #[test]
    fn an_address_reads_back_as_it_was() {
        for query in [
            "q[name_cont]=a%20b&sort=-name",
            "q[is_not_eq]=true&view_id=3&columns=name,made_at&per_page=50",
            "q[name_in]=a,b",
            "q[other_cont]=x",
        ] {
            let wish = read(query);
            assert!(!wish.is_rough, "{query}");
            assert_eq!(address("", &wish.pairs()), format!("?{query}"));
        }
        assert_eq!(read("q[name_in][]=a&q[name_in][]=b").rows[0].value, "a,b");
    }

    #[test]
    fn what_a_form_sends_becomes_conditions() {
        let wish = read(
            "apply=1&f0.logic=and&f0.field=name&f0.predicate=cont&f0.value=x&f1.logic=or&f1.field=made_at&f1.predicate=gt\
             &f1.value=2026-03-21T10:00&f2.field=name&f2.predicate=eq&f2.value=&f3.field=name&f3.predicate=present&f3.value=",
        );
        assert!(wish.is_rough);
        let rows: Vec<_> = wish.rows.iter().map(|row| (row.logic.as_str(), key(row), row.value.as_str())).collect();
        let expected = [
            ("and", "name_cont".into(), "x"),
            ("or", "made_at_gt".into(), "2026-03-21T10:00:00Z"),
            ("and", "name_present".into(), ""),
        ];
        assert_eq!(rows, expected);
        assert_eq!(wish.conditions().len(), 1, "an `or` goes into one parameter");
        let again = Wish::read(wish.pairs(), &columns(), chrono_tz::Tz::UTC).unwrap();
        assert_eq!(again.filters(), wish.filters());
    }

    #[test]
    fn an_arrow_moves_a_column() {
        let wish = read("columns=name&columns=made_at&_up=made_at");
        assert!(wish.is_rough);
        assert_eq!(wish.arrow.as_deref(), Some("up-made_at"));
        assert_eq!(address("", &wish.pairs()), "?columns=made_at,name");
    }

    #[test]
    fn what_has_no_form_here_is_asked_as_it_is() {
        for query in [
            "filters=[{",
            "filters={}",
            "filters=[{\"field\":\"name\",\"predicate\":\"in\",\"value\":[\"a,b\"]}]",
            "q[name_in][]=a,b",
        ] {
            let wish = read(query);
            assert!(wish.rows.is_empty() && wish.others.len() == 1, "{query}");
        }
        let or = r#"[{"field":"name","predicate":"cont","value":"a","logic":"and"},{"field":"name","predicate":"cont","value":"b","logic":"or"}]"#;
        let wish = read(&format!("q[is_not_true]=1&filters={or}"));
        let fields: Vec<&str> = wish.rows.iter().map(|row| row.field.as_str()).collect();
        assert_eq!(fields, ["name", "name", "is_not"], "`q` narrows what the filters find");
        assert_eq!(wish.rows[2].logic, "and");
    }

    #[test]
    fn two_conditions_of_one_kind_do_not_hide_each_other() {
        let wish = read("f0.field=name&f0.predicate=cont&f0.value=x&f1.field=name&f1.predicate=cont&f1.value=y");
        assert_eq!(wish.conditions()[0].name, "filters");
    }
}
