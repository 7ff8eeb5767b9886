//! Verification of existing rows: those that break a new rule, and those that repeat a value of a new unique index.

use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement, TransactionTrait};

use crate::lock_retry::LockRetry;
use crate::{Table, UniqueIndex};

impl Table<'_> {
    /// Counts the rows that break a rule, and logs a warning with their number and the lowest id. The rows stay, because the
    /// server checks a rule when a record is written. `rule` is the rule as in YAML; `sqlite` and `postgres` are the
    /// condition of the rows that break it.
    pub async fn verify(&self, rule: &str, sqlite: &str, postgres: &str) -> Result<(), DbErr> {
        let broken = if self.database() == DbBackend::Sqlite { sqlite } else { postgres };
        let query = format!("SELECT count(*), min(\"id\") FROM \"{}\" WHERE {broken}", self.name);
        if let Some((rows, Some(id))) = self.pair(&query).await? {
            tracing::warn!(
                table = self.name,
                rule,
                rows,
                example_id = id,
                "rows break a new rule; they stay as they are until they are written"
            );
        }
        Ok(())
    }

    /// Checks that rows do not repeat a value of a unique index, before a later step creates it.
    ///
    /// # Errors
    /// Fails with the number of such values and the ids of two rows. The values are not in the message: they may be secret.
    pub async fn check_unique(&self, index: UniqueIndex<'_>) -> Result<(), DbErr> {
        let repeated = index.repeated(self.name, self.database());
        let count = format!("SELECT count(*), min(low) FROM ({repeated}) AS r");
        let Some((count, Some(low))) = self.pair(&count).await? else { return Ok(()) };
        let example = format!("SELECT low, high FROM ({repeated}) AS r WHERE low = {low}");
        let high = self.pair(&example).await?.and_then(|(_, high)| high).unwrap_or(low);
        let (table, fields) = (self.name, index.columns.join(", "));
        let among = if index.is_partial() { " among the rows that meet the condition of the set" } else { "" };
        let values = if count == 1 { "1 value repeats".to_owned() } else { format!("{count} values repeat") };
        Err(DbErr::Custom(format!(
            "{table}: the rows cannot be unique by {fields}: {values}{among}, for example in the rows with the ids {low} and {high}; \
             change or delete one of each, and migrate again"
        )))
    }

    /// The result of the creation of a unique index. An error of the database is replaced by that of
    /// [`check_unique`](Self::check_unique) if rows repeat a value.
    pub(crate) async fn explain_repeated(
        &self,
        index: UniqueIndex<'_>,
        created: Result<(), DbErr>,
    ) -> Result<(), DbErr> {
        let Err(error) = created else { return Ok(()) };
        match self.check_unique(index).await {
            Err(repeated @ DbErr::Custom(_)) => Err(repeated),
            // A table without an `id` cannot be checked.
            _ => Err(error),
        }
    }

    /// The two numbers of the first row of a query, without the statement timeout that the role may have.
    async fn pair(&self, query: &str) -> Result<Option<(i64, Option<i64>)>, DbErr> {
        let transaction = self.manager.get_connection().begin().await?;
        if self.database() == DbBackend::Postgres {
            LockRetry::default().set_timeouts(&transaction).await?;
        }
        let row = transaction.query_one_raw(Statement::from_string(self.database(), query)).await?;
        transaction.commit().await?;
        row.map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).transpose()
    }
}
