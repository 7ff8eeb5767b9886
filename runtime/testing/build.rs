//! Sets a cfg for each program that tests need and that is installed.
//!
//! libtest cannot ignore a test at run time, so the search happens at build time. If a test requires a program
//! (`CHARTER_TEST_REQUIRE_...=1`), its cfg is set in any case, and the test fails without the program.

#[path = "src/search.rs"]
mod search;

use std::env::var_os;
use std::path::Path;

/// Environment variables that the search reads.
const VARIABLES: &[&str] = &[
    "PATH",
    "PG_BIN",
    "CHROMIUM",
    "PGBOUNCER",
    "CHARTER_TEST_AXE",
    "CHARTER_TEST_SMTP",
    "CHARTER_TEST_MCP",
    "CHARTER_TEST_IDENTITY_PROVIDER",
    "CHARTER_TEST_RECEIVERS",
    search::REQUIRE_POSTGRES,
    search::REQUIRE_BROWSER,
    search::REQUIRE_PGBOUNCER,
    search::REQUIRE_SMTP,
    search::REQUIRE_MCP,
    search::REQUIRE_DEPLOYMENT,
    search::REQUIRE_GUIDES,
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/search.rs");
    for name in VARIABLES {
        println!("cargo::rerun-if-env-changed={name}");
    }
    set("has_postgres", search::is_required(search::REQUIRE_POSTGRES) || search::postgres().is_some());
    set("has_browser", search::is_required(search::REQUIRE_BROWSER) || search::browser().is_some());
    set("has_pgbouncer", search::is_required(search::REQUIRE_PGBOUNCER) || search::pgbouncer().is_ok());
    set("has_smtp", search::is_required(search::REQUIRE_SMTP) || search::smtp().is_some());
    set("has_mcp", search::is_required(search::REQUIRE_MCP) || search::mcp().is_some());
    let deployment = search::DEPLOYMENT_PROGRAMS.iter().all(|name| search::program(name).is_some());
    set("has_deployment", search::is_required(search::REQUIRE_DEPLOYMENT) || deployment);
    let guides = search::GUIDE_PROGRAMS.iter().all(|name| search::program(name).is_some());
    set("has_guide_programs", search::is_required(search::REQUIRE_GUIDES) || guides);
    set("has_axe", var_os("CHARTER_TEST_AXE").is_some());
    set("has_receivers", search::receivers().is_some());
    set("has_identity_provider", var_os("CHARTER_TEST_IDENTITY_PROVIDER").is_some());
    let specifications = ["../../../shared/spec/service.md", "../../../../shared/spec/service.md"];
    set("has_specification", specifications.iter().any(|file| Path::new(file).is_file()));
}

fn set(cfg: &str, is_set: bool) {
    println!("cargo::rustc-check-cfg=cfg({cfg})");
    if is_set {
        println!("cargo::rustc-cfg={cfg}");
    }
}
