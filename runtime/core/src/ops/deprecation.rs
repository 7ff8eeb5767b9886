//! Response headers for the deprecated parts of the API that a request uses: `Deprecation` (RFC 9745) and `Sunset` (RFC
//! 8594).

use chrono::{NaiveDate, NaiveTime};

use super::endpoints::RouteOperation;
use super::input::body::Body;
use super::write::bulk;
use crate::header;
use crate::meta::{Deprecated, Operation, ResourceMeta};
use crate::query::{Predicate, SummaryRequest, parse};

/// Deprecated fields, filters and actions that one request uses. A field in the response does not count, because every
/// client receives it, also those that do not read it.
#[derive(Debug)]
pub struct UsedDeprecations {
    meta: &'static ResourceMeta,
    /// The earliest dates of everything that is used.
    since: Option<NaiveDate>,
    sunset: Option<NaiveDate>,
}

impl UsedDeprecations {
    pub fn new(meta: &'static ResourceMeta) -> UsedDeprecations {
        UsedDeprecations { meta, since: None, sunset: None }
    }

    /// Records the called action, and the fields, filters and sort keys of the query string.
    pub fn record_query(&mut self, call: RouteOperation, query: &str) {
        if self.meta.deprecated.is_empty() {
            return;
        }
        if let RouteOperation::Action(action) = call {
            return self.record(Deprecated::Action, action.name);
        }
        // The operation itself refuses a malformed query string.
        let Ok(request) = parse(query) else { return };
        let (lists, shows) = match call {
            RouteOperation::Operation(Operation::List) => (true, true),
            RouteOperation::Operation(Operation::Show) => (false, true),
            RouteOperation::Summary => (true, false),
            _ => (false, false),
        };
        for name in request.fields.iter().flatten().filter(|_| shows) {
            self.record(Deprecated::Field, name);
        }
        if !lists {
            return;
        }
        for key in request.terms.iter().filter_map(|term| term.key.as_deref()) {
            for (name, predicate) in Predicate::splits(key) {
                let is_field = self.meta.fields.iter().any(|field| field.name == name);
                let names: Vec<&str> = if is_field { vec![name] } else { name.split("_or_").collect() };
                for name in names {
                    self.record(Deprecated::Field, name);
                    self.record(Deprecated::Filter, &format!("{name}_{}", predicate.name()));
                }
            }
        }
        for key in request.sort.iter().flatten() {
            self.record(Deprecated::Field, key.strip_prefix('-').unwrap_or(key));
        }
        let summary = matches!(call, RouteOperation::Summary).then(|| SummaryRequest::parse(query));
        for name in summary.iter().flatten().flat_map(SummaryRequest::names) {
            // `created_at.month` is a field with a period.
            self.record(Deprecated::Field, name.split('.').next().unwrap_or(name));
        }
    }

    /// Records the fields of a body.
    pub fn record_body(&mut self, call: RouteOperation, bytes: &[u8]) {
        let writes =
            matches!(call, RouteOperation::Operation(Operation::Create | Operation::Update) | RouteOperation::Bulk);
        if self.meta.deprecated.is_empty() || !writes {
            return;
        }
        if let RouteOperation::Bulk = call {
            return bulk::field_names(self.meta.name, bytes)
                .iter()
                .for_each(|name| self.record(Deprecated::Field, name));
        }
        let Ok(body) = Body::read(bytes, Some(self.meta.name)) else { return };
        for (name, _) in &body.fields {
            self.record(Deprecated::Field, name);
        }
    }

    fn record(&mut self, of: Deprecated, name: &str) {
        let Some(deprecation) = self.meta.deprecation(of, name) else { return };
        let earliest = |known: Option<NaiveDate>, day: &str| known.into_iter().chain(day.parse().ok()).min();
        self.since = earliest(self.since, deprecation.since);
        if let Some(day) = deprecation.sunset {
            self.sunset = earliest(self.sunset, day);
        }
    }

    /// The response headers: `Deprecation` as a Unix timestamp, `Sunset` as an HTTP date.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        let since = self
            .since
            .map(|day| (header::DEPRECATION, format!("@{}", day.and_time(NaiveTime::MIN).and_utc().timestamp())));
        let sunset = self.sunset.map(|day| (header::SUNSET, day.format("%a, %d %b %Y 00:00:00 GMT").to_string()));
        since.into_iter().chain(sunset)
    }
}

/// True if a response to this operation can have the headers: for the OpenAPI document.
pub fn can_have_headers(meta: &ResourceMeta, call: RouteOperation) -> bool {
    let any = |kinds: &[Deprecated]| meta.deprecated.iter().any(|deprecation| kinds.contains(&deprecation.of));
    match call {
        RouteOperation::Action(action) => meta.deprecation(Deprecated::Action, action.name).is_some(),
        RouteOperation::Operation(Operation::List) | RouteOperation::Summary => {
            any(&[Deprecated::Field, Deprecated::Filter])
        }
        RouteOperation::Operation(Operation::Delete) => false,
        RouteOperation::Restore => false,
        RouteOperation::Operation(_) | RouteOperation::Bulk => any(&[Deprecated::Field]),
    }
}
