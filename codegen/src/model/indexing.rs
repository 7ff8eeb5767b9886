//! Indexes of a resource: those that it names, those that its named filters and sorts need, and those by which other
//! resources find its records.
//!
//! `shown` names nothing, so it creates no index. Neither does a column of few values.

use charter_model::Predicate;

use super::{Access, Field, Filter, Filters, Name, Resource, Rule, Schema, Sorts};

/// The most characters of a text in an ordered index, which holds it twice: folded and unchanged. An index entry of
/// PostgreSQL has at most 2,704 bytes, and a character up to 4.
pub const MAX_ORDERED_CHARACTERS: u32 = 255;

/// The most characters of a text in an index of values.
pub const MAX_INDEXED_CHARACTERS: u32 = 650;

/// The indexes of a table, without unique ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Indexing {
    /// Sets of columns in order.
    pub sets: Vec<Vec<String>>,
    /// Columns for `sort`, each followed by the id.
    pub ordered: Vec<String>,
    /// Text columns for substring search.
    pub search: Vec<String>,
}

/// A filter or sort that a resource names and no index serves.
#[derive(Debug)]
pub struct Unserved {
    pub name: Name,
    /// True if it is a sort, not a filter.
    pub sorts: bool,
    pub why: UnservedReason,
}

#[derive(Debug, PartialEq, Eq)]
pub enum UnservedReason {
    /// A text too long for an index of this kind, with the maximum of characters.
    TooLong(u32),
    /// The order of a column of another table, or of labels.
    OrderedElsewhere,
    /// The value is in this field of another resource, and one of the two lacks an index.
    FoundElsewhere { via: String, resource: String, field: String },
    /// It has so few values that an index is created only on request.
    FewValues,
}

/// The use of a column in a query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IndexUse {
    /// Equality or a range.
    Values,
    Substrings,
    Order,
}

impl Resource {
    /// The indexes of the table: the named ones first.
    pub fn indexing(&self) -> Indexing {
        let text = |names: &[Name]| names.iter().map(|name| name.value.clone()).collect::<Vec<_>>();
        let mut indexing = Indexing {
            sets: self.indexes.iter().map(|set| text(&set.value)).collect(),
            ordered: text(&self.ordered),
            search: text(&self.search),
        };
        for (by, field) in &self.rolled_up {
            let begins = |set: &Vec<String>| set.starts_with(&[by.clone(), field.clone()]);
            if !self.unindexed.iter().any(|name| name.value == *by) && !indexing.sets.iter().any(begins) {
                indexing.sets.push(vec![by.clone(), field.clone()]);
            }
        }
        for (name, wanted) in self.questions() {
            let Some(field) = self.field(name.as_str()) else { continue };
            if field.is_column() && !self.serves(&indexing, field, wanted) && unserved(field, wanted).is_none() {
                match wanted {
                    IndexUse::Substrings => indexing.search.push(field.name.value.clone()),
                    IndexUse::Values if field.kind.is_text() => {
                        indexing.sets.push(vec![field.name.value.clone(), "id".to_owned()]);
                    }
                    IndexUse::Values if field.kind.facts().has_few_values => {}
                    IndexUse::Values | IndexUse::Order => indexing.ordered.push(field.name.value.clone()),
                }
            }
        }
        indexing
    }

    /// The named filters and sorts that no index serves, in the order in which they are named.
    pub fn unserved(&self, schema: &Schema) -> Vec<Unserved> {
        let indexing = self.indexing();
        let mut found: Vec<Unserved> = Vec::new();
        for (name, wanted) in self.questions() {
            let Some(field) = self.field(name.as_str()) else { continue };
            let why = match field.kind.derived() {
                Some((via, tail)) => self.unserved_elsewhere(schema, &indexing, (via, tail), wanted),
                _ if !field.is_column() || self.serves(&indexing, field, wanted) => None,
                _ => unserved(field, wanted),
            };
            let sorts = wanted == IndexUse::Order;
            if let Some(why) = why
                && !found.iter().any(|other| other.name == *name && other.why == why)
            {
                found.push(Unserved { name: name.clone(), sorts, why });
            }
        }
        found
    }

    /// The uses of its fields: in named filters and sorts, and by resources that find its records. Without fields in
    /// `unindexed`.
    fn questions(&self) -> Vec<(&Name, IndexUse)> {
        let mut questions = Vec::new();
        if let Filters::Fields(named) = &self.filters {
            for (name, filter) in named {
                let fits = |is_wanted: fn(Predicate) -> bool| match filter {
                    // A predicate that does not fit the field is not used: `all` of a number has no substrings.
                    Filter::All => self.field(name.as_str()).is_some_and(|field| {
                        let own = field.kind.predicates();
                        field.kind.derived().is_some() || own.iter().any(|one| is_wanted(*one))
                    }),
                    Filter::Only(words) => words.iter().any(|word| is_wanted(word.value)),
                };
                if fits(Predicate::is_of_values) {
                    questions.push((name, IndexUse::Values));
                }
                if fits(Predicate::is_of_substrings) {
                    questions.push((name, IndexUse::Substrings));
                }
            }
        }
        if let Sorts::Fields(named) = &self.sorts {
            questions.extend(named.iter().map(|name| (name, IndexUse::Order)));
        }
        questions.extend(self.order.first().map(|key| (&key.field, IndexUse::Order)));
        questions.extend(self.found_by.iter().map(|name| (name, IndexUse::Values)));
        let wanted = |(name, _): &(&Name, IndexUse)| !self.unindexed.iter().any(|other| other.value == name.value);
        questions.into_iter().filter(wanted).collect()
    }

    /// True if an index serves a use of a column.
    fn serves(&self, indexing: &Indexing, field: &Field, wanted: IndexUse) -> bool {
        let name = &field.name.value;
        let unique = field.rules.iter().any(|rule| rule.value == Rule::Unique);
        let begins = |set: &Vec<String>| set.first() == Some(name);
        let sets = indexing.sets.iter().any(begins)
            || self
                .unique
                .iter()
                .filter(|set| set.is_plain())
                .any(|set| set.fields.value.first().is_some_and(|first| first.value == *name));
        let values = name == "id" || unique || sets;
        let ordered = indexing.ordered.contains(name);
        match wanted {
            IndexUse::Substrings => indexing.search.contains(name),
            IndexUse::Values => values || ordered && !field.kind.facts().is_folded,
            // Lists sort nulls first; a plain index of PostgreSQL sorts them last.
            IndexUse::Order => ordered || values && !field.nullable && !field.kind.facts().is_folded,
        }
    }

    /// The reason why no index serves a derived field, which is found through its record.
    fn unserved_elsewhere(
        &self,
        schema: &Schema,
        own: &Indexing,
        (via, tail): (&Name, &Name),
        wanted: IndexUse,
    ) -> Option<UnservedReason> {
        let via = self.field(via.as_str())?;
        if wanted == IndexUse::Order {
            return Some(UnservedReason::OrderedElsewhere);
        }
        let other = schema.find(via.kind.target()?.as_str())?;
        let shown = other.field(tail.as_str()).filter(|shown| shown.access != Access::Secret)?;
        let fits = wanted != IndexUse::Substrings || shown.kind.is_text();
        if !fits || shown.kind.facts().has_few_values {
            return None;
        }
        let is_served = self.serves(own, via, IndexUse::Values) && other.serves(&other.indexing(), shown, wanted);
        let elsewhere = || UnservedReason::FoundElsewhere {
            via: via.name.value.clone(),
            resource: other.name.value.clone(),
            field: shown.name.value.clone(),
        };
        (!is_served).then(elsewhere)
    }
}

/// The reason why a column cannot have the index for a use.
fn unserved(field: &Field, wanted: IndexUse) -> Option<UnservedReason> {
    let longest = match field.kind.max_length() {
        Some(max) => max,
        None if field.kind.is_text() => u32::MAX,
        None => 0,
    };
    match wanted {
        IndexUse::Order if field.kind.facts().has_few_values => Some(UnservedReason::FewValues),
        IndexUse::Order if longest > MAX_ORDERED_CHARACTERS => Some(UnservedReason::TooLong(MAX_ORDERED_CHARACTERS)),
        IndexUse::Values if longest > MAX_INDEXED_CHARACTERS => Some(UnservedReason::TooLong(MAX_INDEXED_CHARACTERS)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Problems;
    use crate::source::Sources;

    const PRODUCT: &str = "# resources/group.yaml\nresource: group\nfields:\n  name: { type: string(80), required: true }\n\
        # resources/product.yaml\nresource: product\nfields:\n  name: { type: string(255), required: true }\n  \
        sku: { type: string(64), nullable: true, unique: true }\n  note: { type: text, nullable: true }\n  \
        kind: { type: enum, values: [a, b], default: a }\n  weight: { type: decimal(9, 2), default: 0 }\n  \
        bought_on: { type: date, nullable: true }\n  group_id: { type: ref(group), nullable: true }\n  \
        group_name: { from: group_id.name }\n";

    fn schema(more: &str) -> Schema {
        let sources = Sources::from_example(&format!("{PRODUCT}{more}"));
        let mut problems = Problems::default();
        let syntax = crate::syntax::read(&sources, &mut problems);
        let schema = crate::lower::lower(syntax, &sources, &mut problems);
        assert_eq!(problems.count(), 0);
        schema
    }

    #[track_caller]
    fn indexing(more: &str) -> (String, String, String) {
        let schema = schema(more);
        let Indexing { sets, ordered, search } = schema.find("product").unwrap().indexing();
        (sets.iter().map(|set| set.join("+")).collect::<Vec<_>>().join(" "), ordered.join(" "), search.join(" "))
    }

    fn texts(sets: &str, ordered: &str, search: &str) -> (String, String, String) {
        (sets.to_owned(), ordered.to_owned(), search.to_owned())
    }

    #[test]
    fn unnamed_fields_get_no_index() {
        assert_eq!(indexing("filters: shown\nsorts: shown\n"), texts("", "", ""));
        assert_eq!(indexing("indexes: [[weight]]\nordered: [name]\nsearch: [sku]\n"), texts("weight", "name", "sku"));
    }

    #[test]
    fn each_query_gets_its_index() {
        let asked = indexing("filters: { name: [eq, cont], weight: [gt], kind: [eq], note: [end, not_null] }\n");
        assert_eq!(asked, texts("name+id", "weight", "name note"));
        assert_eq!(indexing("sorts: [id, name, weight, bought_on]\n"), texts("", "name weight bought_on", ""));
        assert_eq!(indexing("filters: { weight: all, bought_on: [null] }\nsorts: [weight]\n"), texts("", "weight", ""));
    }

    #[test]
    fn a_served_query_gets_no_second_index() {
        assert_eq!(indexing("filters: { sku: [eq] }\nsorts: [created_at]\n"), texts("", "created_at", ""));
        let kept = "indexes: [[weight, name]]\nfilters: { weight: [eq] }\nsorts: [weight]\n";
        assert_eq!(indexing(kept), texts("weight+name", "", ""));
        // Nulls sort differently in a plain index, and so does text.
        let other = indexing("indexes: [[bought_on]]\nsorts: [bought_on, sku]\n");
        assert_eq!(other, texts("bought_on", "bought_on sku", ""));
    }

    #[test]
    fn references_of_other_resources_get_an_index() {
        let part = |more: &str| {
            let more = format!(
                "includes: {{ notes: {{ many: note }} }}\n# resources/part.yaml\nresource: part\nunder: product\n{more}# resources/note.yaml\nresource: note\nfields:\n  about_id: {{ type: ref(product), nullable: true }}\n"
            );
            let schema = schema(&more);
            ["part", "note", "product"].map(|name| {
                let Indexing { sets, ordered, .. } = schema.find(name).unwrap().indexing();
                (sets.concat().join(" "), ordered.join(" "))
            })
        };
        let none = || (String::new(), String::new());
        let by = |name: &str| (String::new(), name.to_owned());
        assert_eq!(part(""), [by("product_id"), by("about_id"), none()]);
        assert_eq!(part("unindexed: [product_id]\n"), [none(), by("about_id"), none()]);
        assert_eq!(part("unique: [[product_id, id]]\n"), [none(), by("about_id"), none()]);
        assert_eq!(part("filters: { product_id: [eq] }\n"), [by("product_id"), by("about_id"), none()]);
        assert_eq!(part("indexes: [[product_id]]\n")[0], ("product_id".to_owned(), String::new()));
    }

    #[test]
    fn unindexed_fields_get_no_index() {
        assert_eq!(
            indexing("unindexed: [name]\nfilters: { name: all }\nsorts: [name, weight]\n"),
            texts("", "weight", "")
        );
    }

    fn unserved(more: &str) -> Vec<(String, UnservedReason)> {
        let schema = schema(more);
        let found = schema.find("product").unwrap().unserved(&schema);
        found.into_iter().map(|one| (one.name.value, one.why)).collect()
    }

    #[test]
    fn queries_without_an_index_are_reported() {
        let found = unserved("filters: { note: [eq], group_name: [eq], kind: all }\nsorts: [note, kind, group_name]\n");
        let elsewhere =
            UnservedReason::FoundElsewhere { via: "group_id".into(), resource: "group".into(), field: "name".into() };
        let expected = [
            ("note", UnservedReason::TooLong(MAX_INDEXED_CHARACTERS)),
            ("group_name", elsewhere),
            ("note", UnservedReason::TooLong(MAX_ORDERED_CHARACTERS)),
            ("kind", UnservedReason::FewValues),
            ("group_name", UnservedReason::OrderedElsewhere),
        ];
        assert_eq!(found, expected.map(|(name, why)| (name.to_owned(), why)));
        assert_eq!(unserved("unindexed: [note]\nordered: [kind]\nsorts: [note, kind]\nfilters: { note: [eq] }\n"), []);
    }
}
