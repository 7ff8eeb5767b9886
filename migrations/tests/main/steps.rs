//! Runs the steps of a plan on a database, with the calls that a generated migration makes.

use charter_codegen::migration::table::{Column as Declared, Index, IndexKind};
use charter_codegen::migration::{Plan, Step, Value};
use charter_migrations::UniqueIndex;
use charter_migrations::column::Literal;
use charter_migrations::prelude::*;
use charter_model::Storage;

/// Applies a plan, like its two migrations.
pub async fn up(manager: &SchemaManager<'_>, plan: &Plan) -> Result<(), DbErr> {
    run(manager, plan.whole.clone(), false).await?;
    online(manager, plan).await
}

/// Applies the online migration of a plan.
pub async fn online(manager: &SchemaManager<'_>, plan: &Plan) -> Result<(), DbErr> {
    run(manager, plan.online.clone(), true).await
}

/// Undoes a plan.
pub async fn down(manager: &SchemaManager<'_>, plan: &Plan) -> Result<(), DbErr> {
    run(manager, Plan::undo(&plan.online), true).await?;
    run(manager, Plan::undo(&plan.whole), false).await
}

/// Runs one migration, in a transaction unless it is online.
async fn run(manager: &SchemaManager<'_>, steps: Vec<Step>, online: bool) -> Result<(), DbErr> {
    let migration = Transactional(Steps { name: "steps", steps, online });
    if online {
        return migration.up(manager).await;
    }
    let transaction = manager.begin().await?;
    migration.up(&transaction).await?;
    transaction.commit().await
}

/// Steps as an element of a list of migrations.
pub fn migration(name: &'static str, steps: Vec<Step>, online: bool) -> Box<dyn MigrationTrait> {
    Transactional::boxed(Steps { name, steps, online })
}

/// The migration that is generated for the steps.
struct Steps {
    name: &'static str,
    steps: Vec<Step>,
    online: bool,
}

impl MigrationName for Steps {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Steps {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        run_all(manager, &self.steps, self.online).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        run_all(manager, &Plan::undo(&self.steps), self.online).await
    }

    fn use_transaction(&self) -> Option<bool> {
        self.online.then_some(false)
    }
}

async fn run_all(manager: &SchemaManager<'_>, steps: &[Step], online: bool) -> Result<(), DbErr> {
    for step in steps {
        let table = step.table();
        let table = if online { Table::online(manager, table) } else { Table::on(manager, table) };
        run_one(&table, step).await.inspect_err(|problem| eprintln!("{step:?}: {problem}"))?;
    }
    Ok(())
}

async fn run_one(table: &Table<'_>, step: &Step) -> Result<(), DbErr> {
    match step {
        Step::Create(new) => table.create(new.columns.iter().map(column)).await,
        Step::Drop(_) => table.drop().await,
        Step::RenameTable { to, .. } => table.rename(to).await,
        Step::RenameColumn { from, to, .. } => table.rename_column(from, to).await,
        Step::RenameIndex { from, to, .. } => table.rename_index(from, to).await,
        Step::Add { column: new, .. } => table.add(column(new)).await,
        Step::Remove { column, .. } => table.remove(&column.name).await,
        Step::Change { from, to, .. } => table.change(column(from), column(to)).await,
        Step::Fill { column: to, value: Value::Literal(value), .. } => table.fill(column(to), literal(to, value)).await,
        Step::Fill { column: to, value: Value::Now, .. } => table.fill_now(column(to)).await,
        Step::Compute { column, sqlite, postgres, .. } => table.compute(column, sqlite, postgres).await,
        Step::Require { column: to, .. } => table.require(column(to)).await,
        Step::CheckUnique { index, .. } => with_set(index, async |set| table.check_unique(set).await).await,
        Step::AddIndex { index, .. } => add_index(table, index).await,
        Step::DropIndex { table: name, index } => table.drop_index(&index.name(name)).await,
        Step::Verify { rule, sqlite, postgres, .. } => table.verify(rule, sqlite, postgres).await,
    }
}

/// Calls a function with the unique set of an index.
async fn with_set(
    index: &Index,
    function: impl AsyncFnOnce(UniqueIndex<'_>) -> Result<(), DbErr>,
) -> Result<(), DbErr> {
    let columns: Vec<&str> = index.columns.iter().map(String::as_str).collect();
    let folded: Vec<&str> = index.folded.iter().map(String::as_str).collect();
    let all = set(&columns).ignore_case(&folded);
    let all = index.rows.as_ref().map_or(all, |rows| all.rows(&rows.sqlite, &rows.postgres));
    function(if index.live { all.live() } else { all }).await
}

async fn add_index(table: &Table<'_>, index: &Index) -> Result<(), DbErr> {
    let columns: Vec<&str> = index.columns.iter().map(String::as_str).collect();
    if !index.folded.is_empty() || index.rows.is_some() {
        return with_set(index, async |set| table.unique_set(set).await).await;
    }
    match (index.kind, index.live) {
        (IndexKind::Plain, false) => table.index(&columns).await,
        (IndexKind::Plain, true) => table.index_live(&columns).await,
        (IndexKind::Unique, false) => table.unique(&columns).await,
        (IndexKind::Unique, true) => table.unique_live(&columns).await,
        (IndexKind::Order { text, nullable }, live) => {
            let order = by(columns[0]);
            let order = if text { order.text() } else { order };
            let order = if nullable { order.nullable() } else { order };
            table.order(if live { order.live() } else { order }).await
        }
        (IndexKind::Search, _) => table.search(columns[0]).await,
    }
}

fn column(declared: &Declared) -> Column {
    let name = declared.name.as_str();
    let mut built = match (&declared.storage, &declared.reference) {
        (_, Some(to)) if to.cascade => reference(name, &to.table).cascade(),
        (_, Some(to)) => reference(name, &to.table),
        (Storage::Id, _) => id(),
        (Storage::SingletonId, _) => singleton_id(),
        (Storage::String(max), _) => string(name, *max),
        (Storage::Text, _) => text(name),
        (Storage::Word, _) => enumeration(name),
        (Storage::Integer, _) => integer(name),
        (Storage::BigInt, _) => bigint(name),
        (Storage::Boolean, _) => boolean(name),
        (Storage::Decimal(precision, places), _) => decimal(name, (*precision).into(), (*places).into()),
        (Storage::Timestamp, _) => timestamp(name),
        (Storage::Date, _) => date(name),
        (Storage::Time, _) => time(name),
        (Storage::Uuid, _) => uuid(name),
        (Storage::Json, _) => json(name),
        (Storage::List, _) => list(name),
    };
    if declared.nullable {
        built = built.nullable();
    }
    match &declared.default {
        Some(default) => built.default(literal(declared, default)),
        None => built,
    }
}

fn literal(column: &Declared, value: &str) -> Literal {
    match column.storage {
        Storage::Boolean => Literal::Boolean(value == "true"),
        Storage::Integer | Storage::BigInt => Literal::Integer(value.parse().unwrap()),
        _ => Literal::Text(value.to_owned()),
    }
}
