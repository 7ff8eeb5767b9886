//! What a request comes to against a resource's metadata: every name resolved, every value read, every problem found.

use std::collections::HashSet;

use super::condition::{Condition, Target, Test};
use super::order::{Ranking, is_ordered};
use super::predicate::{self, Predicate};
use super::question::{label_test, read_texts, test};
use super::request::{Request, Term};
use super::suggest::hint;
use crate::catalog::{Catalog, Entry, Source};
use crate::custom_field::{CustomFieldType, CustomFieldTypes, in_json};
use crate::error::{FieldErrors, Result};
use crate::meta::{FieldMeta, Filter, IncludeMeta, Kind, Shown};

/// At most so many conditions in one request.
pub const MOST_CONDITIONS: usize = 50;
/// At most so many elements in one list.
pub const MOST_ELEMENTS: usize = 1_000;
/// At most so many values in all conditions together, those of a saved view included: SQLite binds 32,766 in one go.
pub const MOST_VALUES: usize = 30_000;
/// At most so many characters in one value, or one element of a list.
pub const MOST_CHARACTERS: usize = 2_000;
/// How many records a page holds when nobody says.
pub const PER_PAGE: i64 = 20;
/// How many it holds at most.
pub const MOST_PER_PAGE: i64 = 100;

/// A list request that makes sense.
#[derive(Debug)]
pub struct Plan {
    pub condition: Condition,
    pub order: Vec<Order>,
    pub page: i64,
    pub per_page: i64,
    /// Where the page begins, as a cursor says it: empty for the first one. Without one `page` says it.
    pub cursor: Option<String>,
    pub count: Count,
    pub includes: Vec<&'static IncludeMeta>,
    /// The fields of a sparse answer in the order of the record; `None` for the whole list item.
    pub fields: Option<Vec<&'static FieldMeta>>,
}

/// What is wanted of the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exact,
    /// About how many, where to count them takes long.
    Estimate,
    Nothing,
}

/// One key of the order.
#[derive(Debug, Clone)]
pub struct Order {
    pub target: Target,
    pub descending: bool,
}

/// Plans requests of one resource.
#[derive(Clone, Copy)]
pub struct Planner<'a> {
    pub catalog: &'a Catalog,
    pub entry: &'a Entry,
    /// The declared custom fields of the entity type.
    pub custom: &'a CustomFieldTypes,
    /// Deleted records are asked for: when they were deleted can be asked too.
    pub deleted: bool,
}

impl Planner<'_> {
    /// Plans a whole request.
    ///
    /// # Errors
    /// 422 with every problem of every parameter.
    pub fn plan(self, request: &Request) -> Result<Plan> {
        let mut errors = FieldErrors::default();
        let condition = self.terms(&request.terms, &mut errors);
        let order = self.orders(request.sort.as_deref().unwrap_or_default());
        let page = whole(request.page.as_deref(), 1, i64::MAX, "page", &mut errors);
        let per_page = whole(request.per_page.as_deref(), PER_PAGE, MOST_PER_PAGE, "per_page", &mut errors);
        let count = match request.count.as_deref() {
            // Who follows a cursor goes on until there is none.
            None if request.cursor.is_some() => Count::Nothing,
            None | Some("exact") => Count::Exact,
            Some("estimate") => Count::Estimate,
            Some("none") => Count::Nothing,
            Some(_) => {
                errors.add("count", "must be exact, estimate or none");
                Count::Exact
            }
        };
        if request.cursor.is_some() && request.page.is_some() {
            errors.add("page", "cannot be given with a cursor");
        }
        if request.explain.as_deref().is_some_and(|explain| explain != "1") {
            errors.add("explain", "must be 1");
        }
        let includes = self.includes(&request.include, &mut errors);
        let fields = request.fields.as_ref().map(|names| self.fields(names, &mut errors));
        errors.into_result()?;
        let cursor = request.cursor.clone();
        Ok(Plan { condition, order, page, per_page, cursor, count, includes, fields })
    }

    /// Finds out where the predicate of each parameter begins: the name of a field may end like one, as in `is_not_eq`.
    pub fn settle(self, request: &mut Request) {
        for term in &mut request.terms {
            let Some(key) = &term.key else { continue };
            let known = |name: &str| self.names(name).into_iter().all(|name| self.resolve(name).is_ok());
            if !known(&term.name)
                && let Some((name, predicate)) = Predicate::splits(key).find(|(name, _)| known(name))
            {
                (term.name, term.predicate) = (name.to_string(), Some(predicate));
            }
        }
    }

    /// The conditions of the `q` parameters, all of which must hold.
    pub fn terms(self, terms: &[Term], errors: &mut FieldErrors) -> Condition {
        // Each field that a parameter names is a condition.
        if terms.iter().map(|term| self.names(&term.name).len()).sum::<usize>() > MOST_CONDITIONS {
            errors.add("q", format!("must have at most {MOST_CONDITIONS} conditions"));
            return Condition::always();
        }
        let mut all = Condition::always();
        for term in terms {
            match self.term(term) {
                Ok(condition) => all = all.and(condition),
                Err(problem) => errors.add(term.parameter.clone(), problem),
            }
        }
        all
    }

    /// One condition, or what is wrong with it.
    pub fn term(self, term: &Term) -> Result<Condition, String> {
        let Some(predicate) = term.predicate else { return Err(self.unknown_predicate(&term.name)) };
        let names = self.names(&term.name);
        if names.len() > MOST_CONDITIONS {
            return Err(format!("must name at most {MOST_CONDITIONS} fields"));
        }
        let texts = read_texts(predicate, &term.values)?;
        let mut conditions = Vec::with_capacity(names.len());
        for name in names {
            conditions.push(self.condition(name, predicate, &texts)?);
        }
        Ok(if conditions.len() == 1 { conditions.remove(0) } else { Condition::Any(conditions) })
    }

    /// The fields that a parameter names: `name_or_sku` is two, unless a field has that very name.
    fn names(self, name: &str) -> Vec<&str> {
        if self.resolve(name).is_ok() { vec![name] } else { name.split("_or_").collect() }
    }

    fn condition(self, name: &str, predicate: Predicate, texts: &[String]) -> Result<Condition, String> {
        match self.resolve(name)? {
            Named::Custom(name, custom) => {
                let (kind, target) = (custom.kind(), Target::Custom { name: name.clone(), kind: custom.compared_as() });
                if !predicate.fits(kind) {
                    return Err(format!("`cf.{name}` cannot be asked `{}`", predicate.name()));
                }
                let test = match test(kind, predicate, texts, custom.compared_as().is_text())? {
                    Test::Compare(comparison, value) => Test::Compare(comparison, in_json(value)),
                    Test::Among { values, negated } => {
                        Test::Among { values: values.into_iter().map(in_json).collect(), negated }
                    }
                    other => other,
                };
                Ok(Condition::Test { target, test })
            }
            Named::Field(field, source) => {
                let kind = if source.labels.is_some() { Kind::Text } else { source.field.kind };
                if !(predicate.allowed(field, kind) || self.is_mark(field) && predicate.fits(kind)) {
                    return Err(not_allowed(field, name, predicate, kind));
                }
                if let Some(labels) = source.labels {
                    return Ok(Condition::test(source, label_test(labels, predicate, texts)?));
                }
                test(kind, predicate, texts, text_like(kind)).map(|test| Condition::test(source, test))
            }
        }
    }

    /// What a name in `q` or `sort` means: a field, a field of a related record, or a custom field.
    fn resolve(self, name: &str) -> Result<Named, String> {
        if let Some(custom) = name.strip_prefix("cf.") {
            if !self.entry.meta.custom_fields {
                return Err(format!("{} have no custom fields", self.entry.meta.plural));
            }
            return match self.custom.get(custom) {
                Some(kind) => Ok(Named::Custom(custom.to_string(), *kind)),
                None => Err(format!(
                    "names an unknown custom field `{custom}`{}",
                    hint(custom, self.custom.keys().map(String::as_str))
                )),
            };
        }
        let Some((relation, name)) = name.split_once('.') else {
            let field = self.entry.field(name).filter(|f| asked(f) || self.is_mark(f));
            return match field {
                Some(field) => Ok(Named::Field(field, self.entry.source(field))),
                None => Err(format!("names an unknown field `{name}`{}", hint(name, self.field_names()))),
            };
        };
        let unknown = || format!("names an unknown relation `{relation}`");
        let via = self.entry.reference(relation).ok_or_else(unknown)?;
        let Kind::Ref { resource } = via.kind else { return Err(unknown()) };
        let other = self.catalog.get(resource);
        match other.field(name).filter(|f| asked(f) && f.is_column() && self.entry.reaches(via, f.name)) {
            Some(field) => Ok(Named::Field(field, Source::through(via.name, other.meta, field))),
            None => Err(format!(
                "names an unknown field `{name}` of {relation}{}",
                hint(name, other.meta.fields.iter().map(|f| f.name).filter(|f| self.entry.reaches(via, f)))
            )),
        }
    }

    /// The order by several keys; what cannot be sorted by is ignored, and so is a field that has its say already.
    fn orders(self, keys: &[String]) -> Vec<Order> {
        let field = |key: &str| key.strip_prefix('-').unwrap_or(key).to_string();
        let mut seen = HashSet::new();
        keys.iter().filter(|key| seen.insert(field(key))).filter_map(|key| self.order(key)).collect()
    }

    /// The order that one key asks for; nothing when it names what cannot be sorted by (the specification, "Sorting").
    pub fn order(self, sort: &str) -> Option<Order> {
        let (name, descending) = sort.strip_prefix('-').map_or((sort, false), |name| (name, true));
        match self.resolve(name).ok()? {
            Named::Custom(name, custom) => {
                Some(Order { target: Target::Custom { name, kind: custom.compared_as() }, descending })
            }
            // Only the resource's own fields: a related record's are reached by a derived field.
            Named::Field(field, source)
                if (field.sortable || self.is_mark(field))
                    && is_ordered(source.field.kind)
                    && self.entry.field(name).is_some() =>
            {
                Some(Order { target: Target::Column(source), descending })
            }
            Named::Field(..) => None,
        }
    }

    /// The includes that a request names.
    pub fn includes(self, names: &[String], errors: &mut FieldErrors) -> Vec<&'static IncludeMeta> {
        let mut includes: Vec<&'static IncludeMeta> = Vec::new();
        for name in names {
            match self.entry.include(name) {
                Some(include) if includes.iter().any(|i| i.name == include.name) => {}
                Some(include) => includes.push(include),
                // What is embedded is there without being asked for.
                None if self.entry.field(name).is_some_and(|f| matches!(f.kind, Kind::Embedded { .. })) => {}
                None => {
                    let known: Vec<&str> = self.entry.meta.includes.iter().map(|i| i.name).collect();
                    let known = if known.is_empty() {
                        "there are none".into()
                    } else {
                        format!("known are {}", known.join(", "))
                    };
                    errors.add("include", format!("names an unknown include `{name}`; {known}"));
                }
            }
        }
        includes
    }

    /// The fields of a sparse answer.
    pub fn fields(self, names: &[String], errors: &mut FieldErrors) -> Vec<&'static FieldMeta> {
        let shown = |f: &FieldMeta| f.shown != Shown::Never || self.is_mark(f);
        for name in names {
            if !self.entry.field(name).is_some_and(shown) {
                errors.add("fields", format!("names an unknown field `{name}`{}", hint(name, self.field_names())));
            }
        }
        let wanted = |f: &&'static FieldMeta| shown(f) && names.iter().any(|name| name == f.name);
        self.entry.meta.fields.iter().filter(wanted).collect()
    }

    /// Whether it is the time of deletion, where that is shown.
    fn is_mark(self, field: &FieldMeta) -> bool {
        self.deleted && field.name == "deleted_at"
    }

    fn field_names(self) -> impl Iterator<Item = &'static str> {
        self.entry.meta.fields.iter().filter(|f| asked(f)).map(|f| f.name)
    }

    fn unknown_predicate(self, key: &str) -> String {
        let names = predicate::TABLE.iter().map(|row| row.1);
        // The longest field that the key begins with tells where the predicate should begin.
        let field = self.field_names().filter(|f| key.starts_with(&format!("{f}_"))).max_by_key(|f| f.len());
        match field {
            Some(field) => {
                let written = &key[field.len() + 1..];
                format!("names an unknown predicate `{written}`{}", hint(written, names))
            }
            None if self.resolve(key).is_ok() => format!("needs a predicate: `{key}_eq`, for example"),
            None => format!("names no known predicate; known are {}", names.collect::<Vec<_>>().join(", ")),
        }
    }
}

/// What a name turned out to be.
enum Named {
    Field(&'static FieldMeta, Source),
    Custom(String, CustomFieldType),
}

/// Whether a field can be asked about at all: what a list item shows, unless it says otherwise.
pub fn asked(field: &FieldMeta) -> bool {
    field.shown != Shown::Never && field.filter != Filter::Off
}

fn text_like(kind: Kind) -> bool {
    matches!(kind, Kind::String { .. } | Kind::Text | Kind::Enum { .. } | Kind::PolymorphicType { .. })
}

fn not_allowed(field: &FieldMeta, name: &str, predicate: Predicate, kind: Kind) -> String {
    let allowed = predicate::TABLE.iter().filter(|row| row.0.allowed(field, kind)).map(|row| row.1);
    let allowed: Vec<&str> = allowed.collect();
    format!("`{name}` cannot be asked `{}`; it can be asked {}", predicate.name(), allowed.join(", "))
}

/// A whole number of at least 1; more than `most` is clamped.
fn whole(text: Option<&str>, default: i64, most: i64, parameter: &str, errors: &mut FieldErrors) -> i64 {
    let Some(text) = text else { return default };
    let digits = text.trim();
    let number = if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        Some(digits.parse::<i64>().unwrap_or(i64::MAX))
    } else {
        None
    };
    match number {
        Some(number) if number >= 1 => number.min(most),
        _ => {
            errors.add(parameter, "must be a whole number of at least 1");
            default
        }
    }
}

impl Plan {
    /// How many records stand before the page.
    pub fn offset(&self) -> i64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// The order, which ends in the id.
    pub fn ranking(&self) -> Ranking<'_> {
        Ranking::of(&self.order)
    }

    /// The sources that the order needs.
    pub fn sources(&self) -> Vec<Source> {
        let of = |order: &Order| match &order.target {
            Target::Column(source) => Some(*source),
            Target::Custom { .. } => None,
        };
        self.order.iter().filter_map(of).collect()
    }
}
