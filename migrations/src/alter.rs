//! Changes to tables that hold rows: names, columns and values.
//!
//! On PostgreSQL a table opened with [`Table::online`] is changed beside those who write to it: rows are filled in
//! batches, what rows must satisfy is checked without keeping writers out, and each step can be taken again.

use std::collections::HashMap;

use sea_orm_migration::SchemaManager;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement, TransactionTrait};
use sea_orm_migration::sea_query::{Alias, Expr, ExprTrait, PostgresQueryBuilder, Query, SqliteQueryBuilder};

use crate::column::{Column, Literal};
use crate::patience::{Patience, claim};
use crate::table::{foreign_key, owned};
use crate::{Table, sqlite};

/// What the names of the triggers begin with that count the records of a table.
pub(crate) const COUNT: &str = "charter_count_";

/// What the names of the triggers begin with that keep an index of substrings, on SQLite.
pub(crate) const SEARCH: &str = "charter_search_";

/// The rows that are filled at once.
const BATCH: u32 = 1000;

impl Table<'_> {
    /// Calls the table otherwise, and with it the constraints and the sequence that are named after it.
    pub async fn rename(&self, to: &str) -> Result<(), DbErr> {
        let from = self.name;
        self.forget(COUNT, "").await?;
        self.forget(SEARCH, "").await?;
        self.run(&format!("ALTER TABLE \"{from}\" RENAME TO \"{to}\"")).await?;
        let renamed = Table { name: to, ..*self };
        let columns = match self.database() {
            DbBackend::Sqlite => format!("SELECT name FROM pragma_table_info('{to}')"),
            _ => format!("SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass('\"{to}\"')"),
        };
        // What a reference is called cannot be told from its beginning alone: a long name ends in a fingerprint.
        let of_column = |column: String| (foreign_key(from, &column), foreign_key(to, &column));
        let mut keys: HashMap<String, String> = self.texts(&columns).await?.into_iter().map(of_column).collect();
        keys.extend(["_pkey", "_id_check"].map(|ending| (owned(from, ending), owned(to, ending))));
        let called = |name: &str| match (keys.get(name), name.strip_prefix(&format!("{from}_"))) {
            (Some(key), _) => Some(key.clone()),
            (None, rest) => rest.map(|rest| format!("{to}_{rest}")),
        };
        if self.database() == DbBackend::Sqlite {
            return renamed.edit(|text| sqlite::with_constraints(text, called)).await;
        }
        let names = format!("SELECT conname::text FROM pg_constraint WHERE conrelid = to_regclass('\"{to}\"')");
        for name in self.texts(&names).await? {
            if let Some(now) = called(&name).filter(|now| *now != name) {
                self.run(&format!("ALTER TABLE \"{to}\" RENAME CONSTRAINT \"{name}\" TO \"{now}\"")).await?;
            }
        }
        let (from, to) = (owned(from, "_id_seq"), owned(to, "_id_seq"));
        match from == to {
            true => Ok(()),
            false => self.run(&format!("ALTER SEQUENCE IF EXISTS \"{from}\" RENAME TO \"{to}\"")).await,
        }
    }

    /// Calls a column otherwise, and with it the constraint of what it refers to.
    pub async fn rename_column(&self, from: &str, to: &str) -> Result<(), DbErr> {
        let table = self.name;
        self.run(&format!("ALTER TABLE \"{table}\" RENAME COLUMN \"{from}\" TO \"{to}\"")).await?;
        let (before, after) = (foreign_key(table, from), foreign_key(table, to));
        if self.database() == DbBackend::Sqlite {
            let called = |name: &str| (name == before).then(|| after.clone());
            return self.edit(|text| sqlite::with_constraints(text, called)).await;
        }
        match self.has_constraint(&before).await? {
            true => self.run(&format!("ALTER TABLE \"{table}\" RENAME CONSTRAINT \"{before}\" TO \"{after}\"")).await,
            false => Ok(()),
        }
    }

    /// Calls an index otherwise. One that this database does not have is none.
    pub async fn rename_index(&self, from: &str, to: &str) -> Result<(), DbErr> {
        if self.database() != DbBackend::Sqlite {
            return self.run(&format!("ALTER INDEX IF EXISTS \"{from}\" RENAME TO \"{to}\"")).await;
        }
        // SQLite makes it anew from its own words.
        let query = format!("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = '{from}'");
        for text in self.texts(&query).await? {
            self.run(&format!("DROP INDEX \"{from}\"")).await?;
            self.run(&text.replacen(&format!("\"{from}\""), &format!("\"{to}\""), 1)).await?;
        }
        Ok(())
    }

    /// Makes a column another: its type, whether it may be null, its default, what it refers to.
    ///
    /// Values stay what they are: texts as texts, numbers as numbers, a decimal with other places as the same number.
    ///
    /// # Errors
    /// When a row holds a value that the new column cannot: nothing is cut or rounded.
    pub async fn change(&self, from: Column, to: Column) -> Result<(), DbErr> {
        if self.database() == DbBackend::Sqlite {
            return self.change_on_sqlite(&from, &to).await;
        }
        self.change_on_postgres(&from, &to).await?;
        self.refer(&from, &to).await
    }

    async fn change_on_sqlite(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        self.look_for_misfits(from, to).await?;
        self.look_for_dangling(to).await?;
        // Before the text, from which a row that is older than the column has its value.
        if let Some(value) = to.written_on_sqlite(from) {
            self.run(&format!("UPDATE \"{}\" SET \"{}\" = {value}", self.name, to.name)).await?;
        }
        let definition = to.text(self.name, DbBackend::Sqlite);
        self.edit(|text| sqlite::with_column(text, &to.name, |_| definition.clone())).await
    }

    /// Everything but what the column refers to. What may not fit is looked for under the lock that the change needs: what
    /// somebody wrote in between would be rounded.
    async fn change_on_postgres(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        if to.misfits(from, DbBackend::Postgres).is_none() {
            return self.look_and_change(from, to).await;
        }
        let connection = self.manager.get_connection();
        let mut patience = Patience::default();
        loop {
            let inner = connection.begin().await?;
            if self.online {
                patience.begin(&inner).await?;
            }
            let manager = SchemaManager::new(&inner);
            let table = Table { manager: &manager, name: self.name, online: false };
            let changed = match table.run(&format!("LOCK TABLE \"{}\" IN ACCESS EXCLUSIVE MODE", self.name)).await {
                Ok(()) => table.look_and_change(from, to).await,
                Err(problem) => Err(problem),
            };
            let Err(problem) = changed else { return inner.commit().await };
            inner.rollback().await?;
            if !self.online {
                // The whole migration gives back its locks, and begins again.
                return Err(problem);
            }
            patience.pause(connection, problem).await?;
        }
    }

    async fn look_and_change(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        self.look_for_misfits(from, to).await?;
        for statement in changes_on_postgres(self.name, from, to) {
            self.run(&statement).await?;
        }
        Ok(())
    }

    /// Gives each row that has no value in this column one, batch by batch.
    pub async fn fill(&self, column: Column, value: impl Into<Literal>) -> Result<(), DbErr> {
        let value = match (value.into(), self.database()) {
            // A bare TRUE would be the column of that name, where the table has one.
            (Literal::Boolean(value), DbBackend::Sqlite) => Expr::val(i32::from(value)),
            (value, database) => column.stored(&value, database),
        };
        self.fill_with(&column, value).await
    }

    /// Gives each row that has no value in this column the time, or the day, of the migration.
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
        let (table, name) = (Alias::new(self.name), Alias::new(&column.name));
        let mut last = i64::MIN;
        loop {
            let batch = format!("SELECT id FROM \"{}\" WHERE id > {last} ORDER BY id LIMIT {BATCH}", self.name);
            let Some(end) = self.number(&format!("SELECT max(id) FROM ({batch}) AS batch")).await? else {
                return Ok(());
            };
            let statement = Query::update()
                .table(table.clone())
                .value(name.clone(), value.clone())
                .and_where(Expr::col(name.clone()).is_null())
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

    /// No row may be without a value in this column any more.
    ///
    /// # Errors
    /// When one is.
    pub async fn require(&self, column: Column) -> Result<(), DbErr> {
        let (table, name) = (self.name, &column.name);
        if self.database() == DbBackend::Sqlite {
            return self.change(column.clone().nullable(), column).await;
        }
        self.no_row(&format!("\"{name}\" IS NULL"), &format!("{table}.{name} is null: fill them first")).await?;
        if let Some(default) = column.default_text(DbBackend::Postgres) {
            self.run(&format!("ALTER TABLE \"{table}\" ALTER COLUMN \"{name}\" SET DEFAULT {default}")).await?;
        }
        // With a constraint that was validated, PostgreSQL need not look at the rows while it locks the table.
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

    /// Lets a column that was changed refer on PostgreSQL: first for rows to come, then for those that are there.
    async fn refer(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        let Some((other, action)) = to.reference().filter(|reference| from.reference().as_ref() != Some(reference))
        else {
            return Ok(());
        };
        let (table, name) = (self.name, &to.name);
        let key = foreign_key(table, name);
        if !self.has_constraint(&key).await? {
            let leads = format!("REFERENCES \"{other}\" (\"id\") ON DELETE {action} NOT VALID");
            let foreign = format!("ADD CONSTRAINT \"{key}\" FOREIGN KEY (\"{name}\") {leads}");
            self.run(&format!("ALTER TABLE \"{table}\" {foreign}")).await?;
        }
        self.run(&format!("ALTER TABLE \"{table}\" VALIDATE CONSTRAINT \"{key}\"")).await
    }

    /// Fails where a row holds a value that the new column cannot.
    async fn look_for_misfits(&self, from: &Column, to: &Column) -> Result<(), DbErr> {
        let place = format!("{}.{}", self.name, to.name);
        if from.is_nullable() && !to.is_nullable() {
            self.no_row(&format!("\"{}\" IS NULL", to.name), &format!("{place} is null: fill them first")).await?;
        }
        match to.misfits(from, self.database()) {
            Some(condition) => self.no_row(&condition, &format!("{place} does not fit the new type")).await,
            None => Ok(()),
        }
    }

    /// Fails on SQLite where a row refers to a record that is not there, which it does not look at by itself.
    async fn look_for_dangling(&self, to: &Column) -> Result<(), DbErr> {
        let Some((other, _)) = to.reference() else { return Ok(()) };
        let found = format!("\"{0}\" IS NOT NULL AND \"{0}\" NOT IN (SELECT id FROM \"{other}\")", to.name);
        self.no_row(&found, &format!("{}.{} refers to no record", self.name, to.name)).await
    }

    async fn no_row(&self, condition: &str, problem: &str) -> Result<(), DbErr> {
        let count = format!("SELECT count(*) FROM \"{}\" WHERE {condition}", self.name);
        match self.number(&count).await?.unwrap_or(0) {
            0 => Ok(()),
            1 => Err(DbErr::Custom(format!("in 1 row {problem}"))),
            count => Err(DbErr::Custom(format!("in {count} rows {problem}"))),
        }
    }

    /// Drops the triggers of a kind whose text has this word: they know the table by its name, deleted records by their
    /// mark, texts by their columns. The next start puts others in their place, and makes anew what they kept.
    pub(crate) async fn forget(&self, kind: &str, word: &str) -> Result<(), DbErr> {
        let table = self.name;
        let (query, on) = match self.database() {
            DbBackend::Sqlite => (
                format!(
                    "SELECT name FROM sqlite_schema
                     WHERE type = 'trigger' AND tbl_name = '{table}' AND instr(sql, '{word}') > 0"
                ),
                String::new(),
            ),
            _ => (
                format!(
                    "SELECT tgname::text FROM pg_trigger WHERE tgrelid = to_regclass('\"{table}\"') AND NOT tgisinternal"
                ),
                format!(" ON \"{table}\""),
            ),
        };
        for name in self.texts(&query).await?.iter().filter(|name| name.starts_with(kind)) {
            self.run(&format!("DROP TRIGGER \"{name}\"{on}")).await?;
        }
        Ok(())
    }

    async fn has_constraint(&self, name: &str) -> Result<bool, DbErr> {
        let table = self.name;
        let query = format!(
            "SELECT conname::text FROM pg_constraint WHERE conname = '{name}' AND conrelid = to_regclass('\"{table}\"')"
        );
        Ok(!self.texts(&query).await?.is_empty())
    }

    /// Changes the text of a SQLite table, as a whole or not at all.
    pub(crate) async fn edit(&self, edit: impl Fn(&str) -> String) -> Result<(), DbErr> {
        let inner = self.manager.begin().await?;
        claim(&inner).await?;
        let table = Table { manager: &inner, name: self.name, online: false };
        let edited = table.edit_in_transaction(edit).await;
        if edited.is_ok() {
            return inner.commit().await;
        }
        // The pragma belongs to the connection, and is not rolled back with the rest when `inner` goes.
        table.run("PRAGMA writable_schema = OFF").await?;
        edited
    }

    async fn edit_in_transaction(&self, edit: impl Fn(&str) -> String) -> Result<(), DbErr> {
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
        // Every other connection reads the schema anew, and this one at once.
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

/// Everything but what the column refers to.
fn changes_on_postgres(table: &str, from: &Column, to: &Column) -> Vec<String> {
    let name = &to.name;
    let alter = |what: String| format!("ALTER TABLE \"{table}\" {what}");
    let mut statements = Vec::new();
    if from.reference().is_some() && from.reference() != to.reference() {
        statements.push(alter(format!("DROP CONSTRAINT IF EXISTS \"{}\"", foreign_key(table, name))));
    }
    let (then, now) = (from.default_text(DbBackend::Postgres), to.default_text(DbBackend::Postgres));
    let (kind, old) = (to.type_text(), from.type_text());
    let another = kind != old || then != now;
    if then.is_some() && another {
        // Before the type: the old default may be no value of the new one.
        statements.push(alter(format!("ALTER COLUMN \"{name}\" DROP DEFAULT")));
    }
    if kind != old {
        // Through text, because a cast to a shorter text cuts what an assignment refuses. To a longer one without, because
        // any expression makes PostgreSQL write the table anew.
        let through = to.is_text() && !to.lengthens(from);
        let using = if through { format!(" USING \"{name}\"::text") } else { String::new() };
        statements.push(alter(format!("ALTER COLUMN \"{name}\" TYPE {kind}{using}")));
    }
    if let Some(now) = now.filter(|_| another) {
        statements.push(alter(format!("ALTER COLUMN \"{name}\" SET DEFAULT {now}")));
    }
    if from.is_nullable() != to.is_nullable() {
        let verb = if to.is_nullable() { "DROP" } else { "SET" };
        statements.push(alter(format!("ALTER COLUMN \"{name}\" {verb} NOT NULL")));
    }
    statements
}
