//! Changes to tables that contain rows: names, columns and values.
//!
//! On PostgreSQL, a table opened with [`Table::online`] is changed without blocking writers: rows are updated in batches,
//! constraints are added as `NOT VALID` and validated later, and each step can be repeated.

use std::collections::HashMap;

use sea_orm_migration::SchemaManager;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement, TransactionTrait};
use sea_orm_migration::sea_query::{Alias, Expr, ExprTrait, PostgresQueryBuilder, Query, SqliteQueryBuilder};

use crate::column::{Column, Literal};
use crate::lock_retry::{LockRetry, acquire_write_lock};
use crate::server_triggers::{COUNT_TRIGGER_PREFIX, SEARCH_TRIGGER_PREFIX};
use crate::table::{foreign_key_name, implicit_name};
use crate::{Table, sqlite_ddl};

/// The rows that one `UPDATE` of [`Table::fill`] covers.
const FILL_BATCH_ROWS: u32 = 1000;

impl Table<'_> {
    /// Renames the table, with the constraints and the sequence that are named after it.
    pub async fn rename(&self, to: &str) -> Result<(), DbErr> {
        let from = self.name;
        self.drop_triggers(COUNT_TRIGGER_PREFIX, "").await?;
        self.drop_triggers(SEARCH_TRIGGER_PREFIX, "").await?;
        self.drop_rollup_triggers("").await?;
        self.run(&format!("ALTER TABLE \"{from}\" RENAME TO \"{to}\"")).await?;
        let renamed = Table { name: to, ..*self };
        let columns = match self.database() {
            DbBackend::Sqlite => format!("SELECT name FROM pragma_table_info('{to}')"),
            _ => format!("SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass('\"{to}\"')"),
        };
        // A foreign key is found by its full name, because a long one ends in a hash.
        let of_column = |column: String| (foreign_key_name(from, &column), foreign_key_name(to, &column));
        let mut keys: HashMap<String, String> = self.texts(&columns).await?.into_iter().map(of_column).collect();
        keys.extend(["_pkey", "_id_check"].map(|ending| (implicit_name(from, ending), implicit_name(to, ending))));
        let new_name = |name: &str| match (keys.get(name), name.strip_prefix(&format!("{from}_"))) {
            (Some(key), _) => Some(key.clone()),
            (None, rest) => rest.map(|rest| format!("{to}_{rest}")),
        };
        if self.database() == DbBackend::Sqlite {
            return renamed.edit_ddl(|text| sqlite_ddl::with_renamed_constraints(text, new_name)).await;
        }
        let names = format!("SELECT conname::text FROM pg_constraint WHERE conrelid = to_regclass('\"{to}\"')");
        for name in self.texts(&names).await? {
            if let Some(new) = new_name(&name).filter(|new| *new != name) {
                self.run(&format!("ALTER TABLE \"{to}\" RENAME CONSTRAINT \"{name}\" TO \"{new}\"")).await?;
            }
        }
        let (from, to) = (implicit_name(from, "_id_seq"), implicit_name(to, "_id_seq"));
        match from == to {
            true => Ok(()),
            false => self.run(&format!("ALTER SEQUENCE IF EXISTS \"{from}\" RENAME TO \"{to}\"")).await,
        }
    }

    /// Renames a column and its foreign key.
    pub async fn rename_column(&self, from: &str, to: &str) -> Result<(), DbErr> {
        let table = self.name;
        self.drop_rollup_triggers(from).await?;
        self.run(&format!("ALTER TABLE \"{table}\" RENAME COLUMN \"{from}\" TO \"{to}\"")).await?;
        let (before, after) = (foreign_key_name(table, from), foreign_key_name(table, to));
        if self.database() == DbBackend::Sqlite {
            let new_name = |name: &str| (name == before).then(|| after.clone());
            return self.edit_ddl(|text| sqlite_ddl::with_renamed_constraints(text, new_name)).await;
        }
        match self.has_constraint(&before).await? {
            true => self.run(&format!("ALTER TABLE \"{table}\" RENAME CONSTRAINT \"{before}\" TO \"{after}\"")).await,
            false => Ok(()),
        }
    }

    /// Renames an index, if it exists.
    pub async fn rename_index(&self, from: &str, to: &str) -> Result<(), DbErr> {
        if self.database() != DbBackend::Sqlite {
            return self.run(&format!("ALTER INDEX IF EXISTS \"{from}\" RENAME TO \"{to}\"")).await;
        }
        // SQLite cannot rename an index.
        let query = format!("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = '{from}'");
        for text in self.texts(&query).await? {
            self.run(&format!("DROP INDEX \"{from}\"")).await?;
            self.run(&text.replacen(&format!("\"{from}\""), &format!("\"{to}\""), 1)).await?;
        }
        Ok(())
    }

    /// Changes the type, nullability, default or foreign key of a column. Values are converted to the new type.
    ///
    /// # Errors
    /// Fails if a row contains a value that does not fit the new column. No value is cut or rounded.
    pub async fn change(&self, from: Column, to: Column) -> Result<(), DbErr> {
        // Sums of children in another unit would be added to those of the parent.
        self.drop_rollup_triggers(&from.name).await?;
        if self.database() == DbBackend::Sqlite {
            return self.change_on_sqlite(&from, &to).await;
        }
        self.change_on_postgres(&from, &to).await?;
        self.add_foreign_key(&from, &to).await
    }

    async fn change_on_sqlite(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        self.check_values(from, to).await?;
        self.check_references(to).await?;
        // Before the definition changes, because a row that is older than the column reads its default.
        if let Some(value) = to.rewritten_value_on_sqlite(from) {
            self.run(&format!("UPDATE \"{}\" SET \"{}\" = {value}", self.name, to.name)).await?;
        }
        let definition = to.definition_text(self.name, DbBackend::Sqlite);
        self.edit_ddl(|text| sqlite_ddl::with_column(text, &to.name, |_| definition.clone())).await
    }

    /// Changes everything but the foreign key. If values may not fit, they are checked under the lock of the change:
    /// PostgreSQL would round a value that is written after the check.
    async fn change_on_postgres(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        if to.misfit_condition(from, DbBackend::Postgres).is_none() {
            return self.check_and_change(from, to).await;
        }
        let connection = self.manager.get_connection();
        let mut retry = LockRetry::default();
        loop {
            let inner = connection.begin().await?;
            if self.online {
                retry.set_timeouts(&inner).await?;
            }
            let manager = SchemaManager::new(&inner);
            let table = Table { manager: &manager, name: self.name, online: false };
            let changed = match table.run(&format!("LOCK TABLE \"{}\" IN ACCESS EXCLUSIVE MODE", self.name)).await {
                Ok(()) => table.check_and_change(from, to).await,
                Err(error) => Err(error),
            };
            let Err(error) = changed else { return inner.commit().await };
            inner.rollback().await?;
            if !self.online {
                // The whole migration releases its locks and is retried.
                return Err(error);
            }
            retry.back_off(connection, error).await?;
        }
    }

    async fn check_and_change(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        self.check_values(from, to).await?;
        for statement in postgres_changes(self.name, from, to) {
            self.run(&statement).await?;
        }
        Ok(())
    }

    /// Sets a value in all rows where the column is NULL, in batches.
    pub async fn fill(&self, column: Column, value: impl Into<Literal>) -> Result<(), DbErr> {
        let value = match (value.into(), self.database()) {
            // SQLite resolves TRUE to a column of that name, if the table has one.
            (Literal::Boolean(value), DbBackend::Sqlite) => Expr::val(i32::from(value)),
            (value, database) => column.stored_value(&value, database),
        };
        self.fill_with(&column, value).await
    }

    /// Sets the current time or date in all rows where the column is NULL, in batches.
    pub async fn fill_now(&self, column: Column) -> Result<(), DbErr> {
        let now = match (self.database(), column.is_date()) {
            (DbBackend::Sqlite, true) => "strftime('%Y-%m-%d', 'now')",
            (DbBackend::Sqlite, false) => "strftime('%Y-%m-%dT%H:%M:%S+00:00', 'now')",
            (_, true) => "(now() AT TIME ZONE 'UTC')::date",
            (_, false) => "date_trunc('second', now())",
        };
        self.fill_with(&column, Expr::cust(now)).await
    }

    async fn fill_with(&self, column: &Column, value: Expr) -> Result<(), DbErr> {
        self.set_in_batches(&column.name, value, Some(Expr::col(Alias::new(&column.name)).is_null())).await
    }

    /// Sets a computed column in all rows, in batches, to an expression over columns of the table. Each database has its own
    /// SQL.
    pub async fn compute(&self, column: &str, sqlite: &str, postgres: &str) -> Result<(), DbErr> {
        let value = if self.database() == DbBackend::Sqlite { sqlite } else { postgres };
        self.set_in_batches(column, Expr::cust(value.to_owned()), None).await
    }

    /// Sets a column in the rows for which a condition holds, in batches; in all rows without one.
    async fn set_in_batches(&self, column: &str, value: Expr, only: Option<Expr>) -> Result<(), DbErr> {
        let (table, name) = (Alias::new(self.name), Alias::new(column));
        let mut last = i64::MIN;
        loop {
            let batch =
                format!("SELECT id FROM \"{}\" WHERE id > {last} ORDER BY id LIMIT {FILL_BATCH_ROWS}", self.name);
            let Some(end) = self.number(&format!("SELECT max(id) FROM ({batch}) AS batch")).await? else {
                return Ok(());
            };
            let statement = Query::update()
                .table(table.clone())
                .value(name.clone(), value.clone())
                .and_where_option(only.clone())
                .and_where(Expr::col(Alias::new("id")).gt(last))
                .and_where(Expr::col(Alias::new("id")).lte(end))
                .to_owned();
            let text = match self.database() {
                DbBackend::Sqlite => statement.to_string(SqliteQueryBuilder),
                _ => statement.to_string(PostgresQueryBuilder),
            };
            self.run(&text).await?;
            last = end;
        }
    }

    /// Makes a column `NOT NULL`.
    ///
    /// # Errors
    /// Fails if a row contains NULL.
    pub async fn require(&self, column: Column) -> Result<(), DbErr> {
        let (table, name) = (self.name, &column.name);
        if self.database() == DbBackend::Sqlite {
            return self.change(column.clone().nullable(), column).await;
        }
        self.check_no_row(&format!("\"{name}\" IS NULL"), &format!("set a value in {table}.{name} first: it is NULL"))
            .await?;
        if let Some(default) = column.default_sql(DbBackend::Postgres) {
            self.run(&format!("ALTER TABLE \"{table}\" ALTER COLUMN \"{name}\" SET DEFAULT {default}")).await?;
        }
        // With a validated constraint, SET NOT NULL does not scan the rows while it locks the table.
        let check = format!("\"charter_required\" CHECK (\"{name}\" IS NOT NULL) NOT VALID");
        for statement in [
            "DROP CONSTRAINT IF EXISTS \"charter_required\"".to_owned(),
            format!("ADD CONSTRAINT {check}"),
            "VALIDATE CONSTRAINT \"charter_required\"".to_owned(),
            format!("ALTER COLUMN \"{name}\" SET NOT NULL"),
            "DROP CONSTRAINT \"charter_required\"".to_owned(),
        ] {
            self.run(&format!("ALTER TABLE \"{table}\" {statement}")).await?;
        }
        Ok(())
    }

    /// Adds the foreign key of a changed column on PostgreSQL: first for new rows, then for existing ones.
    async fn add_foreign_key(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        let Some((other, action)) = to.reference().filter(|reference| from.reference().as_ref() != Some(reference))
        else {
            return Ok(());
        };
        let (table, name) = (self.name, &to.name);
        let key = foreign_key_name(table, name);
        if !self.has_constraint(&key).await? {
            let references = format!("REFERENCES \"{other}\" (\"id\") ON DELETE {action} NOT VALID");
            let foreign = format!("ADD CONSTRAINT \"{key}\" FOREIGN KEY (\"{name}\") {references}");
            self.run(&format!("ALTER TABLE \"{table}\" {foreign}")).await?;
        }
        self.run(&format!("ALTER TABLE \"{table}\" VALIDATE CONSTRAINT \"{key}\"")).await
    }

    /// Fails if a row contains a value that does not fit the new column.
    async fn check_values(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        let place = format!("{}.{}", self.name, to.name);
        if from.is_nullable() && !to.is_nullable() {
            self.check_no_row(
                &format!("\"{}\" IS NULL", to.name),
                &format!("set a value in {place} first: it is NULL"),
            )
            .await?;
        }
        match to.misfit_condition(from, self.database()) {
            Some(condition) => {
                self.check_no_row(&condition, &format!("the value of {place} does not fit the new type")).await
            }
            None => Ok(()),
        }
    }

    /// Fails if a row references a missing record. Only SQLite needs this: it does not check existing rows itself.
    async fn check_references(&self, to: &Column) -> Result<(), DbErr> {
        let Some((other, _)) = to.reference() else { return Ok(()) };
        let found = format!("\"{0}\" IS NOT NULL AND \"{0}\" NOT IN (SELECT id FROM \"{other}\")", to.name);
        self.check_no_row(&found, &format!("{}.{} references no record", self.name, to.name)).await
    }

    async fn check_no_row(&self, condition: &str, problem: &str) -> Result<(), DbErr> {
        let count = format!("SELECT count(*) FROM \"{}\" WHERE {condition}", self.name);
        match self.number(&count).await?.unwrap_or(0) {
            0 => Ok(()),
            1 => Err(DbErr::Custom(format!("{problem} in 1 row"))),
            count => Err(DbErr::Custom(format!("{problem} in {count} rows"))),
        }
    }

    async fn has_constraint(&self, name: &str) -> Result<bool, DbErr> {
        let table = self.name;
        let query = format!(
            "SELECT conname::text FROM pg_constraint WHERE conname = '{name}' AND conrelid = to_regclass('\"{table}\"')"
        );
        Ok(!self.texts(&query).await?.is_empty())
    }

    /// Edits the `CREATE TABLE` statement of a SQLite table in one transaction.
    pub(crate) async fn edit_ddl(&self, edit: impl Fn(&str) -> String) -> Result<(), DbErr> {
        let inner = self.manager.begin().await?;
        acquire_write_lock(&inner).await?;
        let table = Table { manager: &inner, name: self.name, online: false };
        let edited = table.edit_ddl_in_transaction(edit).await;
        if edited.is_ok() {
            return inner.commit().await;
        }
        // The pragma is a setting of the connection, which the rollback of `inner` does not reset.
        table.run("PRAGMA writable_schema = OFF").await?;
        edited
    }

    async fn edit_ddl_in_transaction(&self, edit: impl Fn(&str) -> String) -> Result<(), DbErr> {
        let name = self.name;
        let query = format!("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = '{name}'");
        let Some(text) = self.texts(&query).await?.pop() else {
            return Err(DbErr::Custom(format!("there is no table {name}")));
        };
        let edited = edit(&text);
        if edited == text {
            return Ok(());
        }
        let quoted = edited.replace('\'', "''");
        self.run("PRAGMA writable_schema = ON").await?;
        self.run(&format!("UPDATE sqlite_schema SET sql = '{quoted}' WHERE type = 'table' AND name = '{name}'"))
            .await?;
        // The new version makes other connections reload the schema; RESET reloads it here.
        let version = self.number("SELECT schema_version FROM pragma_schema_version").await?.unwrap_or(0);
        self.run(&format!("PRAGMA schema_version = {}", version + 1)).await?;
        self.run("PRAGMA writable_schema = RESET").await?;
        self.number(&format!("SELECT count(*) FROM \"{name}\"")).await.map(|_| ())
    }

    pub(crate) async fn texts(&self, query: &str) -> Result<Vec<String>, DbErr> {
        let statement = Statement::from_string(self.database(), query);
        let rows = self.manager.get_connection().query_all_raw(statement).await?;
        rows.iter().map(|row| row.try_get_by_index(0)).collect()
    }

    async fn number(&self, query: &str) -> Result<Option<i64>, DbErr> {
        let statement = Statement::from_string(self.database(), query);
        let row = self.manager.get_connection().query_one_raw(statement).await?;
        row.map_or(Ok(None), |row| row.try_get_by_index(0))
    }
}

/// The statements that change everything but the foreign key.
fn postgres_changes(table: &str, from: &Column, to: &Column) -> Vec<String> {
    let name = &to.name;
    let alter = |action: String| format!("ALTER TABLE \"{table}\" {action}");
    let mut statements = Vec::new();
    if from.reference().is_some() && from.reference() != to.reference() {
        statements.push(alter(format!("DROP CONSTRAINT IF EXISTS \"{}\"", foreign_key_name(table, name))));
    }
    let (old_default, new_default) = (from.default_sql(DbBackend::Postgres), to.default_sql(DbBackend::Postgres));
    let (old_type, new_type) = (from.sql_type(), to.sql_type());
    let differs = old_type != new_type || old_default != new_default;
    if old_default.is_some() && differs {
        // Before the type, because the old default may not fit the new type.
        statements.push(alter(format!("ALTER COLUMN \"{name}\" DROP DEFAULT")));
    }
    if new_type != old_type {
        // Cast to `text` first, because a cast to a shorter `varchar` cuts values that an assignment rejects. Not for a
        // longer type, because any expression makes PostgreSQL rewrite the table.
        let casts = to.is_text() && !to.is_widening_of(from);
        let using = if casts { format!(" USING \"{name}\"::text") } else { String::new() };
        statements.push(alter(format!("ALTER COLUMN \"{name}\" TYPE {new_type}{using}")));
    }
    if let Some(default) = new_default.filter(|_| differs) {
        statements.push(alter(format!("ALTER COLUMN \"{name}\" SET DEFAULT {default}")));
    }
    if from.is_nullable() != to.is_nullable() {
        let verb = if to.is_nullable() { "DROP" } else { "SET" };
        statements.push(alter(format!("ALTER COLUMN \"{name}\" {verb} NOT NULL")));
    }
    statements
}
