//! Metrics of a database and the state of its connection pools.

use super::{Connection, Db, Dialect};
use crate::metrics::{Database, PoolState};

impl Db {
    /// Metrics of statements, batches and pools.
    pub fn metrics(&self) -> &Database {
        &self.metrics
    }

    /// Current state of the connection pools, without a query.
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
