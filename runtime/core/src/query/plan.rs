//! Query planner: resolves names and reads values against a resource's metadata, and collects every error.

use std::collections::HashSet;

use charter_model::{Group, Predicate, Storage};

use super::condition::{Condition, Target, Test};
use super::order_by::{OrderBy, is_ordered};
use super::predicate_test::{label_tests, read_texts, tests};
use super::relative_condition::RelativeTo;
use super::request::{Request, Term};
use super::resolve::{Named, allows, include_names, may_include};
use crate::catalog::{Catalog, Entry};
use crate::custom_field::{CustomFieldType, CustomFieldTypes, json_operand};
use crate::db::fold;
use crate::error::{FieldErrors, Result};
use crate::meta::{FieldMeta, IncludeMeta, Kind, Shown};
use crate::principal::Principal;
use crate::record::Source;
use crate::suggest::hint;

/// Limit on the conditions of one request.
pub const MAX_CONDITIONS: usize = 50;
/// Limit on the elements of one list.
pub const MAX_LIST_ELEMENTS: usize = 1_000;
/// Limit on the values of all conditions of a request, including those of a saved view. SQLite binds at most 32,766.
pub const MAX_BOUND_VALUES: usize = 32_000;

/// Error text for conditions that exceed [`MAX_BOUND_VALUES`].
pub fn too_many_values() -> String {
    format!("must have at most {MAX_BOUND_VALUES} values in all")
}
/// Limit on the characters of one value or one list element.
pub const MAX_VALUE_CHARACTERS: usize = 2_000;
/// Page size if the request does not set one.
pub const DEFAULT_PER_PAGE: i64 = 20;
/// Limit on the page size.
pub const MAX_PER_PAGE: i64 = 100;

/// A valid list request.
#[derive(Debug)]
pub struct Plan {
    pub condition: Condition,
    pub order: Vec<Order>,
    pub page: i64,
    pub per_page: i64,
    /// The cursor that the page begins after; the empty cursor begins the first page. `None` if `page` applies.
    pub cursor: Option<String>,
    pub count: Count,
    pub includes: Vec<&'static IncludeMeta>,
    /// Embedded fields that `include` names. A sparse response has them as well.
    pub embedded: Vec<&'static FieldMeta>,
    /// The fields of a sparse response, in the order of the record. `None` selects the whole list item.
    pub fields: Option<Vec<&'static FieldMeta>>,
}

/// Kind of total that the request wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exact,
    /// An estimate where an exact count takes long.
    Estimate,
    None,
}

/// One key of the order.
#[derive(Debug, Clone)]
pub struct Order {
    pub target: Target,
    pub descending: bool,
    /// Not the text itself but its prefix is ordered by: records whose text begins with this folded text come first.
    pub prefix: Option<String>,
}

/// Planner for requests of one resource.
#[derive(Clone, Copy)]
pub struct Planner<'a> {
    pub catalog: &'a Catalog,
    pub entry: &'a Entry,
    /// The declared custom fields of the entity type.
    pub custom: &'a CustomFieldTypes,
    /// True if the request selects deleted records, which makes `deleted_at` filterable.
    pub deleted: bool,
    /// The caller, whose rights decide which relations and fields a request can name.
    pub caller: &'a Principal,
    /// The condition for records of another resource to be visible to the caller. `None` if all are visible.
    pub visible: &'a (dyn Fn(&Entry) -> Option<Condition> + Sync),
    /// Resolves relative values in conditions.
    pub relative_to: &'a RelativeTo,
}

impl<'a> Planner<'a> {
    /// Plans a whole request. `errors` holds the errors found before.
    ///
    /// # Errors
    /// 422 with every error of every parameter.
    pub fn plan(self, request: &Request, mut errors: FieldErrors) -> Result<Plan> {
        let mut condition = self.terms(&request.terms, &mut errors);
        condition = condition.and(self.groups(&request.groups, &mut errors));
        let mut order = self.orders(request.sort.as_deref().unwrap_or_default());
        match request.search.as_deref().map(|text| self.search(text)) {
            Some(Ok((found, prefix_first))) => {
                condition = condition.and(found);
                if order.is_empty() {
                    order.push(prefix_first);
                }
            }
            Some(Err(problem)) => errors.add("search", problem),
            None => {}
        }
        if order.is_empty() {
            order = self.default_order();
        }
        let page = positive_integer(request.page.as_deref(), 1, i64::MAX, "page", &mut errors);
        let per_page =
            positive_integer(request.per_page.as_deref(), DEFAULT_PER_PAGE, MAX_PER_PAGE, "per_page", &mut errors);
        let count = match request.count.as_deref() {
            // Cursor pagination continues until there is no next cursor, without a total.
            None if request.cursor.is_some() => Count::None,
            None | Some("exact") => Count::Exact,
            Some("estimate") => Count::Estimate,
            Some("none") => Count::None,
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
        let embedded = self.embedded(&request.include);
        let fields = request.fields.as_ref().map(|names| self.fields(names, &mut errors));
        errors.into_result()?;
        let cursor = request.cursor.clone();
        Ok(Plan { condition, order, page, per_page, cursor, count, includes, embedded, fields })
    }

    /// Splits each key again now that the fields are known: a field name can end like a predicate, as in `is_not_eq`.
    pub fn expand_defaults(self, request: &mut Request) {
        request.terms.iter_mut().for_each(|term| self.expand(term));
        self.expand_groups(&mut request.groups);
    }

    /// Splits the key of a term again.
    pub(super) fn expand(self, term: &mut Term) {
        let Some(key) = &term.key else { return };
        let known = |name: &str| self.names(name).into_iter().all(|name| self.resolve(name).is_ok());
        if !known(&term.name)
            && let Some((name, predicate)) = Predicate::splits(key).find(|(name, _)| known(name))
        {
            (term.name, term.predicate) = (name.to_string(), Some(predicate));
        }
    }

    /// Combines the conditions of the `q` parameters with AND.
    pub fn terms(self, terms: &[Term], errors: &mut FieldErrors) -> Condition {
        // Each field that a parameter names is one condition.
        if terms.iter().map(|term| self.conditions(&term.name)).sum::<usize>() > MAX_CONDITIONS {
            errors.add("q", format!("must have at most {MAX_CONDITIONS} conditions"));
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

    /// Plans one condition, or returns its error.
    pub fn term(self, term: &Term) -> Result<Condition, String> {
        let Some(predicate) = term.predicate else { return Err(self.unknown_predicate(&term.name)) };
        let names = self.names(&term.name);
        if names.len() > MAX_CONDITIONS {
            return Err(format!("must name at most {MAX_CONDITIONS} fields"));
        }
        let texts = read_texts(predicate, &term.values)?;
        let conditions = names.into_iter().map(|name| self.condition(name, predicate, &texts));
        Ok(any(conditions.collect::<Result<_, _>>()?))
    }

    fn condition(self, name: &str, predicate: Predicate, texts: &[String]) -> Result<Condition, String> {
        match self.resolve(name)? {
            Named::Custom(name, custom) => {
                let (kind, target) =
                    (custom.kind(), Target::Custom { name: name.clone(), kind: custom.comparison_type() });
                if !kind.accepts(predicate) {
                    return Err(unsupported_predicate(&format!("cf.{name}"), predicate, |other| kind.accepts(other)));
                }
                let whole = custom == CustomFieldType::Choice && predicate.group() != Group::Text;
                let folded = |text: &String| if whole { fold(text.trim()) } else { text.clone() };
                let texts: Vec<String> = texts.iter().map(folded).collect();
                let in_json = |test| match test {
                    Test::Compare(comparison, value) => Test::Compare(comparison, json_operand(value)),
                    Test::In { values, negated } => {
                        Test::In { values: values.into_iter().map(json_operand).collect(), negated }
                    }
                    // They hold no value that has another form in JSON.
                    Test::Like { .. } | Test::Constant(_) | Test::Null { .. } | Test::Blank { .. } => test,
                };
                self.relative_to.resolve(None, kind, predicate, &texts)?.condition(|predicate, texts| {
                    let tests =
                        tests(kind, predicate, texts, custom.comparison_type().is_text())?.into_iter().map(in_json);
                    Ok(any(tests.map(|test| Condition::Test { target: target.clone(), test }).collect()))
                })
            }
            Named::Field(field, source) => {
                let kind = source.kind();
                if !(allows(field, predicate, kind) || self.is_mark(field) && kind.accepts(predicate)) {
                    return Err(unsupported_predicate(name, predicate, |other| allows(field, other, kind)));
                }
                self.relative_to.resolve(Some(source.field), kind, predicate, texts)?.condition(|predicate, texts| {
                    let tests = match source.labels {
                        Some(labels) => label_tests(labels, predicate, texts)?,
                        None => tests(kind, predicate, texts, text_like(kind))?,
                    };
                    Ok(any(tests.into_iter().map(|test| Condition::test(source.clone(), test)).collect()))
                })
            }
            Named::ToMany(relation, name) => {
                let inner = relation.planner(self).condition(&name, predicate, texts)?;
                Ok(relation.some(self, inner))
            }
            Named::Related(field, reference) => {
                if !allows(field, predicate, field.kind) {
                    return Err(unsupported_predicate(name, predicate, |other| allows(field, other, field.kind)));
                }
                let condition = |test| Condition::ReferencedField {
                    reference: reference.clone(),
                    source: Source::own(field),
                    test,
                };
                self.relative_to.resolve(Some(field), field.kind, predicate, texts)?.condition(|predicate, texts| {
                    let tests = tests(field.kind, predicate, texts, text_like(field.kind))?;
                    Ok(any(tests.into_iter().map(condition).collect()))
                })
            }
        }
    }

    /// Plans the order keys. Keys that cannot be sorted by are ignored, and so is a field that an earlier key names.
    fn orders(self, keys: &[String]) -> Vec<Order> {
        let field = |key: &str| key.strip_prefix('-').unwrap_or(key).to_string();
        let mut names = HashSet::new();
        keys.iter().filter(|key| names.insert(field(key))).filter_map(|key| self.order(key)).collect()
    }

    /// The order of the resource, by fields that the caller may read.
    fn default_order(self) -> Vec<Order> {
        let key = |key: &&str| {
            let (name, descending) = key.strip_prefix('-').map_or((*key, false), |name| (name, true));
            match self.resolve(name).ok()? {
                Named::Field(_, source) => Some(Order { target: Target::Column(source), descending, prefix: None }),
                Named::Custom(..) | Named::Related(..) | Named::ToMany(..) => None,
            }
        };
        self.entry.meta.order.iter().filter_map(key).collect()
    }

    /// Plans one order key. `None` if it names a field that cannot be sorted by (specification, "Sorting").
    pub fn order(self, sort: &str) -> Option<Order> {
        let (name, descending) = sort.strip_prefix('-').map_or((sort, false), |name| (name, true));
        match self.resolve(name).ok()? {
            Named::Custom(name, custom) => {
                let kind = custom.comparison_type().ordering_type();
                Some(Order { target: Target::Custom { name, kind }, descending, prefix: None })
            }
            // Only the resource's own fields. Fields of a related record need a derived field.
            Named::Field(field, source)
                if (field.sortable || self.is_mark(field))
                    && is_ordered(source.field.kind)
                    && self.entry.field(name).is_some() =>
            {
                Some(Order { target: Target::Column(source), descending, prefix: None })
            }
            Named::Field(..) | Named::Related(..) | Named::ToMany(..) => None,
        }
    }

    /// Resolves the names of `include`.
    pub fn includes(self, names: &[String], errors: &mut FieldErrors) -> Vec<&'static IncludeMeta> {
        let mut includes: Vec<&'static IncludeMeta> = Vec::new();
        for name in names {
            match self.entry.include(name).filter(|include| may_include(self.entry, include, self.caller)) {
                Some(include) if includes.iter().any(|i| i.name == include.name) => {}
                Some(include) => includes.push(include),
                None if !self.embedded(std::slice::from_ref(name)).is_empty() => {}
                None => {
                    let known: Vec<&str> = include_names(self.entry.meta).collect();
                    let known = if known.is_empty() {
                        "there are none".into()
                    } else {
                        format!("valid names are {}", known.join(", "))
                    };
                    errors.add("include", format!("refers to an unknown include `{name}`; {known}"));
                }
            }
        }
        includes
    }

    /// Resolves the names of `fields`.
    pub fn fields(self, names: &[String], errors: &mut FieldErrors) -> Vec<&'static FieldMeta> {
        let shown = |f: &FieldMeta| f.shown != Shown::Never || self.is_mark(f);
        for name in names {
            if !self.readable(name).is_some_and(shown) {
                let hint = match name.starts_with("cf.") && self.entry.meta.custom_fields {
                    true => "; all custom fields are in `custom_fields`".to_string(),
                    false => hint(name, self.field_names()),
                };
                errors.add("fields", format!("refers to an unknown field `{name}`{hint}"));
            }
        }
        let selected = |f: &&'static FieldMeta| {
            shown(f) && self.readable(f.name).is_some() && names.iter().any(|name| name == f.name)
        };
        self.entry.meta.fields.iter().filter(selected).collect()
    }
}

/// A condition that holds if one of these does.
pub(super) fn any(mut conditions: Vec<Condition>) -> Condition {
    if conditions.len() == 1 { conditions.remove(0) } else { Condition::Any(conditions) }
}

fn text_like(kind: Kind) -> bool {
    matches!(kind.storage(), Some(Storage::String(_) | Storage::Text | Storage::Word))
}

fn unsupported_predicate(name: &str, predicate: Predicate, supports: impl Fn(Predicate) -> bool) -> String {
    let allowed: Vec<&str> =
        Predicate::ALL.iter().filter(|asked| supports(**asked)).map(|asked| asked.name()).collect();
    if allowed.is_empty() {
        return format!("`{name}` cannot be filtered by");
    }
    format!("`{name}` does not support the predicate `{}`; supported are {}", predicate.name(), allowed.join(", "))
}

/// Reads an integer of at least 1. Values above `limit` become `limit`.
fn positive_integer(text: Option<&str>, default: i64, limit: i64, parameter: &str, errors: &mut FieldErrors) -> i64 {
    let Some(text) = text else { return default };
    let digits = text.trim();
    let number = if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        Some(digits.parse::<i64>().unwrap_or(i64::MAX))
    } else {
        None
    };
    match number {
        Some(number) if number >= 1 => number.min(limit),
        _ => {
            errors.add(parameter, "must be a whole number of at least 1");
            default
        }
    }
}

impl Plan {
    /// Number of records before the page.
    pub fn offset(&self) -> i64 {
        (self.page - 1).saturating_mul(self.per_page)
    }

    /// The order, which ends in the id.
    pub fn ranking(&self) -> OrderBy<'_> {
        OrderBy::of(&self.order)
    }

    /// The sources that the order needs joined.
    pub fn sources(&self) -> Vec<Source> {
        let of = |order: &Order| match &order.target {
            Target::Column(source) => Some(source.clone()),
            Target::Custom { .. } => None,
        };
        self.order.iter().filter_map(of).collect()
    }
}
