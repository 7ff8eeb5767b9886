//! Command `doctor`: stale references and values in another form in the data, and missing or unused indexes.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use serde_json::json;

use super::{indexes, missing_columns, output, stored_forms, table_faults, unknown_enum_values};
use crate::app::{App, Direction};
use crate::server::ServerState;
use charter_core::error::{Error, Result};
use charter_core::ops::Context;
use charter_core::principal::Principal;
use charter_platform::auth;
use charter_platform::custom_fields;
use charter_platform::{view, webhook};

pub(super) fn command(format: Arg) -> Command {
    Command::new("doctor")
        .about(
            "Report data that refers to names the application no longer has, and missing or unused indexes; exits with 1 if \
             there are problems, not for advice",
        )
        .arg(format)
}

/// Only reads, so that it can run with a version that is not deployed yet.
pub(super) async fn run(app: &App, state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let applied = (app.migrate)(&state.db, Direction::Status).await?;
    if !applied.iter().any(|(_, applied)| *applied) {
        return Err(Error::internal("the database has no tables yet; `migrate` creates them"));
    }
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let row = |advice: bool, kind: &str, id: Option<i64>, name: &str, problem: &str| {
        let severity = if advice { "advice" } else { "problem" };
        json!({ "severity": severity, "kind": kind, "id": id, "name": name, "problem": problem })
    };
    let shown = ["severity", "kind", "id", "name", "problem"];
    let migrated = applied.iter().all(|(_, applied)| *applied);
    let missing = if migrated { missing_columns::find(&context).await? } else { Vec::new() };
    if !missing.is_empty() {
        // The other checks could fail on a missing column.
        let problem = "is missing in the database: a model was changed without a migration";
        let rows: Vec<_> = missing.iter().map(|name| row(false, "column", None, name, problem)).collect();
        output::print(matches, &shown, &rows)?;
        return Err(Error::internal(format!("{} missing", missing.join(", "))));
    }
    let mut found = view::stale_references(&context).await?;
    found.extend(webhook::stale_references(&context).await?);
    found.extend(custom_fields::stale_references(&context).await?);
    found.extend(auth::stale_references(&context).await?);
    found.extend(unknown_enum_values::find(&context).await?);
    let forms = stored_forms::find(&context).await?;
    let mut rows: Vec<_> =
        found.iter().chain(&forms).map(|one| row(false, one.kind, Some(one.id), &one.name, &one.problem)).collect();
    let findings = indexes::findings(&context, migrated).await?;
    rows.extend(findings.iter().map(|one| row(one.advice, one.kind, None, &one.name, &one.problem)));
    let faults = table_faults::find(&context).await?;
    rows.extend(faults.iter().map(|(kind, one)| row(false, kind, None, &one.column, &one.problem)));
    output::print(matches, &shown, &rows)?;
    let count = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let stale = "that the application does not know";
    let wrong = findings.iter().filter(|one| !one.advice).count();
    let summary = [
        count(found.len(), &format!("value {stale}"), &format!("values {stale}")),
        count(forms.len(), "field with values in another form", "fields with values in another form"),
        count(wrong, "declared index is missing", "declared indexes are missing"),
        count(faults.len(), "fault of a table", "faults of tables"),
    ];
    let summary: Vec<String> = summary.into_iter().flatten().collect();
    if summary.is_empty() { Ok(()) } else { Err(Error::internal(summary.join(", and "))) }
}
