//! The repeated failures, and calls that the types refuse. Neither needs a database.

use charter_codegen::client::Language;
use charter_testing::needs_clients;

use crate::support::{Database, Server, TypedClient, run};

fn repeats_only_what_is_safe(language: Language) {
    run(Database::Sqlite, |server: Server| async move {
        let client = TypedClient::of(&server, language, &["support", "retries", "refused"]).await;
        client.run("retries", &server.url(), &[]).await;
    });
}

needs_clients! {
    #[test]
    fn typescript_client_repeats_only_safe_failures_and_refuses_wrong_types() {
        repeats_only_what_is_safe(Language::TypeScript);
    }

    #[test]
    fn python_client_repeats_only_safe_failures_and_refuses_wrong_types() {
        repeats_only_what_is_safe(Language::Python);
    }
}
