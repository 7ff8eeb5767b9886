//! The metrics of a database, and its connection pools as they are now.

use super::{Connection, Db, Dialect};
use crate::metrics::{Database, PoolState};

impl Db {
    /// Where statements, batches and pools are counted.
    pub fn metrics(&self) -> &Database {
        &self.metrics
    }

    /// The connection pools as they are now. No database is asked.
    pub fn pools(&self) -> Vec<PoolState> {
        let mut pools = vec![self.exports.pool.pool.state("exports")];
        match (&self.reader, self.dialect) {
            (Connection::Pool(pool), Dialect::Postgres) => pools.push(pool.state("main")),
            (Connection::Pool(readers), Dialect::Sqlite) => {
                pools.extend([readers.state("readers"), self.writers.pool.state("writer")]);
            }
            (Connection::Transaction(_), _) => {}
        }
        pools.push(self.reads.state());
        pools
    }
}
