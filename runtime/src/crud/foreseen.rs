//! A changed record as it will be shown, made of the row that was found and of the values that change: where no other row
//! has to be looked at for it.

use rust_decimal::Decimal;
use sea_orm::{QueryResult, Value};

use super::changes::Changes;
use super::show::Read;
use super::store;
use crate::catalog::{Entry, Source};
use crate::error::Result;
use crate::meta::{FieldMeta, Kind, ResourceMeta, Rule};
use crate::record::{Cell, Column, RECORD, Shape, write_loose, write_value};

/// What is shown of a record and is no column of it as it is: what follows from a reference, the label of a code. The SQL
/// of it is that of PostgreSQL.
#[derive(Debug)]
pub struct Beside {
    /// What a row is read with beside its columns: its version, where that stands, what is beside it in one text, and each of it.
    pub columns: String,
    pub sources: Vec<Source>,
    now: Option<String>,
    /// How many columns of its own a row has, which are before all that.
    own: usize,
    pieces: Vec<Piece>,
}

/// A column of the shape that is shown, and where its value is.
#[derive(Debug)]
struct Piece {
    column: usize,
    /// In the row.
    position: usize,
    /// Among the fields, where it is that column as it is.
    field: Option<usize>,
}

impl Beside {
    /// Of a single record's shape.
    pub fn of(meta: &'static ResourceMeta, shape: &Shape) -> Beside {
        let sources: Vec<Source> = beside(shape).map(|column| column.source.clone()).collect();
        let written = |source: &Source| {
            let mut text = String::new();
            source.write(&mut text, RECORD);
            text
        };
        let values: Vec<String> = sources.iter().map(written).collect();
        let row = format!("ROW({})::text", values.join(", "));
        let mut columns = format!(", t.\"xmin\"::text AS \"xmin\", t.\"ctid\"::text AS \"ctid\", {row} AS \"beside\"");
        for (index, value) in values.iter().enumerate() {
            columns.push_str(&format!(", {value} AS \"beside_{index}\""));
        }
        let (mut joins, mut joined) = (String::new(), Vec::new());
        sources.iter().for_each(|source| source.write_join(&mut joins, RECORD, &mut joined));
        let now = (!joins.is_empty()).then(|| format!("(SELECT {row} FROM (SELECT) AS o{joins})"));
        let stored = |fields: &[FieldMeta]| fields.iter().filter(|field| field.is_column()).count();
        let own = stored(meta.fields);
        // Behind the version, its place and the one text.
        let mut next = own + 3;
        let mut pieces = Vec::new();
        for (column, shown) in shape.columns.iter().enumerate().filter(|(_, column)| !column.hidden) {
            let field =
                meta.fields.iter().position(|field| field.name == shown.name && shown.source.is_own(field.name));
            let position = match field {
                Some(field) => stored(&meta.fields[..field]),
                None => {
                    next += 1;
                    next - 1
                }
            };
            pieces.push(Piece { column, position, field });
        }
        Beside { columns, sources, now, own, pieces }
    }

    /// What is beside the row `t` by now, in the one text of [`Beside::columns`]; nothing where all of that follows from the
    /// row.
    pub fn now(&self) -> Option<&str> {
        self.now.as_deref()
    }
}

fn beside(shape: &Shape) -> impl Iterator<Item = &Column> {
    shape.columns.iter().filter(|column| !column.hidden && !column.source.is_own(column.name))
}

/// What was beside a row that was read with [`Beside::columns`], in one text; nothing where all of that follows from the row.
pub fn beside_of(entry: &Entry, found: &QueryResult) -> Result<Option<String>> {
    match entry.beside.now() {
        None => Ok(None),
        Some(_) => Ok(found.try_get_by_index(entry.beside.own + 2)?),
    }
}

/// The record with its changes, of a row that was read with [`Beside::columns`]; `None` where it takes more to know it, or
/// to know whether it may be so.
pub fn foresee(entry: &Entry, changes: &Changes) -> Result<Option<Read>> {
    let Some(found) = &changes.before else { return Ok(None) };
    let changed = |name: &str| changes.get(name).is_some();
    let followed = |column: &Column| changed(column.source.column) && column.source.join.is_none();
    if !changes.iter().all(|(field, _)| is_simple(field))
        || changes.meta.unique.iter().flat_map(|set| set.iter()).any(|name| changed(name))
        || beside(&entry.single).any(followed)
    {
        return Ok(None);
    }
    let mut record = Vec::with_capacity(1024);
    for Piece { column, position, field } in &entry.beside.pieces {
        let column = &entry.single.columns[*column];
        record.push(if record.is_empty() { b'{' } else { b',' });
        record.extend_from_slice(column.key.as_bytes());
        match field.and_then(|field| changes.at(field)) {
            Some(value) => {
                let value = positive(store::storable(column.source.field, value)?);
                write_loose(&mut record, column.source.field, &value);
            }
            None => write_value(&mut record, column, Cell::new(&**found, *position)?)?,
        }
    }
    record.push(b'}');
    Ok(Some(Read::whole(record)))
}

/// Whether a value is shown as it is given, and nothing else is asked of it.
fn is_simple(field: &FieldMeta) -> bool {
    let asked = field.rules.iter().any(|rule| matches!(rule, Rule::Unique | Rule::Exists { .. }));
    let plain = match field.kind {
        Kind::String { .. } | Kind::Text | Kind::Enum { .. } | Kind::Boolean | Kind::Decimal { .. } => true,
        Kind::Integer | Kind::BigInt | Kind::Code { .. } | Kind::Timestamp { .. } | Kind::Date | Kind::Uuid => true,
        // PostgreSQL orders what is in JSON, and references lead to other rows.
        _ => false,
    };
    plain && !asked
}

/// There is no negative zero in a table.
fn positive(value: Value) -> Value {
    match value {
        Value::Decimal(Some(zero)) if zero.is_zero() => Decimal::new(0, zero.scale()).into(),
        other => other,
    }
}
