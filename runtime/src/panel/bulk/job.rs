//! All records that meet a list's conditions, changed or deleted: a portion at a time, to the last that was there when it began.

use maud::{Markup, html};
use salvo::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::amount::Amounts;
use super::columns;
use super::condition::{self, Wish};
use super::place::Place;
use super::title::Titles;
use super::visit::Visit;
use super::{filter, words};
use crate::db::Sql;
use crate::error::{Error, Result};
use crate::query::{Pair, decode};

/// So many are changed in one request and one transaction: as many as a page of the API has.
const PORTION: usize = 100;
/// So many bytes of operations at most, well below what a body may have.
const LONGEST: usize = 400_000;
/// So many are shown before it begins.
const SAMPLE: usize = 20;
/// So many reasons are told apart, each of so many characters.
const REASONS: usize = 10;
const LONGEST_REASON: usize = 200;

/// The records of a list, whichever page they are on.
#[derive(Debug)]
pub struct Sweep {
    /// The list's address without its path.
    pub query: String,
    wish: Wish,
    /// Some of them, before it begins.
    pub sample: Vec<Value>,
    pub progress: Progress,
}

/// How far it is: what one page hands on to the next.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// How many there were when it began, and the last of them: what is made meanwhile is none of them.
    pub total: i64,
    until: i64,
    /// The API's cursor behind the portions that are done; nothing at the beginning.
    cursor: String,
    pub done: i64,
    pub refused: i64,
    /// Why, how often, and of which record first.
    pub why: Vec<(String, i64, i64)>,
    /// What the list's view asked for when it began: what was shown is what is changed.
    view: Value,
    /// And the first record, with a cursor that knows the conditions: a view leaves out those whose field is gone.
    begins: Value,
    /// Whether the view asks for something else by now, so that nothing more is done.
    #[serde(skip)]
    pub is_another: bool,
    #[serde(skip)]
    pub is_over: bool,
}

impl Sweep {
    /// The records of the list with this query, counted now unless it is under way.
    ///
    /// # Errors
    /// What the API says to the list, and [`Error::Malformed`].
    pub async fn of(visit: &Visit<'_>, place: &Place<'_>, query: &str, progress: Option<&str>) -> Result<Sweep> {
        let columns = columns::all(visit, place.entry).await?;
        let wish = Wish::read(decode(query)?, &columns, visit.locale.zone)?;
        let mut sweep = Sweep { query: query.into(), wish, sample: Vec::new(), progress: Progress::default() };
        if let Some(text) = progress {
            let unread = |_| Error::Malformed("The form cannot be read: begin anew.".into());
            sweep.progress = serde_json::from_str(text).map_err(unread)?;
            return Ok(sweep);
        }
        // Before they are counted: what is made later has a greater id. A list need not be sorted by it.
        let last = format!("SELECT MAX(\"id\") AS \"id\" FROM \"{}\"", place.entry.meta.table);
        let last = Sql::new(visit.state.db.dialect(), last).one(visit.state.db.reader()).await?;
        sweep.progress.until = last.and_then(|row| row.try_get("", "id").ok()).flatten().unwrap_or_default();
        sweep.progress.view = sweep.viewed(visit).await?;
        sweep.progress.begins = sweep.begins(visit, place).await?;
        let body = visit.read(&sweep.address(place, "-id", &[("per_page", &SAMPLE.to_string())])).await?;
        sweep.sample = body[place.entry.meta.plural].as_array().cloned().unwrap_or_default();
        sweep.progress.total = body["meta"]["total"].as_i64().unwrap_or_default();
        Ok(sweep)
    }

    /// The API's list of them in an order of its own.
    fn address(&self, place: &Place<'_>, sort: &str, with: &[(&str, &str)]) -> String {
        let (sort, page, per_page, columns) = (Some(sort.to_string()), None, None, None);
        let mut wish = Wish { sort, page, per_page, columns, ..self.wish.clone() };
        wish.others.retain(|pair| !["include", "include[]", "count"].contains(&pair.name.as_str()));
        let mut pairs = wish.pairs();
        pairs.extend(with.iter().map(|(name, value)| Pair { name: (*name).into(), value: (*value).into() }));
        condition::address(&place.collection(), &pairs)
    }

    /// What the view of the list asks for now; nothing when it has none.
    async fn viewed(&self, visit: &Visit<'_>) -> Result<Value> {
        let Some(id) = self.wish.view_id else { return Ok(Value::Null) };
        let reply = visit.get(&format!("/custom_views/{id}")).await?;
        if reply.status == StatusCode::NOT_FOUND {
            return Ok(Value::Null);
        }
        Ok(reply.json()?["custom_view"]["filters"].take())
    }

    /// With which record the list of a view begins, and the cursor behind it; nothing when it has none.
    async fn begins(&self, visit: &Visit<'_>, place: &Place<'_>) -> Result<Value> {
        if self.wish.view_id.is_none() {
            return Ok(Value::Null);
        }
        let with = [("fields", "id"), ("per_page", "1"), ("cursor", "")];
        let body = visit.read(&self.address(place, "id", &with)).await?;
        Ok(json!([body[place.entry.meta.plural][0]["id"], body["meta"]["next_cursor"]]))
    }

    /// The conditions in words.
    pub async fn told(&self, visit: &Visit<'_>, place: &Place<'_>) -> Result<Markup> {
        let columns = columns::all(visit, place.entry).await?;
        let titles = Titles::of_conditions(visit, &self.wish.rows, &columns).await?;
        Ok(html! {
            @if !self.wish.rows.is_empty() || self.wish.view_id.is_some() || self.wish.unshaped().next().is_some() {
                ul .chips aria-label="Conditions" {
                    @if self.wish.view_id.is_some() { li { "Those of the view" } }
                    @for said in filter::sentences(visit, &self.wish.rows, &columns, &titles) { li { (said) } }
                    @for pair in self.wish.unshaped() { li { code { (pair.name) "=" (pair.value) } } }
                }
            }
        })
    }

    /// Carries out the next portion, each operation for itself.
    ///
    /// # Errors
    /// What ends all of a portion. How far it was is as it was then.
    pub async fn go_on(
        &mut self,
        visit: &Visit<'_>,
        place: &Place<'_>,
        operation: impl Fn(i64) -> Value,
    ) -> Result<()> {
        let size = (LONGEST / operation(i64::MAX).to_string().len()).clamp(1, PORTION).to_string();
        let with = [("fields", "id"), ("per_page", size.as_str()), ("cursor", &self.progress.cursor)];
        let asked = visit.read(&self.address(place, "id", &with)).await;
        // Behind that, so that these are what the view meant when it began. A cursor of other conditions is refused.
        let is_first = self.progress.cursor.is_empty();
        if self.viewed(visit).await? != self.progress.view
            || is_first && self.begins(visit, place).await? != self.progress.begins
        {
            self.progress.is_another = true;
            return Ok(());
        }
        let body = asked?;
        let found = body[place.entry.meta.plural].as_array().into_iter().flatten();
        let found: Vec<i64> = found.filter_map(|record| record["id"].as_i64()).collect();
        let ids: Vec<i64> = found.iter().copied().filter(|id| *id <= self.progress.until).collect();
        if !ids.is_empty() {
            let operations: Vec<Value> = ids.iter().map(|id| operation(*id)).collect();
            let body = json!({ "atomic": false, "operations": operations });
            let reply = visit.send("POST", &format!("{}/bulk", place.collection()), &[], Some(&body)).await?;
            let answer = reply.json()?;
            let results = answer["results"].as_array().map_or(&[][..], Vec::as_slice);
            for (id, result) in ids.iter().zip(results) {
                match result["status"].as_u64() {
                    Some(200..300) => self.progress.done += 1,
                    _ => self.progress.refuse(*id, reason(&result["error"])),
                }
            }
        }
        let next = body["meta"]["next_cursor"].as_str();
        self.progress.is_over = next.is_none() || ids.len() < found.len();
        self.progress.cursor = next.unwrap_or_default().to_string();
        Ok(())
    }
}

impl Progress {
    fn refuse(&mut self, id: i64, reason: String) {
        self.refused += 1;
        let has_room = self.why.len() < REASONS;
        match self.why.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, count, _)) => *count += 1,
            None if has_room => self.why.push((reason, 1, id)),
            None => {}
        }
    }

    /// What came of it so far.
    pub fn told(&self, amounts: &Amounts, place: &Place<'_>, done: &str) -> Markup {
        let gone = self.total - self.done - self.refused;
        let meta = place.entry.meta;
        html! {
            div .notice role="status" {
                p { (amounts.records_were(meta, self.done)) " " (done) "." }
                @if self.is_over && gone > 0 {
                    p { (amounts.records_were(meta, gone)) " gone, or met the conditions no longer, when it was their turn." }
                }
            }
            @if self.refused > 0 {
                div .problem role="alert" {
                    p { strong { (amounts.records_were(meta, self.refused)) " refused, and stayed as they are." } }
                    ul { @for (reason, count, first) in &self.why {
                        li { (reason) ": " (amounts.records(meta, *count)) ", first "
                            a href=(place.of(*first).path()) { (meta.label) " " (first) } }
                    } }
                    @if self.why.len() == REASONS { p { "There may be other reasons: these came first." } }
                }
            }
        }
    }
}

/// Why an operation was refused, in the API's words.
fn reason(error: &Value) -> String {
    let problems = error["errors"].as_object().into_iter().flatten();
    let said = |(field, said): (&String, &Value)| {
        let said: Vec<&str> = said.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        format!("{} {}", words::label(field), said.join(" and "))
    };
    let problems: Vec<String> = problems.map(said).collect();
    let text = match problems.is_empty() {
        true => error["message"].as_str().unwrap_or("It failed.").trim_end_matches('.').to_string(),
        false => problems.join("; "),
    };
    text.chars().take(LONGEST_REASON).collect()
}
