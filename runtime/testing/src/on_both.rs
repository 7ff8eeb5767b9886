//! Macro that defines a test on SQLite and one on PostgreSQL for each function.

use crate::Database;

/// Defines two tests for each of these async functions, which take a [`Database`]: `<name>::sqlite` and `<name>::postgres`. The
/// latter is reported as ignored if PostgreSQL is not installed.
///
/// ```ignore
/// charter_testing::on_both!(book_is_lent_to_one_reader_at_a_time);
///
/// async fn book_is_lent_to_one_reader_at_a_time(database: Database) {
///     let library = Server::start(lending::app, database).await;
/// }
/// ```
#[macro_export]
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                #[test]
                fn sqlite() {
                    $crate::run($crate::Database::Sqlite, super::$name);
                }

                $crate::needs_postgres! {
                    #[test]
                    fn postgres() {
                        $crate::run($crate::Database::Postgres, super::$name);
                    }
                }
            }
        )*
    };
}

/// Runs a test with a database to its end, on two threads.
///
/// # Panics
/// If the test does.
pub fn run<T: Future<Output = ()>>(database: Database, test: impl FnOnce(Database) -> T) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime starts").block_on(test(database));
}
