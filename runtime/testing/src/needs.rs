//! Macros around tests that need other programs. Without the program, libtest reports the tests as ignored, with the reason.
//!
//! The build script searches for the programs, and again when the PATH changes. If you install one into a folder that is
//! already in the PATH, run `touch runtime/testing/build.rs`.

/// Tests that run on every machine.
#[macro_export]
macro_rules! needs_nothing {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need PostgreSQL.
#[cfg(has_postgres)]
#[macro_export]
macro_rules! needs_postgres {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need PostgreSQL.
#[cfg(not(has_postgres))]
#[macro_export]
macro_rules! needs_postgres {
    ($($test:item)*) => { $(#[ignore = "PostgreSQL is not installed"] $test)* };
}

/// Tests that need PostgreSQL and PgBouncer.
#[cfg(all(has_postgres, has_pgbouncer))]
#[macro_export]
macro_rules! needs_pgbouncer {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need PostgreSQL and PgBouncer.
#[cfg(not(all(has_postgres, has_pgbouncer)))]
#[macro_export]
macro_rules! needs_pgbouncer {
    ($($test:item)*) => { $(#[ignore = "PgBouncer of version 1.21 or later is not installed"] $test)* };
}

/// Tests that run the commands of guides.
#[cfg(has_guide_programs)]
#[macro_export]
macro_rules! needs_guide_programs {
    ($($test:item)*) => { $($test)* };
}

/// Tests that run the commands of guides.
#[cfg(not(has_guide_programs))]
#[macro_export]
macro_rules! needs_guide_programs {
    ($($test:item)*) => { $(#[ignore = "jq, node, python3 and sqlite3 are not installed"] $test)* };
}

/// Tests that run the commands of guides, and need PostgreSQL.
#[cfg(all(has_guide_programs, has_postgres))]
#[macro_export]
macro_rules! needs_guide_programs_and_postgres {
    ($($test:item)*) => { $($test)* };
}

/// Tests that run the commands of guides, and need PostgreSQL.
#[cfg(not(all(has_guide_programs, has_postgres)))]
#[macro_export]
macro_rules! needs_guide_programs_and_postgres {
    ($($test:item)*) => { $(#[ignore = "PostgreSQL, jq, node, python3 or sqlite3 is not installed"] $test)* };
}

/// Tests that need Flask, Express and axum.
#[cfg(all(has_guide_programs, has_receivers))]
#[macro_export]
macro_rules! needs_receivers {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need Flask, Express and axum.
#[cfg(not(all(has_guide_programs, has_receivers)))]
#[macro_export]
macro_rules! needs_receivers {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_RECEIVERS is not set"] $test)* };
}

/// Tests that need nginx, Caddy and systemd-analyze.
#[cfg(has_deployment)]
#[macro_export]
macro_rules! needs_deployment {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need nginx, Caddy and systemd-analyze.
#[cfg(not(has_deployment))]
#[macro_export]
macro_rules! needs_deployment {
    ($($test:item)*) => { $(#[ignore = "nginx, Caddy and systemd-analyze are not installed"] $test)* };
}

/// Tests that need Chromium.
#[cfg(has_browser)]
#[macro_export]
macro_rules! needs_browser {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need Chromium.
#[cfg(not(has_browser))]
#[macro_export]
macro_rules! needs_browser {
    ($($test:item)*) => { $(#[ignore = "Chromium is not installed"] $test)* };
}

/// Tests that need Chromium and PostgreSQL.
#[cfg(all(has_browser, has_postgres))]
#[macro_export]
macro_rules! needs_browser_and_postgres {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need Chromium and PostgreSQL.
#[cfg(not(all(has_browser, has_postgres)))]
#[macro_export]
macro_rules! needs_browser_and_postgres {
    ($($test:item)*) => { $(#[ignore = "Chromium or PostgreSQL is not installed"] $test)* };
}

/// Tests that need Chromium and axe-core.
#[cfg(all(has_browser, has_axe))]
#[macro_export]
macro_rules! needs_axe {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need Chromium and axe-core.
#[cfg(not(all(has_browser, has_axe)))]
#[macro_export]
macro_rules! needs_axe {
    ($($test:item)*) => { $(#[ignore = "Chromium is not installed, or CHARTER_TEST_AXE is not set"] $test)* };
}

/// Tests that need an SMTP server.
#[cfg(has_smtp)]
#[macro_export]
macro_rules! needs_smtp {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need an SMTP server.
#[cfg(not(has_smtp))]
#[macro_export]
macro_rules! needs_smtp {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_SMTP is not set"] $test)* };
}

/// Tests that need an SMTP server and PostgreSQL.
#[cfg(all(has_smtp, has_postgres))]
#[macro_export]
macro_rules! needs_smtp_and_postgres {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need an SMTP server and PostgreSQL.
#[cfg(not(all(has_smtp, has_postgres)))]
#[macro_export]
macro_rules! needs_smtp_and_postgres {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_SMTP is not set, or PostgreSQL is not installed"] $test)* };
}

/// Tests that need Python with a client of MCP.
#[cfg(has_mcp)]
#[macro_export]
macro_rules! needs_mcp {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need Python with a client of MCP.
#[cfg(not(has_mcp))]
#[macro_export]
macro_rules! needs_mcp {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_MCP is not set"] $test)* };
}

/// Tests that need Python with a client of MCP, and PostgreSQL.
#[cfg(all(has_mcp, has_postgres))]
#[macro_export]
macro_rules! needs_mcp_and_postgres {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need Python with a client of MCP, and PostgreSQL.
#[cfg(not(all(has_mcp, has_postgres)))]
#[macro_export]
macro_rules! needs_mcp_and_postgres {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_MCP is not set, or PostgreSQL is not installed"] $test)* };
}

/// Tests that need an SMTP server and Chromium.
#[cfg(all(has_smtp, has_browser))]
#[macro_export]
macro_rules! needs_smtp_and_browser {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need an SMTP server and Chromium.
#[cfg(not(all(has_smtp, has_browser)))]
#[macro_export]
macro_rules! needs_smtp_and_browser {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_SMTP is not set, or Chromium is not installed"] $test)* };
}

/// Tests that need Canaille, an identity provider.
#[cfg(has_identity_provider)]
#[macro_export]
macro_rules! needs_identity_provider {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need Canaille, an identity provider.
#[cfg(not(has_identity_provider))]
#[macro_export]
macro_rules! needs_identity_provider {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_IDENTITY_PROVIDER is not set"] $test)* };
}

/// Tests that need Canaille and PostgreSQL.
#[cfg(all(has_identity_provider, has_postgres))]
#[macro_export]
macro_rules! needs_identity_provider_and_postgres {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need Canaille and PostgreSQL.
#[cfg(not(all(has_identity_provider, has_postgres)))]
#[macro_export]
macro_rules! needs_identity_provider_and_postgres {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_IDENTITY_PROVIDER is not set, or PostgreSQL is not installed"] $test)* };
}

/// Tests that need the compilers and interpreters of the typed clients.
#[cfg(has_clients)]
#[macro_export]
macro_rules! needs_clients {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need the compilers and interpreters of the typed clients.
#[cfg(not(has_clients))]
#[macro_export]
macro_rules! needs_clients {
    ($($test:item)*) => { $(#[ignore = "CHARTER_TEST_TSC or CHARTER_TEST_CLIENT_PYTHON is not set"] $test)* };
}

/// Tests that need the compilers and interpreters of the typed clients, and PostgreSQL.
#[cfg(all(has_clients, has_postgres))]
#[macro_export]
macro_rules! needs_clients_and_postgres {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need the compilers and interpreters of the typed clients, and PostgreSQL.
#[cfg(not(all(has_clients, has_postgres)))]
#[macro_export]
macro_rules! needs_clients_and_postgres {
    ($($test:item)*) => {
        $(#[ignore = "CHARTER_TEST_TSC or CHARTER_TEST_CLIENT_PYTHON is not set, or PostgreSQL is not installed"] $test)*
    };
}

/// Tests that need the specification, which is not a part of this repository.
#[cfg(has_specification)]
#[macro_export]
macro_rules! needs_specification {
    ($($test:item)*) => { $($test)* };
}

/// Tests that need the specification, which is not a part of this repository.
#[cfg(not(has_specification))]
#[macro_export]
macro_rules! needs_specification {
    ($($test:item)*) => { $(#[ignore = "the specification is not at ../shared/spec"] $test)* };
}
