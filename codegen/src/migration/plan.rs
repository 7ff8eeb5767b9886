//! Plan of a migration: the steps between two snapshots, in an order in which each can run.

use std::collections::BTreeSet;

use charter_model::Storage;

use super::backfill::{fill, value};
use super::computed::{self, Initial};
use super::existing_rows;
use super::renamed::in_turn;
use super::step::Step;
use super::table::{Column, Index, IndexKind, Table};
use super::unsupported::{self, Unsupported};
use crate::schema_diff::{Pair, can_be_filled, fields, followed, is_convertible, resources};
use crate::snapshot::{Field, Resource, Snapshot};

/// The steps of a migration.
#[derive(Debug, Default)]
pub struct Plan {
    /// Steps in one transaction.
    pub whole: Vec<Step>,
    /// Steps that run while a server writes, each alone and repeatable.
    pub online: Vec<Step>,
    /// Data that is lost, in sentences.
    pub lost: Vec<String>,
    /// Changes that cannot be migrated as declared.
    pub unsupported: Vec<Unsupported>,
}

impl Plan {
    /// The plan from one snapshot to the next.
    pub fn between(before: &Snapshot, after: &Snapshot) -> Plan {
        let mut planner = Planner { unsupported: super::renamed::unsupported(before, after), ..Planner::default() };
        // The tables are the existing ones; references to them use the later names.
        let followed = followed(before, after);
        let mut dropped = Vec::new();
        let mut created = Vec::new();
        for pair in resources(&followed, after) {
            let (then, now) = tables(before, after, &pair);
            match (then, now) {
                (Some(then), Some(now)) if has_same_key(&then, &now) => planner.alter(&pair, &then, &now),
                (then, now) => {
                    if let (Some(table), Some(resource)) = (&then, pair.before) {
                        let lost = format!("{}: the table `{}` and all its rows", resource.name, table.name);
                        planner.lost.push(lost);
                    }
                    dropped.extend(then);
                    created.extend(now);
                }
            }
        }
        planner.drop_all(dropped);
        planner.create_all(created);
        planner.finish()
    }

    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.online.is_empty()
    }

    /// True if a server needs any step to serve the YAML. An index that is not unique only makes it faster, and a verification
    /// only reads.
    pub fn is_awaited(&self) -> bool {
        let only_finds = |step: &Step| match step {
            Step::AddIndex { index, .. } | Step::DropIndex { index, .. } => index.kind != IndexKind::Unique,
            Step::Verify { .. } => true,
            _ => false,
        };
        !self.unsupported.is_empty() || !self.whole.iter().chain(&self.online).all(only_finds)
    }

    /// The steps, one line each.
    pub fn lines(&self) -> Vec<String> {
        [super::rust::lines(&self.whole), super::rust::lines(&self.online)].concat()
    }

    /// The verifications of existing rows, in sentences.
    pub fn verifications(&self) -> Vec<String> {
        self.whole.iter().chain(&self.online).filter_map(existing_rows::described).collect()
    }

    /// The steps that undo others. The indexes of a created table are dropped with it.
    pub fn undo(steps: &[Step]) -> Vec<Step> {
        let made = |step: &Step| match step {
            Step::AddIndex { table, .. } => {
                steps.iter().any(|step| matches!(step, Step::Create(made) if made.name == *table))
            }
            _ => false,
        };
        steps.iter().rev().filter(|step| !made(step)).flat_map(Step::undo).collect()
    }
}

fn tables(before: &Snapshot, after: &Snapshot, pair: &Pair<'_, Resource>) -> (Option<Table>, Option<Table>) {
    let then = pair.before.and_then(|resource| before.resources.get(&resource.name));
    (then.map(|resource| Table::of(before, resource)), pair.after.map(|resource| Table::of(after, resource)))
}

/// True if a table stays: a singleton has another primary key.
fn has_same_key(then: &Table, now: &Table) -> bool {
    let key = |table: &Table| table.column("id").map(|column| column.storage);
    key(then) == key(now)
}

/// The steps by stage.
#[derive(Default)]
struct Planner {
    dropped_indexes: Vec<Step>,
    released: Vec<Step>,
    removed: Vec<Step>,
    dropped: Vec<Step>,
    /// Each with its name and place.
    renamed_tables: Vec<(Step, Unsupported)>,
    renamed_columns: Vec<(Step, Unsupported)>,
    renamed_indexes: Vec<(Step, Unsupported)>,
    created: Vec<Step>,
    added: Vec<Step>,
    changed: Vec<Step>,
    /// References between new tables that refer to each other.
    closed: Vec<Step>,
    /// Unique indexes of a resource that no longer is soft-deleted. Restored rows may violate them, so they are created
    /// while the marks exist.
    kept_apart: Vec<Step>,
    unmarked: Vec<Step>,
    filled: Vec<Step>,
    computed: Vec<Step>,
    /// Defaults of the columns of the table that is planned.
    defaults: Vec<Initial>,
    required: Vec<Step>,
    referred: Vec<Step>,
    indexed: Vec<Step>,
    /// Indexes that serve until the others of their table exist.
    replaced_indexes: Vec<Step>,
    /// Verifications before any other step, and after all.
    stopping: Vec<Step>,
    warning: Vec<Step>,
    lost: Vec<String>,
    unsupported: Vec<Unsupported>,
}

impl Planner {
    fn finish(self) -> Plan {
        let mut unsupported = self.unsupported;
        let renamed_tables = in_turn(self.renamed_tables, &mut unsupported);
        let renamed_columns = in_turn(self.renamed_columns, &mut unsupported);
        let renamed_indexes = in_turn(self.renamed_indexes, &mut unsupported);
        let mut whole = [
            self.dropped_indexes,
            self.released,
            self.removed,
            self.dropped,
            renamed_tables,
            renamed_columns,
            renamed_indexes,
            self.created,
            self.added,
            self.changed,
            self.closed,
            self.kept_apart,
            self.unmarked,
        ]
        .concat();
        let indexed = [self.indexed, self.replaced_indexes, self.warning].concat();
        let mut online = [self.filled, self.computed, self.required, self.referred, indexed].concat();
        let first = if whole.is_empty() { &mut online } else { &mut whole };
        first.splice(..0, self.stopping);
        Plan { whole, online, lost: self.lost, unsupported }
    }

    /// Plans the changes of a table that exists in both snapshots.
    fn alter(&mut self, pair: &Pair<'_, Resource>, then: &Table, now: &Table) {
        let (Some(before), Some(after)) = (pair.before, pair.after) else { return };
        let mut gone: BTreeSet<String> = BTreeSet::new();
        let mut names: Vec<(String, String)> = Vec::new();
        for pair in fields(&before.fields, &after.fields) {
            let old = pair.before.and_then(|field| Some((field, then.column(&field.name)?)));
            let new = pair.after.and_then(|field| Some((field, now.column(&field.name)?)));
            match (old, new) {
                (Some((old, from)), Some((new, to))) if is_convertible(old, new) => {
                    names.push((from.name.clone(), to.name.clone()));
                    self.keep(after, (then, now), (from, to), new);
                }
                (old, new) => {
                    let was = old.map(|(field, _)| field);
                    if let Some((_, column)) = old {
                        gone.insert(column.name.clone());
                        let place = format!("{}.{}", before.name, column.name);
                        let why = was.zip(new).map(|(was, (is, _))| format!(": {}", unsupported::no_way(was, is)));
                        let remove = |table: &Table| Step::Remove { table: table.name.clone(), column: column.clone() };
                        let what = if is_mark(column) {
                            self.unmarked.push(remove(now));
                            "the deletion marks; deleted records reappear".to_owned()
                        } else {
                            self.removed.push(remove(then));
                            format!("the column `{}` and its values{}", column.name, why.unwrap_or_default())
                        };
                        self.lost.push(format!("{place}: {what}"));
                    }
                    if let Some((field, column)) = new {
                        self.add(after, now, (field, column), was);
                    }
                }
            }
        }
        if then.name != now.name {
            // Columns that no longer refer are released before.
            let refers = |(from, to): &&(String, String)| then.references(from) && now.references(to);
            let referring = names.iter().filter(refers).map(|(from, _)| from.clone()).collect();
            let (from, to, singleton) = (then.name.clone(), now.name.clone(), after.singleton);
            let step = Step::RenameTable { from, to, singleton, referring };
            self.renamed_tables.push((step, Unsupported::of_resource(after, &after.name)));
        }
        self.computed.extend(computed::defaults(now, std::mem::take(&mut self.defaults)));
        self.computed.extend(computed::steps((before, after), (then, now), &names));
        self.indexes(after, (then, now), &gone, &names);
        self.warning.extend(existing_rows::verified((before, after), &now.name));
    }

    /// Plans a column that keeps its values, perhaps under another name or type.
    fn keep(&mut self, resource: &Resource, tables: (&Table, &Table), columns: (&Column, &Column), field: &Field) {
        let ((then, now), (from, to)) = (tables, columns);
        let table = || now.name.clone();
        if from.name != to.name {
            let refers = from.reference.is_some() && to.reference.is_some();
            let (from, to) = (from.name.clone(), to.name.clone());
            let step = Step::RenameColumn { table: table(), from, to, refers };
            let called = format!("{}.{}", resource.name, field.name);
            self.renamed_columns.push((step, Unsupported::of_field(field, called)));
        }
        // A reference follows a renamed table; one to another table is a new column.
        let mut state = Column { name: to.name.clone(), ..from.clone() };
        if let (Some(old), Some(new)) = (&mut state.reference, &to.reference) {
            old.table.clone_from(&new.table);
        }
        if state.reference.is_some() && to.reference.is_none() {
            // The first step, because the target may be dropped.
            self.released.push(Step::Change { table: then.name.clone(), from: from.clone(), to: from.released() });
            state = state.released();
        }
        let tightens = state.nullable && !to.nullable;
        // A new or changed foreign key is validated online, without blocking writers.
        let refers = to.reference.is_some() && state.reference != to.reference;
        let earlier = if refers { state.reference.clone() } else { to.reference.clone() };
        let mut reached = Column { nullable: to.nullable || tightens, reference: earlier.clone(), ..to.clone() };
        if state != reached {
            self.changed.push(Step::Change { table: table(), from: state, to: reached.clone() });
        }
        if tightens {
            match fill(field, to) {
                _ if field.value.is_some() => {}
                Some(value) => self.filled.push(Step::Fill { table: table(), column: reached.clone(), value }),
                None if field.initial.is_some() => self.defaults.extend(Initial::of_missing(field)),
                // The migration counts the rows without a value itself. One record rarely fits all references.
                None if !can_be_filled(field) || to.reference.is_some() => {}
                None => self.unsupported.push(unsupported::still_null(resource, field)),
            }
            let required = Column { reference: earlier, ..to.clone() };
            self.required.push(Step::Require { table: table(), column: required.clone() });
            reached = required;
        }
        if refers {
            self.referred.push(Step::Change { table: table(), from: reached, to: to.clone() });
        }
    }

    /// Plans a new column in a table that may have rows, perhaps in place of one whose values cannot stay.
    fn add(&mut self, resource: &Resource, now: &Table, new: (&Field, &Column), was: Option<&Field>) {
        let ((field, column), table) = (new, || now.name.clone());
        let initial = Initial::of_new(field).filter(|_| field.backfill.is_none());
        if field.value.is_some() || initial.is_some() {
            self.added.push(Step::Add { table: table(), column: column.nullable() });
            self.defaults.extend(initial);
            if !column.nullable {
                self.required.push(Step::Require { table: table(), column: column.clone() });
            }
            return;
        }
        let Some(value) = field.backfill.as_ref().and_then(value) else {
            match column.fills_itself() {
                true => self.added.push(Step::Add { table: table(), column: column.clone() }),
                false => self.unsupported.push(unsupported::no_value(resource, field, was)),
            }
            return;
        };
        // Without its default, which would be the value of all existing rows.
        let bare = Column { default: None, ..column.nullable() };
        self.added.push(Step::Add { table: table(), column: bare.clone() });
        if column.default.is_some() {
            self.changed.push(Step::Change { table: table(), from: bare, to: column.nullable() });
        }
        self.filled.push(Step::Fill { table: table(), column: column.nullable(), value });
        if !column.nullable {
            self.required.push(Step::Require { table: table(), column: column.clone() });
        }
    }

    /// Plans the indexes of a table that stays. Those over the same columns are renamed with them.
    fn indexes(
        &mut self,
        resource: &Resource,
        (then, now): (&Table, &Table),
        gone: &BTreeSet<String>,
        names: &[(String, String)],
    ) {
        let renamed = |index: &Index| {
            let name = |column: &String| names.iter().find(|(from, _)| from == column).map(|(_, to)| to.clone());
            let columns: Option<Vec<String>> = index.columns.iter().map(name).collect();
            columns.map(|columns| Index { columns, ..index.clone() })
        };
        let mut unchanged: Vec<Index> = Vec::new();
        for index in &then.indexes {
            let stays = renamed(index).filter(|index| now.indexes.contains(index));
            let Some(stays) = stays.filter(|_| index.columns.iter().all(|column| !gone.contains(column))) else {
                let step = Step::DropIndex { table: then.name.clone(), index: index.clone() };
                match index.is_replaced(then, now) {
                    true => self.replaced_indexes.push(step),
                    false => self.dropped_indexes.push(step),
                }
                continue;
            };
            let (from, to) = (index.name(&then.name), stays.name(&now.name));
            if from != to {
                let called = Unsupported::of_resource(resource, &from);
                let step = Step::RenameIndex { table: now.name.clone(), index: stays.clone(), from, to };
                self.renamed_indexes.push((step, called));
            }
            unchanged.push(stays);
        }
        let unmarked = then.columns.iter().any(|column| is_mark(column) && gone.contains(&column.name));
        for index in now.indexes.iter().filter(|index| !unchanged.contains(index)) {
            let stage = match unmarked && index.kind == IndexKind::Unique {
                true => &mut self.kept_apart,
                false => &mut self.indexed,
            };
            stage.push(Step::AddIndex { table: now.name.clone(), index: index.clone() });
            self.stopping.extend(existing_rows::unrepeated(resource, (then, now), index, names));
        }
    }

    /// Drops tables, referring ones first.
    fn drop_all(&mut self, mut tables: Vec<Table>) {
        while !tables.is_empty() {
            let is_free = |at: &usize| {
                let others = tables.iter().enumerate().filter(|(other, _)| other != at);
                !others.into_iter().any(|(_, other)| other.refers_to(&tables[*at].name))
            };
            let free = (0..tables.len()).find(is_free);
            let table = tables.remove(free.unwrap_or(0));
            if free.is_none() {
                // A cycle of references is broken here.
                for other in &mut tables {
                    let name = other.name.clone();
                    for column in other.columns.iter_mut().filter(|column| column.refers_to(&table.name)) {
                        let released = column.released();
                        let step = Step::Change { table: name.clone(), from: column.clone(), to: released.clone() };
                        self.released.push(step);
                        *column = released;
                    }
                }
            }
            self.dropped.push(Step::Drop(table));
        }
    }

    /// Creates tables, referenced ones first.
    fn create_all(&mut self, mut tables: Vec<Table>) {
        while !tables.is_empty() {
            let is_free = |at: &usize| {
                let others = tables.iter().enumerate().filter(|(other, _)| other != at);
                !others.into_iter().any(|(_, other)| tables[*at].refers_to(&other.name))
            };
            let free = (0..tables.len()).find(is_free);
            let mut table = tables.remove(free.unwrap_or(0));
            if free.is_none() {
                for column in &mut table.columns {
                    if tables.iter().any(|other| column.refers_to(&other.name)) {
                        let (from, to) = (column.released(), column.clone());
                        column.reference = None;
                        self.closed.push(Step::Change { table: table.name.clone(), from, to });
                    }
                }
            }
            self.created.extend(super::step::recreate(table));
        }
    }
}

/// True if a column is the deletion mark.
fn is_mark(column: &Column) -> bool {
    column.name == "deleted_at" && column.storage == Storage::Timestamp
}
