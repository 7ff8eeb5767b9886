//! Pages whose commands run on a server with sample data, and whose answers are those of the server.
//!
//! A block of the language `sh` runs, in the order of the page, in one shell. A block of the language `json`, `text` or
//! `yaml` after it is its output. `sh,not-run` marks commands that cannot run here: a guide says why, and those of the reference
//! pages have tests of their own (`codegen/tests` for `cargo charter`, `tests/routes` for imports, `tests/mcp`,
//! `tests/typed_clients`, `tests/commands`). Comments of a page prepare its test:
//!
//! | Comment | Effect |
//! |---|---|
//! | `<!-- file: receiver.py -->` | writes the block after it to a file in the folder of the shell |
//! | `<!-- settings: NAME=value -->` | starts the server with this setting |
//! | `<!-- copies: resources migrations -->` | copies folders of the application to the folder of the shell, a Git repository |
//! | `<!-- needs: postgres -->` | gives the shell `POSTGRES_URL`, an empty database |

mod guide;

/// Defines a test for each page, below the programs that its commands need, and the list of the pages.
macro_rules! pages {
    ($($needs:ident { $($test:ident: $page:literal,)* })*) => {
        const PAGES: &[&str] = &[$($($page),*),*];

        $(charter_testing::$needs! {
            $(#[test]
            fn $test() {
                guide::page($page);
            })*
        })*
    };
}

pages! {
    needs_guide_programs {
        introduction: "introduction.md",
        api_clients: "api-clients.md",
        attachments: "attachments.md",
        deployment: "deployment.md",
        evolving: "evolving.md",
        imports: "imports.md",
        lists: "lists.md",
        mcp: "mcp.md",
        requests: "requests.md",
        typed_clients: "typed-clients.md",
        webhooks: "webhooks.md",
        filtering: "guides/filtering.md",
        authentication: "guides/authentication.md",
        safe_retries: "guides/safe-retries.md",
        syncing: "guides/syncing.md",
        users_and_rights: "guides/users-and-rights.md",
        zero_downtime: "guides/zero-downtime.md",
        existing_database: "guides/existing-database.md",
        own_endpoints: "guides/own-endpoints.md",
        external_calls: "guides/external-calls.md",
        extending_the_generator: "guides/extending-the-generator.md",
    }
    needs_guide_programs_and_postgres {
        backup: "guides/backup.md",
        sqlite_to_postgresql: "guides/sqlite-to-postgresql.md",
    }
    needs_receivers {
        email: "guides/email.md",
        webhook_receivers: "guides/webhook-receivers.md",
    }
}

/// Pages whose commands `tests/applications` runs in new applications.
const APPLICATIONS: [&str; 2] = ["adding-a-resource.md", "tutorial.md"];
/// Its commands publish a release; `tests/release.rs` runs those that change files.
const RELEASING: &str = "releasing.md";

#[test]
fn every_page_with_commands_has_a_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let page = entry.file_name().display().to_string();
        let has_commands = || std::fs::read_to_string(entry.path()).unwrap().contains("```sh");
        let page = page.as_str();
        let is_run = PAGES.contains(&page) || APPLICATIONS.contains(&page) || page == RELEASING;
        assert!(!page.ends_with(".md") || is_run || !has_commands(), "no test runs the commands of docs/{page}");
    }
}

#[test]
fn every_guide_has_a_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides");
    for entry in std::fs::read_dir(folder).unwrap() {
        let page = format!("guides/{}", entry.unwrap().file_name().display());
        assert!(PAGES.contains(&page.as_str()), "tests/guides.rs does not run {page}");
    }
}
