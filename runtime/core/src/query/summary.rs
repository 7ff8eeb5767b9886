//! Request of a summary: aggregates of fields and keys of groups, resolved against a resource's metadata.

use charter_model::Storage;

use super::condition::Target;
use super::plan::Planner;
use super::request::{Pair, Request, decode, split_names};
use super::resolve::Named;
use crate::calendar::Period;
use crate::error::{FieldErrors, Result};
use crate::meta::{Kind, Shown};
use crate::record::Source;
use crate::suggest::hint;

/// Limit on the keys of a group.
pub const MAX_GROUP_KEYS: usize = 3;
/// Limit on the fields of one function.
pub const MAX_AGGREGATES: usize = 20;
/// Limit on the groups of a summary.
pub const MAX_GROUPS: usize = 1_000;

/// An aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Sum,
    Min,
    Max,
    Avg,
}

impl Function {
    /// All functions, in the order of a response.
    pub const ALL: [Function; 4] = [Function::Sum, Function::Min, Function::Max, Function::Avg];

    /// The query parameter, and the key in a response.
    pub fn name(self) -> &'static str {
        match self {
            Function::Sum => "sum",
            Function::Min => "min",
            Function::Max => "max",
            Function::Avg => "avg",
        }
    }
}

/// Parameters of a summary, not yet checked against a resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SummaryRequest {
    /// The names of fields by function, in the order of [`Function::ALL`].
    fields: [Vec<String>; 4],
    group: Vec<String>,
}

impl SummaryRequest {
    /// Reads `sum`, `min`, `max`, `avg` and `group` of a query string. Repeated parameters add names.
    ///
    /// # Errors
    /// If the string cannot be decoded.
    pub fn parse(query: &str) -> Result<SummaryRequest> {
        let mut request = SummaryRequest::default();
        for Pair { name, value } in decode(query)? {
            let name = name.strip_suffix("[]").unwrap_or(&name);
            let function = Function::ALL.iter().position(|function| function.name() == name);
            let names = match function {
                Some(index) => &mut request.fields[index],
                None if name == "group" => &mut request.group,
                None => continue,
            };
            for name in split_names(&value) {
                // One more than the limit is enough to be refused.
                if names.len() <= MAX_AGGREGATES && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        Ok(request)
    }

    /// All names, with their periods.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().flatten().chain(&self.group).map(String::as_str)
    }
}

/// A valid summary request.
#[derive(Debug)]
pub struct Summary {
    pub keys: Vec<GroupKey>,
    pub aggregates: Vec<Aggregate>,
}

impl Summary {
    /// The values that the summary reads.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.keys.iter().map(|key| &key.operand).chain(self.aggregates.iter().map(|aggregate| &aggregate.operand))
    }

    /// The joined sources that the summary reads.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.operands().filter_map(|operand| match &operand.target {
            Target::Column(source) => Some(source),
            Target::Custom { .. } => None,
        })
    }

    /// True if a key depends on the time zone: a period of a time.
    pub fn needs_zone(&self) -> bool {
        self.keys.iter().any(|key| key.period.is_some() && key.operand.kind.storage() == Some(Storage::Timestamp))
    }
}

/// A value of each record.
#[derive(Debug, Clone)]
pub struct Operand {
    /// The name in the request and the response.
    pub name: String,
    pub target: Target,
    pub kind: Kind,
}

/// A key that records are grouped by: a value, or the period of a date or time.
#[derive(Debug)]
pub struct GroupKey {
    /// The name in the request and the response: `created_at.month`.
    pub name: String,
    pub operand: Operand,
    pub period: Option<Period>,
}

/// An aggregate of one value.
#[derive(Debug)]
pub struct Aggregate {
    pub function: Function,
    pub operand: Operand,
}

impl Planner<'_> {
    /// Plans a summary. Also reports the parameters of lists that a summary does not have.
    pub fn summary(self, asked: &SummaryRequest, request: &Request, errors: &mut FieldErrors) -> Summary {
        for (parameter, is_given) in [
            ("sort", request.sort.is_some()),
            ("page", request.page.is_some()),
            ("per_page", request.per_page.is_some()),
            ("cursor", request.cursor.is_some()),
            ("count", request.count.is_some()),
            ("include", !request.include.is_empty()),
            ("fields", request.fields.is_some()),
            ("csv", request.csv.is_some()),
        ] {
            if is_given {
                errors.add(parameter, "is a parameter of the list, which a summary does not have");
            }
        }
        let mut summary = Summary { keys: Vec::new(), aggregates: Vec::new() };
        if asked.group.len() > MAX_GROUP_KEYS {
            errors.add("group", format!("must have at most {MAX_GROUP_KEYS} keys"));
        } else {
            for name in &asked.group {
                match self.group_key(name) {
                    Ok(key) => summary.keys.push(key),
                    Err(problem) => errors.add("group", problem),
                }
            }
        }
        for (function, names) in Function::ALL.into_iter().zip(&asked.fields) {
            if names.len() > MAX_AGGREGATES {
                errors.add(function.name(), format!("must have at most {MAX_AGGREGATES} fields"));
                continue;
            }
            for name in names {
                match self.aggregate(function, name) {
                    Ok(aggregate) => summary.aggregates.push(aggregate),
                    Err(problem) => errors.add(function.name(), problem),
                }
            }
        }
        summary
    }

    fn aggregate(self, function: Function, name: &str) -> Result<Aggregate, String> {
        let operand = self.operand(name)?;
        let is_possible = match (&operand.target, function) {
            (Target::Column(source), function) => can_aggregate(function, source),
            (Target::Custom { .. }, Function::Sum | Function::Avg) => operand.kind.facts().is_number,
            (Target::Custom { .. }, Function::Min | Function::Max) => {
                operand.kind.facts().is_number || is_temporal(operand.kind)
            }
        };
        match (is_possible, function) {
            (true, function) => Ok(Aggregate { function, operand }),
            (false, Function::Sum | Function::Avg) => Err(format!("cannot be of `{name}`, which is not a number")),
            (false, Function::Min | Function::Max) => {
                Err(format!("cannot be of `{name}`, which is neither a number nor a date or time"))
            }
        }
    }

    fn group_key(self, name: &str) -> Result<GroupKey, String> {
        let key = |operand, period| GroupKey { name: name.to_string(), operand, period };
        let whole = self.operand(name);
        if let Some((field, period)) = name.rsplit_once('.')
            && whole.is_err()
            && let Ok(operand) = self.operand(field)
        {
            let Some(known) = Period::from_name(period) else {
                let names = Period::ALL.map(Period::name);
                return Err(format!("refers to an unknown period `{period}`; the periods are {}", names.join(", ")));
            };
            if let Target::Custom { .. } = operand.target {
                return Err(format!("cannot take a period of `{field}`: custom fields have none"));
            }
            if !has_periods(operand.kind) {
                return Err(format!("cannot take a {period} of `{field}`, which is neither a date nor a time"));
            }
            return Ok(key(operand, Some(known)));
        }
        let operand = whole?;
        let is_key = match &operand.target {
            Target::Column(source) if matches!(source.kind(), Kind::Timestamp { .. }) => {
                return Err(format!("needs a period of `{name}`: `{name}.month`, for example"));
            }
            Target::Column(source) => is_key(source),
            Target::Custom { .. } => is_groupable(operand.kind),
        };
        match is_key {
            true => Ok(key(operand, None)),
            false => Err(format!("cannot be `{name}`: lists, objects and long texts have no groups")),
        }
    }

    /// The value of a field that the caller may read, or of a custom field.
    fn operand(self, name: &str) -> Result<Operand, String> {
        let operand = |target, kind| Operand { name: name.to_string(), target, kind };
        if name.starts_with("cf.")
            && let Named::Custom(custom, of_type) = self.resolve(name)?
        {
            let target = Target::Custom { name: custom, kind: of_type.comparison_type().ordering_type() };
            return Ok(operand(target, of_type.kind()));
        }
        match self.readable(name).filter(|field| field.shown != Shown::Never || self.is_mark(field)) {
            Some(field) => {
                let source = self.entry.source(field);
                let kind = source.kind();
                Ok(operand(Target::Column(source), kind))
            }
            None => Err(format!("refers to an unknown field `{name}`{}", hint(name, self.field_names()))),
        }
    }
}

/// True if a function takes the values of this source.
pub fn can_aggregate(function: Function, source: &Source) -> bool {
    match function {
        Function::Sum | Function::Avg => source.kind().facts().is_number && !source.is_own("id"),
        Function::Min | Function::Max => source.kind().facts().is_number || is_temporal(source.kind()),
    }
}

/// True if records can be grouped by the values of this source, without a period.
pub fn is_key(source: &Source) -> bool {
    source.labels.is_some() || is_groupable(source.kind()) && !matches!(source.kind(), Kind::Timestamp { .. })
}

/// True if values have a day, week, month and year.
pub fn has_periods(kind: Kind) -> bool {
    matches!(kind.storage(), Some(Storage::Timestamp | Storage::Date))
}

fn is_temporal(kind: Kind) -> bool {
    matches!(kind.storage(), Some(Storage::Timestamp | Storage::Date | Storage::Time))
}

/// True for single values of limited length.
fn is_groupable(kind: Kind) -> bool {
    !matches!(kind.storage(), None | Some(Storage::Text | Storage::Json | Storage::List))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_summary_are_read_in_every_notation() {
        let request =
            SummaryRequest::parse("sum=a,%20b&sum[]=c&avg=a&group=x,y.month&group=x&q[id_eq]=1&sum=").unwrap();
        assert_eq!(request.fields, [vec!["a".to_string(), "b".into(), "c".into()], vec![], vec![], vec!["a".into()]]);
        assert_eq!(request.names().collect::<Vec<_>>(), ["a", "b", "c", "a", "x", "y.month"]);
        assert!(SummaryRequest::parse("sum=%").is_err());
    }
}
