//! Rollups of one parent over the same children, and the SQL of their values in a row of a child.

use charter_model::expression::{self, Field, Node, Target};
use charter_model::{RollupFunction, takes_rollup};

use crate::catalog::{Catalog, Entry};
use crate::db::Dialect;
use crate::expression::condition;
use crate::meta::{FieldMeta, Kind, ResourceMeta, RollupMeta};

/// The rollups of a resource over the records that refer to it by one field.
pub(super) struct Group {
    pub parent: &'static ResourceMeta,
    pub child: &'static ResourceMeta,
    pub by: &'static str,
    pub rollups: Vec<Rollup>,
}

/// One rollup of a group.
pub(super) struct Rollup {
    pub column: &'static FieldMeta,
    pub function: RollupFunction,
    pub field: Option<&'static FieldMeta>,
    rows: Option<&'static Node>,
}

/// All groups, in the order of the resources.
pub(super) fn groups(catalog: &Catalog) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for parent in catalog.entries().iter().map(|entry| entry.meta) {
        for (column, meta) in of_resource(parent) {
            let child = catalog.linked(meta.of).meta;
            let field = meta.field.and_then(|name| child.fields.iter().find(|field| field.name == name));
            // The start has checked the condition.
            let rows = meta.rows.and_then(|text| condition(text, child).ok());
            let rollup = Rollup { column, function: meta.function, field, rows };
            let is_same = |group: &&mut Group| {
                group.parent.name == parent.name && group.child.name == child.name && group.by == meta.by
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.rollups.push(rollup),
                None => groups.push(Group { parent, child, by: meta.by, rollups: vec![rollup] }),
            }
        }
    }
    groups
}

pub(super) fn of_resource(meta: &'static ResourceMeta) -> impl Iterator<Item = (&'static FieldMeta, RollupMeta)> {
    meta.fields.iter().filter_map(|field| Some((field, field.rollup?)))
}

/// True if a write of the resource can change a value that its own response shows: a rollup over records of the same
/// resource, or a field derived from a rollup.
pub fn is_shown_by(catalog: &Catalog, entry: &Entry) -> bool {
    entry.meta.fields.iter().any(|field| match field.kind {
        Kind::Derived { via, field } => match entry.field(via).map(|via| via.kind) {
            Some(Kind::Ref { resource }) => {
                catalog.linked(resource).field(field).is_some_and(|shown| shown.rollup.is_some())
            }
            _ => false,
        },
        _ => field.rollup.is_some_and(|rollup| rollup.of == entry.meta.name),
    })
}

/// The problems of the rollups of a resource that is written in Rust. Codegen checks those in YAML.
pub fn check(catalog: &Catalog, meta: &'static ResourceMeta) -> Vec<String> {
    let problem = |(column, rollup): (&'static FieldMeta, RollupMeta)| {
        let problem = invalid(catalog, meta, column, rollup)?;
        Some(format!("the rollup {}.{}: {problem}", meta.name, column.name))
    };
    of_resource(meta).filter_map(problem).collect()
}

fn invalid(
    catalog: &Catalog,
    meta: &'static ResourceMeta,
    column: &'static FieldMeta,
    rollup: RollupMeta,
) -> Option<String> {
    let Ok(child) = catalog.get(rollup.of) else { return Some(format!("there is no resource `{}`", rollup.of)) };
    let refers = |field: &FieldMeta| matches!(field.kind, Kind::Ref { resource } if resource == meta.name);
    if !child.field(rollup.by).is_some_and(refers) {
        return Some(format!("`{}.{}` does not refer to `{}`", rollup.of, rollup.by, meta.name));
    }
    let field = match rollup.field.map(|name| (name, child.field(name))) {
        Some((name, None)) => return Some(format!("`{}` has no field `{name}`", rollup.of)),
        Some((_, field)) => field,
        None => None,
    };
    if !takes_rollup(&column.kind, rollup.function, field.map(|field| &field.kind)) {
        return Some("its type does not fit".to_owned());
    }
    if column.nullable != rollup.function.is_extreme() {
        return Some("a count and a sum are never null, a smallest and a largest value can be".to_owned());
    }
    if field.is_some_and(|field| field.rollup.is_some()) {
        return Some("it reads a rollup".to_owned());
    }
    match condition(rollup.rows?, child.meta) {
        Err(mistake) => Some(mistake.message),
        Ok(node) if !node.is_constant() => Some("its condition depends on the request".to_owned()),
        Ok(node) => {
            let is_rollup = |name: &&str| child.field(name).is_some_and(|field| field.rollup.is_some());
            node.fields().into_iter().find(is_rollup).map(|name| format!("its condition reads the rollup `{name}`"))
        }
    }
}

impl Group {
    /// The text of which the names of the triggers have a hash.
    pub(super) fn text(&self, dialect: Dialect) -> String {
        let mut text = format!("{}.{}.{}", self.parent.table, self.child.table, self.by);
        for rollup in &self.rollups {
            let value = rollup.value(self.child, "r", dialect);
            let range = rollup.range().unwrap_or_default();
            text.push_str(&format!("; {} {:?} {value} {range}", rollup.column.name, rollup.function));
        }
        text
    }
}

impl Rollup {
    /// True for a smallest or a largest value, which is computed again when it goes.
    pub(super) fn is_extreme(&self) -> bool {
        self.function.is_extreme()
    }

    /// `MIN` or `MAX`, or `SUM` for a count too.
    pub(super) fn aggregate(&self) -> &'static str {
        match self.function {
            RollupFunction::Count | RollupFunction::Sum => "SUM",
            RollupFunction::Min => "MIN",
            RollupFunction::Max => "MAX",
        }
    }

    /// The value of a row `alias` of the child: a number to add, or a value that can be the smallest or largest one.
    pub(super) fn value(&self, child: &ResourceMeta, alias: &str, dialect: Dialect) -> String {
        let field = self.field.map(|field| format!("{alias}.\"{}\"", field.name));
        let value = match (self.function, field) {
            (RollupFunction::Sum, Some(field)) => format!("COALESCE({field}, 0)"),
            (_, Some(field)) => field,
            (_, None) => "1".to_owned(),
        };
        let otherwise = if self.is_extreme() { "NULL" } else { "0" };
        match self.condition(child, alias, dialect) {
            Some(condition) => format!("CASE WHEN {condition} THEN {value} ELSE {otherwise} END"),
            None => value,
        }
    }

    /// The condition of the rows that count; none if all do.
    pub(super) fn condition(&self, child: &ResourceMeta, alias: &str, dialect: Dialect) -> Option<String> {
        let mut conditions = Vec::new();
        if let Some(node) = self.rows {
            let mut row = Row { alias, sql: String::new() };
            expression::write_sql(node, dialect.into(), &mut row);
            conditions.push(format!("({})", row.sql));
        }
        if child.soft_delete {
            conditions.push(format!("{alias}.\"deleted_at\" IS NULL"));
        }
        (!conditions.is_empty()).then(|| conditions.join(" AND "))
    }

    /// The largest number that SQLite's column may have, in its unit; none if no sum can leave the range. PostgreSQL refuses a
    /// number that is too large for its column.
    pub(super) fn range(&self) -> Option<i64> {
        match (self.function, self.column.kind, self.field.map(|field| field.kind)) {
            (RollupFunction::Sum, Kind::Decimal { precision, .. }, _) => Some(10_i64.pow(precision.into()) - 1),
            (RollupFunction::Sum, _, Some(Kind::BigInt)) => Some(i64::MAX),
            _ => None,
        }
    }
}

/// SQL over a row of one table.
struct Row<'a> {
    alias: &'a str,
    sql: String,
}

impl Target for Row<'_> {
    fn text(&mut self, sql: &str) {
        self.sql.push_str(sql);
    }

    fn field(&mut self, field: &Field) {
        self.sql.push_str(&format!("{}.\"{}\"", self.alias, field.name));
    }

    // The start refuses a condition that depends on the request.
    fn request(&mut self, _: &Node) {
        self.sql.push_str("NULL");
    }

    fn can(&mut self, _: &str) -> bool {
        false
    }
}
