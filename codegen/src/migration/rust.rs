//! Migration file: steps as calls of `charter_migrations::Table`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use charter_model::{TypeFacts, reserved};

use super::plan::Plan;
use super::step::{Step, Value};
use super::storage;
use super::table::{Column, Index, IndexKind, Table};

/// The text of a migration file.
///
/// `online`: for a database in use, without a transaction around all steps.
pub fn file(title: &str, steps: &[Step], online: bool) -> String {
    let mut text = format!("//! {title}\n");
    if online {
        text.push_str(
            "//!\n//! Online migration: the server keeps serving. No transaction spans the steps, and each step can be repeated.\n",
        );
    }
    text.push_str("\nuse charter_migrations::prelude::*;\n\n#[derive(DeriveMigrationName)]\npub struct Migration;\n\n");
    text.push_str("#[async_trait::async_trait]\nimpl MigrationTrait for Migration {\n");
    text.push_str(&function("up", steps, online));
    text.push('\n');
    text.push_str(&function("down", &Plan::undo(steps), online));
    if online {
        text.push_str("\n    fn use_transaction(&self) -> Option<bool> {\n        Some(false)\n    }\n");
    }
    text.push_str("}\n");
    text
}

/// The text formatted by `rustfmt` with the settings of a folder; unchanged if there is no `rustfmt`.
pub fn formatted(text: &str, folder: &Path) -> String {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024"]).current_dir(folder);
    let child = rustfmt.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let laid_out = child.and_then(|mut child| {
        // It reads all input before it writes.
        child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()))?;
        child.wait_with_output()
    });
    let laid_out = laid_out.ok().filter(|output| output.status.success());
    laid_out.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_else(|| text.to_owned())
}

/// The steps, one line each: `products.add(integer("size").nullable())`.
pub fn lines(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|step| format!("{}.{}", variable(step.table()), call(step))).collect()
}

fn function(name: &str, steps: &[Step], online: bool) -> String {
    let unused = if steps.is_empty() { "_manager" } else { "manager" };
    let mut text = format!("    async fn {name}(&self, {unused}: &SchemaManager) -> Result<(), DbErr> {{\n");
    let mut known: BTreeSet<String> = BTreeSet::new();
    for step in steps {
        let table = step.table();
        let variable = variable(table);
        if known.insert(table.to_owned()) {
            let open = if online { "online" } else { "on" };
            text.push_str(&format!("        let {variable} = Table::{open}(manager, {table:?});\n"));
        }
        text.push_str(&format!("        {variable}.{}.await?;\n", call(step)));
    }
    text.push_str("        Ok(())\n    }\n");
    text
}

/// Names of the migrations' prelude and parameter, which a variable of a table must not shadow, besides the builders of
/// the storage types.
const RESERVED_VARIABLES: &[&str] =
    &["by", "custom_fields", "decimal", "id", "manager", "reference", "set", "singleton_id", "string"];

/// True for the function that builds the column of a type.
fn is_builder(word: &str) -> bool {
    TypeFacts::COLUMNS.iter().filter_map(|facts| facts.storage).any(|storage| storage.facts().builder == word)
}

/// The name of the table's variable.
fn variable(table: &str) -> String {
    // A table with this suffix gets another, so that two variables differ.
    let is_function = RESERVED_VARIABLES.contains(&table) || is_builder(table);
    match reserved::is_keyword(table) || is_function || table.ends_with("_table") {
        true => format!("{table}_table"),
        false => table.to_owned(),
    }
}

fn call(step: &Step) -> String {
    match step {
        Step::Create(table) => create(table),
        Step::Drop(_) => "drop()".to_owned(),
        Step::RenameTable { to, .. } => format!("rename({to:?})"),
        Step::RenameColumn { from, to, .. } => format!("rename_column({from:?}, {to:?})"),
        Step::RenameIndex { from, to, .. } => format!("rename_index({from:?}, {to:?})"),
        Step::Add { column, .. } => format!("add({})", builder(column)),
        Step::Remove { column, .. } => format!("remove({:?})", column.name),
        Step::Change { from, to, .. } => format!("change({}, {})", builder(from), builder(to)),
        Step::Fill { column, value: Value::Literal(value), .. } => {
            format!("fill({}, {})", builder(column), literal(column, value))
        }
        Step::Fill { column, value: Value::Now, .. } => format!("fill_now({})", builder(column)),
        Step::Compute { column, sqlite, postgres, .. } => format!("compute({column:?}, {sqlite:?}, {postgres:?})"),
        Step::Require { column, .. } => format!("require({})", builder(column)),
        Step::CheckUnique { index, .. } => format!("check_unique({})", unique_set(index)),
        Step::AddIndex { index, .. } => add_index(index),
        Step::DropIndex { table, index } => format!("drop_index({:?})", index.name(table)),
        Step::Verify { rule, sqlite, postgres, .. } => format!("verify({rule:?}, {sqlite:?}, {postgres:?})"),
    }
}

fn create(table: &Table) -> String {
    let columns: Vec<String> = table.columns.iter().map(builder).collect();
    format!("create([{}])", columns.join(", "))
}

/// `"a", "b"`
fn quoted(columns: &[String]) -> String {
    columns.iter().map(|column| format!("{column:?}")).collect::<Vec<_>>().join(", ")
}

/// `set(&["a", "b"]).live()`
fn unique_set(index: &Index) -> String {
    let folded = (!index.folded.is_empty()).then(|| format!(".ignore_case(&[{}])", quoted(&index.folded)));
    let rows = index.rows.as_ref().map(|rows| format!(".rows({:?}, {:?})", rows.sqlite, rows.postgres));
    let live = index.live.then(|| ".live()".to_owned());
    let parts: String = [folded, rows, live].into_iter().flatten().collect();
    format!("set(&[{}]){parts}", quoted(&index.columns))
}

fn add_index(index: &Index) -> String {
    let columns = || quoted(&index.columns);
    if !index.folded.is_empty() || index.rows.is_some() {
        return format!("unique_set({})", unique_set(index));
    }
    match (index.kind, index.live) {
        (IndexKind::Plain, false) => format!("index(&[{}])", columns()),
        (IndexKind::Plain, true) => format!("index_live(&[{}])", columns()),
        (IndexKind::Unique, false) => format!("unique(&[{}])", columns()),
        (IndexKind::Unique, true) => format!("unique_live(&[{}])", columns()),
        (IndexKind::Order { text, nullable }, live) => {
            let flags = [(text, ".text()"), (nullable, ".nullable()"), (live, ".live()")];
            let flags: String = flags.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect();
            format!("order(by({}){flags})", columns())
        }
        (IndexKind::Search, _) => format!("search({})", columns()),
    }
}

/// The call that builds a column.
fn builder(column: &Column) -> String {
    let name = &column.name;
    let mut text = match (&column.storage, &column.reference) {
        (_, Some(reference)) => {
            let cascade = if reference.cascade { ".cascade()" } else { "" };
            format!("reference({name:?}, {:?}){cascade}", reference.table)
        }
        (storage, None) => storage::builder(*storage, name),
    };
    if column.nullable {
        text.push_str(".nullable()");
    }
    if let Some(default) = &column.default {
        text.push_str(&format!(".default({})", literal(column, default)));
    }
    text
}

/// A literal as an argument of a builder.
fn literal(column: &Column, value: &str) -> String {
    match storage::is_bare(column.storage, value) {
        true => value.to_owned(),
        false => format!("{value:?}"),
    }
}
