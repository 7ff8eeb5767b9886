//! Conditions with relative values: each operator with a period, a day or an instant, and `me` for the caller.

use std::sync::atomic::{AtomicBool, Ordering};

use charter_model::reserved::USER;
use chrono::{DateTime, SecondsFormat, Utc};
use chrono_tz::Tz;

use super::plan::MAX_CONDITIONS;
use super::relative::{OUT_OF_RANGE, RelativeTime, start_of_day};
use super::{Condition, Filter, Predicate, Reads, Request, SavedView, Term, Values};
use crate::meta::{FieldMeta, Kind, Rule};

/// The word for the caller in conditions on users.
pub const ME: &str = "me";

/// The time, the time zone and the caller that relative values resolve to. It notes which it was used for.
#[derive(Debug)]
pub struct RelativeTo {
    pub now: DateTime<Utc>,
    pub zone: Tz,
    /// `None` if the caller is no user.
    pub user_id: Option<i64>,
    uses_time: AtomicBool,
    uses_instant: AtomicBool,
}

/// A condition without relative values. One of the groups must hold, and each part of it; if it is negated, each of the
/// groups, and one part of it.
pub(super) struct Resolved {
    groups: Vec<Vec<Part>>,
    negated: bool,
}

/// A predicate and its values.
type Part = (Predicate, Vec<String>);

impl RelativeTo {
    pub fn new(now: DateTime<Utc>, zone: Tz, user_id: Option<i64>) -> RelativeTo {
        RelativeTo { now, zone, user_id, uses_time: AtomicBool::new(false), uses_instant: AtomicBool::new(false) }
    }

    /// For conditions whose results do not matter, in UTC: a validation accepts a word whatever it stands for.
    pub fn in_utc(now: DateTime<Utc>, user_id: Option<i64>) -> RelativeTo {
        RelativeTo::new(now, Tz::UTC, user_id)
    }

    /// True if a condition has a relative time. The next page must then resolve it at the same time.
    pub fn uses_time(&self) -> bool {
        self.uses_time.load(Ordering::Relaxed)
    }

    /// True if a condition depends on the instant of the request: no later request has the same result.
    pub fn uses_instant(&self) -> bool {
        self.uses_instant.load(Ordering::Relaxed)
    }

    /// Resolves the relative values of a condition on a field whose values are of this kind.
    ///
    /// # Errors
    /// If `me` has no user, or a time is out of range or no date.
    pub(super) fn resolve(
        &self,
        field: Option<&FieldMeta>,
        kind: Kind,
        predicate: Predicate,
        texts: &[String],
    ) -> Result<Resolved, String> {
        if !matches!(predicate.reads(), Reads::Value | Reads::List) {
            return Ok(Resolved::unchanged(predicate, texts.to_vec()));
        }
        if field.is_some_and(refers_to_user) {
            let ids = texts.iter().map(|text| self.user(text)).collect::<Result<_, _>>()?;
            return Ok(Resolved::unchanged(predicate, ids));
        }
        if !matches!(kind, Kind::Date | Kind::Timestamp { .. }) {
            return Ok(Resolved::unchanged(predicate, texts.to_vec()));
        }
        let (mut exact, mut spans) = (Vec::new(), Vec::new());
        for text in texts {
            match RelativeTime::parse(text) {
                None => exact.push(text.clone()),
                Some(time) => match self.time(kind, time)? {
                    Time::Exact(text) => exact.push(text),
                    Time::Span(from, until) => spans.push((from, until)),
                },
            }
        }
        if spans.is_empty() {
            return Ok(Resolved::unchanged(predicate, exact));
        }
        if spans.len() > MAX_CONDITIONS {
            return Err(format!("must have at most {MAX_CONDITIONS} relative times"));
        }
        let mut groups: Vec<Vec<Part>> = spans.into_iter().map(|span| span_parts(predicate, span)).collect();
        if !exact.is_empty() {
            groups.push(vec![(predicate, exact)]);
        }
        Ok(Resolved { groups, negated: is_negated(predicate) })
    }

    /// The value or the span that a relative time stands for.
    fn time(&self, kind: Kind, time: RelativeTime) -> Result<Time, String> {
        self.uses_time.store(true, Ordering::Relaxed);
        if let Some(instant) = time.instant(self.now) {
            if kind == Kind::Date {
                return Err("must be a date such as 2026-03-21 or today; `now`, hours and minutes are for times".into());
            }
            self.uses_instant.store(true, Ordering::Relaxed);
            return instant.map(|instant| Time::Exact(time_text(instant)));
        }
        let (from, until) = time.days(self.now.with_timezone(&self.zone).date_naive())?;
        if kind == Kind::Date {
            let is_one_day = from.succ_opt() == Some(until);
            return Ok(if is_one_day {
                Time::Exact(from.to_string())
            } else {
                Time::Span(from.to_string(), until.to_string())
            });
        }
        let start = |day| start_of_day(self.zone, day).map(time_text).ok_or(OUT_OF_RANGE);
        Ok(Time::Span(start(from)?, start(until)?))
    }

    fn user(&self, text: &str) -> Result<String, String> {
        if !text.trim().eq_ignore_ascii_case(ME) {
            return Ok(text.to_string());
        }
        self.user_id.map(|id| id.to_string()).ok_or_else(|| format!("cannot be `{ME}`: the caller is no user"))
    }
}

/// A resolved relative time.
enum Time {
    Exact(String),
    /// The start, and the end, which is not part of it.
    Span(String, String),
}

impl Resolved {
    fn unchanged(predicate: Predicate, texts: Vec<String>) -> Resolved {
        Resolved { groups: vec![vec![(predicate, texts)]], negated: false }
    }

    /// Builds the condition from those of its parts.
    ///
    /// # Errors
    /// Those of the parts.
    pub(super) fn condition(
        self,
        of_part: impl Fn(Predicate, &[String]) -> Result<Condition, String>,
    ) -> Result<Condition, String> {
        let combine = |conditions: Vec<Condition>, is_all: bool| match <[Condition; 1]>::try_from(conditions) {
            Ok([one]) => one,
            Err(many) if is_all => Condition::All(many),
            Err(many) => Condition::Any(many),
        };
        let mut groups = Vec::with_capacity(self.groups.len());
        for parts in self.groups {
            let parts = parts.iter().map(|(predicate, texts)| of_part(*predicate, texts));
            groups.push(combine(parts.collect::<Result<_, _>>()?, !self.negated));
        }
        Ok(combine(groups, self.negated))
    }
}

/// The comparisons with the bounds of a span that equal a comparison with the span: `_gt` is after its end, `_eq` within it.
fn span_parts(predicate: Predicate, (from, until): (String, String)) -> Vec<Part> {
    let part = |predicate, bound: &String| (predicate, vec![bound.clone()]);
    match predicate {
        Predicate::Lt => vec![part(Predicate::Lt, &from)],
        Predicate::Gteq => vec![part(Predicate::Gteq, &from)],
        Predicate::Lteq => vec![part(Predicate::Lt, &until)],
        Predicate::Gt => vec![part(Predicate::Gteq, &until)],
        _ if is_negated(predicate) => vec![part(Predicate::Lt, &from), part(Predicate::Gteq, &until)],
        _ => vec![part(Predicate::Gteq, &from), part(Predicate::Lt, &until)],
    }
}

fn is_negated(predicate: Predicate) -> bool {
    matches!(predicate, Predicate::NotEq | Predicate::NotIn)
}

fn time_text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// True if values of the field are ids of users.
pub fn refers_to_user(field: &FieldMeta) -> bool {
    matches!(field.kind, Kind::Ref { resource: USER })
        || field.rules.iter().any(|rule| matches!(rule, Rule::Exists { resource: USER, field: "id" }))
}

/// True if a request or its saved view may have relative times, which need the company's time zone.
pub fn mentions_time(request: &Request, view: Option<&SavedView>) -> bool {
    let is_time = |text: &String| RelativeTime::parse(text).is_some();
    let in_term = |term: &Term| match &term.values {
        Values::One(text) => text.split(',').any(|text| RelativeTime::parse(text).is_some()),
        Values::Repeated(texts) => texts.iter().any(is_time),
    };
    request.filters.is_some()
        || request.all_terms().any(in_term)
        || view.is_some_and(|view| view.filters.iter().flat_map(Filter::terms).any(|term| in_term(&term)))
}
