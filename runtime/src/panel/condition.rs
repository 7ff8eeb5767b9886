//! What a list's address asks: its conditions one by one, its order, its page; and how they are written again.

use std::collections::HashSet;

use serde_json::Value;

use super::chooser::Step;
use super::columns::Column;
use super::place::Place;
use super::row::{self, LOGICS, Row};
use super::tools::Tool;
use super::{deleted, words, zone};
use crate::error::{Error, Result};
use crate::meta::Kind;
use crate::query::{Pair, Predicate, Reads};

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
        let mut listed = 0;
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
                "listed" => listed = value.parse().unwrap_or_default(),
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
                _ if name.starts_with("q[") => match Row::of_parameter(&name, &value, columns) {
                    Some(row) => wish.add(row, name.ends_with("[]")),
                    None => wish.others.push(Pair { name, value }),
                },
                "include" | "include[]" | "count" | "deleted" => wish.others.push(Pair { name, value }),
                _ => {}
            }
        }
        if let Some(text) = filters {
            let rows = serde_json::from_str(&text).ok().and_then(|filters| row::from_json(&filters)).map(row::led);
            match rows.filter(|rows| row::have_inputs(rows, columns, zone)) {
                // What `q` asks narrows what they find: it is joined behind them.
                Some(rows) => {
                    let rows = rows.into_iter().map(|row| Row { is_listed: true, ..row });
                    wish.rows.splice(0..0, rows).for_each(drop);
                }
                None => wish.others.push(Pair { name: "filters".into(), value: text }),
            }
        }
        wish.take(chosen, listed, columns, zone);
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

    /// The conditions of the form, of which the first so many were in `filters`: those that are not filled in are left out.
    fn take(&mut self, mut chosen: Vec<(usize, &str, String)>, listed: usize, columns: &[Column], zone: chrono_tz::Tz) {
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
                    let all = chosen.iter().filter(|(of, part, _)| *of == number && *part == "value");
                    let all = all.flat_map(|(.., text)| text.split(',').map(str::trim));
                    all.filter(|element| !element.is_empty()).collect::<Vec<_>>().join(",")
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
            let logic = logic.unwrap_or_else(|| "and".into());
            self.rows.push(Row { logic, field, predicate, value, is_listed: number < listed });
        }
        self.rows = row::led(std::mem::take(&mut self.rows));
    }

    /// So many of the conditions, from the first, stand in `filters`: those that came so, and all where the others cannot
    /// stand as `q[...]`, which must hold each for itself.
    pub fn listed(&self) -> usize {
        let listed = self.rows.iter().take_while(|row| row.is_listed).count();
        let mut seen = HashSet::with_capacity(self.rows.len());
        let is_alone = |row: &Row| row.logic == "and" && !row.is_listed && seen.insert(row.key());
        if self.rows[listed..].iter().all(is_alone) { listed } else { self.rows.len() }
    }

    /// The parameters of the conditions.
    pub fn conditions(&self) -> Vec<Pair> {
        let (listed, asked) = self.rows.split_at(self.listed());
        let filters = Some(listed).filter(|listed| !listed.is_empty()).map(row::to_json);
        let filters = filters.map(|filters| Pair { name: "filters".into(), value: filters.to_string() });
        let asked = asked.iter().map(|row| Pair { name: format!("q[{}]", row.key()), value: row.written() });
        filters.into_iter().chain(asked).collect()
    }

    /// The conditions for which this page has no words.
    pub fn unshaped(&self) -> impl Iterator<Item = &Pair> {
        self.others.iter().filter(|pair| pair.name.starts_with("q[") || pair.name == "filters")
    }

    /// Whether deleted records are asked for.
    pub fn is_of_deleted(&self) -> bool {
        deleted::is_asked(&self.others)
    }

    /// The conditions as a saved view keeps them.
    pub fn filters(&self) -> Value {
        row::to_json(&self.rows)
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
        wish.rows = row::led(wish.rows);
        wish
    }

    /// The same without a condition that has no words, from its first page on.
    pub fn without_unshaped(&self, pair: &Pair) -> Wish {
        let mut wish = Wish { page: None, ..self.clone() };
        wish.others.retain(|other| other != pair);
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
        let column = |name: &str, kind: Kind| Column {
            name: name.into(),
            label: name.into(),
            kind,
            field: None,
            custom: None,
            predicates: kind.predicates().collect(),
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
        let rows: Vec<_> = wish.rows.iter().map(|row| (row.logic.as_str(), row.key(), row.value.as_str())).collect();
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
            "filters=[{\"field\":\"other.name\",\"predicate\":\"eq\",\"value\":\"a\"}]",
            "filters=[{\"field\":\"name\",\"predicate\":\"eq\",\"value\":[\"a\"]}]",
            "filters=[{\"field\":\"name\",\"predicate\":\"in\",\"value\":[\" a\"]}]",
            "filters=[{\"field\":\"name\",\"predicate\":\"eq\",\"value\":\"a\"},{\"field\":\"name_or_other\",\"predicate\":\"eq\",\"value\":\"a\"}]",
            "q[name_in][]=a,b",
        ] {
            let wish = read(query);
            assert!(wish.rows.is_empty() && wish.unshaped().count() == 1, "{query}");
            assert!(wish.without_unshaped(&wish.others[0]).pairs().is_empty(), "{query}");
        }
        let or = r#"[{"field":"name","predicate":"cont","value":"a","logic":"and"},{"field":"name","predicate":"cont","value":"b","logic":"or"}]"#;
        let wish = read(&format!("q[is_not_true]=1&filters={or}"));
        let fields: Vec<&str> = wish.rows.iter().map(|row| row.field.as_str()).collect();
        assert_eq!(fields, ["name", "name", "is_not"], "`q` narrows what the filters find");
        assert_eq!(wish.rows[2].logic, "and");
    }

    #[test]
    fn conditions_stand_where_they_came_from() {
        let plain = r#"[{"field":"name","predicate":"cont","value":"a","logic":"AND"},{"field":"is_not","predicate":"true","value":"F"}]"#;
        let wish = read(&format!("filters={plain}&q[name_cont]=b&view_id=3"));
        assert_eq!((wish.rows.len(), wish.listed()), (3, 2));
        let names = |wish: &Wish| wish.pairs().into_iter().map(|pair| pair.name).collect::<Vec<_>>();
        assert_eq!(names(&wish), ["filters", "q[name_cont]", "view_id"]);
        assert_eq!(names(&wish.without(0)), ["filters", "q[name_cont]", "view_id"]);
        assert_eq!(names(&wish.without(0).without(0)), ["q[name_cont]", "view_id"]);
        // And the form gives them back so.
        let form = "f0.field=name&f0.predicate=cont&f0.value=a&f1.field=name&f1.predicate=cont&f1.value=b";
        assert_eq!(names(&read(&format!("{form}&listed=1"))), ["filters", "q[name_cont]"]);
        assert_eq!(names(&read(&format!("{form}&listed=1&f1.logic=or"))), ["filters"]);
        assert_eq!(names(&read("f0.field=name&f0.predicate=cont&f0.value=a")), ["q[name_cont]"]);
    }

    #[test]
    fn words_that_join_are_read_in_any_case() {
        let written = r#"[{"field":"name","predicate":"cont","value":"a","logic":"NAND"},{"field":"name","predicate":"in","value":[1,true],"logic":"Or"}]"#;
        let wish = read(&format!("filters={written}"));
        let rows: Vec<_> = wish.rows.iter().map(|row| (row.logic.as_str(), row.value.as_str())).collect();
        assert_eq!(rows, [("nand", "a"), ("or", "1,true")]);
        // Of the first only the negation counts.
        assert_eq!(wish.without(0).rows[0].logic, "and");
        assert_eq!(read("f1.logic=nor&f1.field=name&f1.predicate=cont&f1.value=a").rows[0].logic, "nand");
    }

    #[test]
    fn two_conditions_of_one_kind_do_not_hide_each_other() {
        let wish = read("f0.field=name&f0.predicate=cont&f0.value=x&f1.field=name&f1.predicate=cont&f1.value=y");
        assert_eq!(wish.conditions()[0].name, "filters");
    }
}
