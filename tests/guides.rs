//! Pages whose commands run on a server with sample data, and whose answers are those of the server.
//!
//! A block of the language `sh` runs, in the order of the page, in one shell. A block of the language `json`, `text` or
//! `yaml` after it is its output. `sh,not-run` marks commands that cannot run in a test; the page says why. Comments of a page
//! prepare its test:
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

#[test]
fn every_guide_has_a_test() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides");
    for entry in std::fs::read_dir(folder).unwrap() {
        let page = format!("guides/{}", entry.unwrap().file_name().display());
        assert!(PAGES.contains(&page.as_str()), "tests/guides.rs does not run {page}");
    }
}
