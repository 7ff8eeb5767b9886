//! One portion of rows: found, rehearsed and, in a run, written, in one transaction with its report and its progress.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use charter_core::catalog::Entry;
use charter_core::error::{Error, FieldErrors, Result};
use charter_core::meta::FieldMeta;
use charter_core::ops::input::batch_references::key;
use charter_core::ops::input::read_field;
use charter_core::ops::write::create::create;
use charter_core::ops::write::rehearsal::{ROW, Rehearsal, Rehearsed, Verdict, hash_of, refusal};
use charter_core::ops::write::update::update;
use charter_core::ops::{
    Access, Body, Context, Preconditions, RawJson, State, Transaction, company_zone, load_all, stored, visible,
};
use charter_core::principal::Principal;
use charter_core::query::Condition;
use charter_core::query::condition::Test;
use charter_core::record::Source;
use sea_orm::{QueryResult, Value};

use super::ImportLabels;
use super::cells::{CellReader, RowBody};
use super::plan::Plan;
use super::progress::{self, Line};
use super::reader::{Cell, Row};
use super::record::{Model, REHEARSING, RUNNING};
use super::titles::Titles;
use crate::lease::Claim;

/// Rows of a portion.
pub(super) const PORTION_ROWS: usize = 250;

/// The records that have a key.
type Matches = HashMap<String, Vec<(i64, Arc<QueryResult>)>>;

/// The work on the rows of one import.
pub(super) struct Portions<'s> {
    state: &'s Arc<State>,
    claim: &'s Claim,
    entry: &'s Entry,
    plan: Plan<'s>,
    rehearsal: Rehearsal,
    /// The row that has a key, by its hash.
    keys: HashMap<[u8; 16], i64>,
    /// True for a run, false for a rehearsal.
    writes: bool,
}

/// The key of a row.
enum RowKey {
    /// Records are not matched, or the row has no valid key.
    None,
    Value(Value),
}

impl<'s> Portions<'s> {
    pub(super) async fn begin(
        context: &Context<'s>,
        state: &'s Arc<State>,
        claim: &'s Claim,
        entry: &'s Entry,
        import: &Model,
    ) -> Result<Portions<'s>> {
        let plan = Plan::of(context, entry, import).await?;
        let rehearsal = Rehearsal::begin(context, entry).await?;
        let writes = import.status == RUNNING;
        Ok(Portions { state, claim, entry, plan, rehearsal, keys: HashMap::new(), writes })
    }

    fn status(&self) -> &'static str {
        if self.writes { RUNNING } else { REHEARSING }
    }

    /// Notes the keys of rows that an earlier worker has passed.
    pub(super) fn pass(&mut self, rows: &[Row]) {
        for row in rows {
            let _ = self.read_key(row, &mut FieldErrors::default());
        }
    }

    /// Processes a portion with the current rights of the caller. Returns false if the import is no longer this
    /// worker's.
    ///
    /// # Errors
    /// The reason that stops the import.
    pub(super) async fn process(&mut self, caller: &Principal, rows: Vec<Row>) -> Result<bool> {
        self.plan.check_rights(caller)?;
        if let Some((field, problem)) = self.plan.problems(caller).into_iter().next() {
            return Err(Error::invalid(field, problem));
        }
        let transaction = Transaction::begin(self.state).await?;
        let outside = Context::new(self.state, caller, self.state.db.reader()).with_import(Some(self.claim.id));
        let context = outside.in_transaction(&transaction);
        // Locks the import: a worker that waits for its lease sees the extended one.
        if !progress::extend(self.state, context.db(), self.claim, self.status()).await? {
            return Ok(false);
        }
        let lines = self.lines(&context, &transaction, &rows).await?;
        progress::add_lines(self.state, context.db(), self.claim.id, &lines).await?;
        let outcomes = lines.iter().map(|line| line.outcome);
        let status = self.status();
        if !progress::advance(self.state, context.db(), self.claim, status, rows.len(), outcomes).await? {
            return Ok(false);
        }
        transaction.commit(&outside).await?;
        Ok(true)
    }

    async fn lines(&mut self, context: &Context<'_>, transaction: &Transaction, rows: &[Row]) -> Result<Vec<Line>> {
        let titles = Titles::load(context, &self.plan, rows).await?;
        let mut errors: Vec<FieldErrors> = rows.iter().map(|_| FieldErrors::default()).collect();
        let keys: Vec<RowKey> = rows.iter().zip(&mut errors).map(|(row, errors)| self.read_key(row, errors)).collect();
        let matches = self.find_matches(context, &keys).await?;
        let zone = company_zone(self.state).await?;
        let (catalog, labels) = (context.catalog(), ImportLabels::of(self.state));
        let reader = CellReader { catalog, plan: &self.plan, titles: &titles, labels, zone };
        let mut bodies = Vec::with_capacity(rows.len());
        let mut found = Vec::with_capacity(rows.len());
        for ((row, row_key), errors) in rows.iter().zip(&keys).zip(&mut errors) {
            let before = self.matched(row_key, &matches, errors);
            let body = match &row.cells {
                Ok(cells) => reader.body(cells, before.is_some()),
                Err(problem) => {
                    errors.add(ROW, problem.as_str());
                    RowBody::default()
                }
            };
            bodies.push(body);
            found.push(before);
        }
        let mut lines: Vec<Option<Line>> = Vec::with_capacity(rows.len());
        let mut parsed = Vec::with_capacity(rows.len());
        for ((row, body), errors) in rows.iter().zip(&mut bodies).zip(&mut errors) {
            errors.merge(std::mem::take(&mut body.errors));
            // A row that cannot be read, or whose record is unclear, has no body to check.
            let is_unclear = row.cells.is_err() || self.key_name().is_some_and(|name| errors.contains(name));
            lines.push(is_unclear.then(|| Line::refused(row.number, std::mem::take(errors))));
        }
        for (body, line) in bodies.iter().zip(&lines) {
            parsed.push(if line.is_none() { Body::read(body.json.as_bytes(), None)? } else { Body::default() });
        }
        let mut rehearsed = Vec::new();
        for (index, row) in rows.iter().enumerate().filter(|(index, _)| lines[*index].is_none()) {
            rehearsed.push(Rehearsed {
                number: row.number,
                body: &parsed[index],
                parent: bodies[index].parent,
                before: found[index].clone(),
                errors: std::mem::take(&mut errors[index]),
            });
        }
        let mut verdicts = self.rehearse(context, transaction, rehearsed).await?.into_iter();
        for (index, line) in lines.iter_mut().enumerate().filter(|(_, line)| line.is_none()) {
            let Some(verdict) = verdicts.next() else { break };
            let number = rows[index].number;
            *line = Some(match self.permitted(context, verdict) {
                Verdict::Refuse(errors) => Line::refused(number, errors),
                Verdict::Unchanged(id) => Line::new(number, "unchanged", Some(id)),
                Verdict::Create if !self.writes => Line::new(number, "created", None),
                Verdict::Change(id) if !self.writes => Line::new(number, "changed", Some(id)),
                Verdict::Create => {
                    let work = create(context, self.entry, &parsed[index], bodies[index].parent);
                    match transaction.attempt(work).await? {
                        Ok(result) => Line::new(number, "created", result.created),
                        Err(error) => Line::refused(number, refusal(error)?),
                    }
                }
                Verdict::Change(id) => {
                    let conditions = Preconditions::default();
                    let within = Condition::always();
                    let work = update(context, self.entry, id, within, &conditions, &parsed[index], None);
                    match transaction.attempt(work).await? {
                        Ok(_) => Line::new(number, "changed", Some(id)),
                        Err(error) => Line::refused(number, refusal(error)?),
                    }
                }
            });
        }
        Ok(lines.into_iter().flatten().collect())
    }

    /// Rehearses rows. The writes of hooks are rolled back.
    async fn rehearse(
        &mut self,
        context: &Context<'_>,
        transaction: &Transaction,
        rows: Vec<Rehearsed<'_>>,
    ) -> Result<Vec<Verdict>> {
        let hooks = &context.route(self.entry).hooks;
        if hooks.guard.is_none() && hooks.check.is_none() && hooks.before_save.is_none() {
            return self.rehearsal.rehearse(context, self.entry, rows).await;
        }
        let mut verdicts = Vec::new();
        let (rehearsal, entry) = (&mut self.rehearsal, self.entry);
        let undone = transaction.attempt(async {
            verdicts = rehearsal.rehearse(context, entry, rows).await?;
            Err::<(), _>(Error::Conflict("A rehearsal writes nothing.".into()))
        });
        match undone.await? {
            Ok(()) | Err(Error::Conflict(_)) => Ok(verdicts),
            Err(error) => Err(error),
        }
    }

    /// Refuses a write for which the caller lacks the right.
    fn permitted(&self, context: &Context<'_>, verdict: Verdict) -> Verdict {
        let verb = match verdict {
            Verdict::Create => "create",
            Verdict::Change(_) => "update",
            other => return other,
        };
        match Access::write(self.entry, verb).check(context.caller()) {
            Ok(()) => verdict,
            Err(error) => {
                let mut errors = FieldErrors::default();
                errors.add(ROW, format!("is refused: {}", error.message("-").trim_end_matches('.')));
                Verdict::Refuse(errors)
            }
        }
    }

    fn key_name(&self) -> Option<&'static str> {
        self.plan.key.map(|(field, _)| field.name)
    }

    /// The key of a row. A second row with the same key is refused, whatever became of the first.
    fn read_key(&mut self, row: &Row, errors: &mut FieldErrors) -> RowKey {
        let (Some((field, column)), Ok(cells)) = (self.plan.key, &row.cells) else { return RowKey::None };
        let text = match cells.get(column) {
            Some(Cell::Text(text)) => text,
            Some(Cell::Json(_)) => {
                errors.add(field.name, "must be a single value");
                return RowKey::None;
            }
            // A new record, to which the server gives a number.
            Some(Cell::Empty) | None if !field.sequence.is_empty() => return RowKey::None,
            Some(Cell::Empty) | None => {
                errors.add(field.name, "is empty, but records are found by it");
                return RowKey::None;
            }
        };
        // The rules of a field do not hold for stored values that are older than they are.
        let plain = FieldMeta { rules: &[], ..*field };
        match read_field(&plain, &RawJson::Text(text.as_str().into())) {
            Ok(value) => {
                let hash = hash_of(&[field.name], std::slice::from_ref(&value));
                match self.keys.get(&hash) {
                    Some(earlier) => {
                        errors.add(field.name, format!("is already that of row {earlier}"));
                        RowKey::None
                    }
                    None => {
                        self.keys.insert(hash, row.number);
                        RowKey::Value(value)
                    }
                }
            }
            Err(problems) => {
                errors.add_all(field.name, problems);
                RowKey::None
            }
        }
    }

    /// Finds the records that the caller sees and that have one of the keys.
    async fn find_matches(&self, context: &Context<'_>, keys: &[RowKey]) -> Result<Matches> {
        let mut matches = Matches::new();
        let Some((field, _)) = self.plan.key else { return Ok(matches) };
        let values = keys.iter().filter_map(|key| if let RowKey::Value(value) = key { Some(value) } else { None });
        let values: BTreeMap<String, Value> = values.map(|value| (key(value), value.clone())).collect();
        if values.is_empty() {
            return Ok(matches);
        }
        let test = Test::In { values: values.into_values().collect(), negated: false };
        let condition = visible(context, self.entry).and(Condition::test(Source::own(field), test));
        for row in load_all(context, self.entry, &condition).await? {
            if let Some(value) = stored(&row, field)? {
                let id = row.try_get("", "id")?;
                matches.entry(key(&value)).or_default().push((id, Arc::new(row)));
            }
        }
        Ok(matches)
    }

    /// The record of a row.
    fn matched(
        &self,
        row_key: &RowKey,
        matches: &Matches,
        errors: &mut FieldErrors,
    ) -> Option<(i64, Arc<QueryResult>)> {
        let (RowKey::Value(value), Some((field, _))) = (row_key, self.plan.key) else { return None };
        let label = self.entry.meta.label.to_lowercase();
        match matches.get(&key(value)).map(Vec::as_slice) {
            Some([one]) => Some(one.clone()),
            Some(several) => {
                errors.add(field.name, format!("is that of {} records", several.len()));
                None
            }
            None if field.name == "id" => {
                errors.add("id", format!("No {label} has the id {}.", key(value)));
                None
            }
            None => None,
        }
    }
}
