//! Standbys of PostgreSQL, for tests of a failover.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::postgres::Postgres;

impl Postgres {
    /// A standby of this server, which receives its changes from now on. A synchronous one confirms each commit before
    /// the client gets an answer.
    ///
    /// # Panics
    /// If it does not start, or does not become synchronous within 10 seconds.
    pub fn start_standby(&self, is_synchronous: bool) -> Postgres {
        let standby = Postgres::start_with(&["hot_standby=on"], |account, programs, data| {
            let mut copy = account.command(&programs.join("pg_basebackup"));
            copy.args(["--no-sync", "--checkpoint=fast", "--write-recovery-conf", "--pgdata"]).arg(data);
            copy.arg("--dbname").arg(self.url("postgres"));
            copy
        });
        if is_synchronous {
            self.psql("ALTER SYSTEM SET synchronous_standby_names = '*'").expect("the setting can be written");
            self.psql("SELECT pg_reload_conf()").expect("the settings can be read");
            self.wait_until("(SELECT sync_state FROM pg_stat_replication) = 'sync'");
        }
        standby
    }

    /// The URL of the same database on this server.
    ///
    /// # Panics
    /// If the URL names no database.
    pub fn url_of(&self, url: &str) -> String {
        self.url(url.rsplit('/').next().expect("a URL has a last segment"))
    }

    /// Waits until the standby has all changes.
    ///
    /// # Panics
    /// If it lacks some after 10 seconds.
    pub fn wait_for_standby(&self) {
        self.wait_until("(SELECT replay_lsn FROM pg_stat_replication) >= pg_current_wal_lsn()");
    }

    fn wait_until(&self, condition: &str) {
        let assertion = format!("DO $$ BEGIN ASSERT COALESCE(({condition}), false); END $$");
        let deadline = Instant::now() + Duration::from_secs(10);
        while let Err(message) = self.psql(&assertion) {
            assert!(Instant::now() < deadline, "{condition}: {message}");
            sleep(Duration::from_millis(50));
        }
    }

    /// Makes this standby receive no more changes.
    ///
    /// # Panics
    /// If it still receives changes after 10 seconds.
    pub fn disconnect(&self) {
        self.psql("ALTER SYSTEM SET primary_conninfo = ''").expect("the setting can be written");
        self.psql("SELECT pg_reload_conf()").expect("the settings can be read");
        self.wait_until("NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver)");
    }

    /// Makes this standby a primary, and returns when it takes writes.
    ///
    /// # Panics
    /// If it is no standby.
    pub fn promote(&self) {
        self.psql("SELECT pg_promote(true, 60)").expect("it is a standby");
    }

    /// Ends the server and its sessions at once, without a checkpoint, as a crash does.
    pub fn kill(&mut self) {
        self.signal("QUIT");
        let _ = self.server.wait();
    }
}
