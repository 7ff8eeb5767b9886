//! What a request uses that is to go, and the headers that tell its client: `Deprecation` (RFC 9745), `Sunset` (RFC 8594).

use chrono::{NaiveDate, NaiveTime};

use super::endpoints::RouteOperation;
use super::input::body::Body;
use super::write::bulk;
use crate::header;
use crate::meta::{Deprecated, Operation, ResourceMeta};
use crate::query::{Predicate, parse};

/// What one request has been found to use. A field that is merely shown counts for nothing: it is in every answer, also for
/// those who do not look at it.
#[derive(Debug)]
pub struct Uses {
    meta: &'static ResourceMeta,
    /// The earliest day of each sort, where several things are to go.
    since: Option<NaiveDate>,
    sunset: Option<NaiveDate>,
}

impl Uses {
    pub fn new(meta: &'static ResourceMeta) -> Uses {
        Uses { meta, since: None, sunset: None }
    }

    /// Counts what is called, and the filters, the order and the fields that its query string asks for.
    pub fn ask(&mut self, call: RouteOperation, query: &str) {
        if self.meta.deprecated.is_empty() {
            return;
        }
        if let RouteOperation::Action(action) = call {
            return self.count(Deprecated::Action, action.name);
        }
        // What cannot be read is refused where it is read.
        let Ok(request) = parse(query) else { return };
        let (lists, shows) = match call {
            RouteOperation::Operation(Operation::List) => (true, true),
            RouteOperation::Operation(Operation::Show) => (false, true),
            _ => (false, false),
        };
        for name in request.fields.iter().flatten().filter(|_| shows) {
            self.count(Deprecated::Field, name);
        }
        if !lists {
            return;
        }
        for key in request.terms.iter().filter_map(|term| term.key.as_deref()) {
            for (name, predicate) in Predicate::splits(key) {
                let is_field = self.meta.fields.iter().any(|field| field.name == name);
                let names: Vec<&str> = if is_field { vec![name] } else { name.split("_or_").collect() };
                for name in names {
                    self.count(Deprecated::Field, name);
                    self.count(Deprecated::Filter, &format!("{name}_{}", predicate.name()));
                }
            }
        }
        for key in request.sort.iter().flatten() {
            self.count(Deprecated::Field, key.strip_prefix('-').unwrap_or(key));
        }
    }

    /// Counts the fields that a body gives.
    pub fn give(&mut self, call: RouteOperation, bytes: &[u8]) {
        let writes =
            matches!(call, RouteOperation::Operation(Operation::Create | Operation::Update) | RouteOperation::Bulk);
        if self.meta.deprecated.is_empty() || !writes {
            return;
        }
        if let RouteOperation::Bulk = call {
            return bulk::given(self.meta.name, bytes).iter().for_each(|name| self.count(Deprecated::Field, name));
        }
        let Ok(body) = Body::read(bytes, Some(self.meta.name)) else { return };
        for (name, _) in &body.fields {
            self.count(Deprecated::Field, name);
        }
    }

    fn count(&mut self, of: Deprecated, name: &str) {
        let Some(said) = self.meta.deprecation(of, name) else { return };
        let earliest = |known: Option<NaiveDate>, day: &str| known.into_iter().chain(day.parse().ok()).min();
        self.since = earliest(self.since, said.since);
        if let Some(day) = said.sunset {
            self.sunset = earliest(self.sunset, day);
        }
    }

    /// The headers of the answer: since when, as seconds of Unix, and until when, as a date of HTTP.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, String)> {
        let since = self
            .since
            .map(|day| (header::DEPRECATION, format!("@{}", day.and_time(NaiveTime::MIN).and_utc().timestamp())));
        let sunset = self.sunset.map(|day| (header::SUNSET, day.format("%a, %d %b %Y 00:00:00 GMT").to_string()));
        since.into_iter().chain(sunset)
    }
}

/// Whether the answer to a call may tell of something that is to go.
pub fn may_tell(meta: &ResourceMeta, call: RouteOperation) -> bool {
    let any = |sorts: &[Deprecated]| meta.deprecated.iter().any(|said| sorts.contains(&said.of));
    match call {
        RouteOperation::Action(action) => meta.deprecation(Deprecated::Action, action.name).is_some(),
        RouteOperation::Operation(Operation::List) => any(&[Deprecated::Field, Deprecated::Filter]),
        RouteOperation::Operation(Operation::Delete) => false,
        RouteOperation::Restore => false,
        RouteOperation::Operation(_) | RouteOperation::Bulk => any(&[Deprecated::Field]),
    }
}
