//! Command `import`: reads a file into a resource in this process, and prints the report.

use std::path::Path;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use serde_json::{Value, json};

use super::account::user_by_email;
use super::output;
use crate::server::ServerState;
use charter_core::error::{Error, Result};
use charter_core::ops::Context;
use charter_core::principal::Principal;
use charter_platform::auth::revalidate;
use charter_platform::import::record::{Entity, Model};
use charter_platform::import::{NewImport, import_file, row, run_here};

/// Refused rows that are read at a time.
const PAGE_ROWS: u64 = 1_000;

pub(super) fn command(format: Arg) -> Command {
    Command::new("import")
        .about("Import a CSV, NDJSON or XLSX file into a resource, and print the refused rows; exits with 1 if there are any")
        .arg(Arg::new("file").required(true).help("Path of the file"))
        .arg(Arg::new("resource").long("resource").required(true).help("Plural name of the resource"))
        .arg(
            Arg::new("match-by")
                .long("match-by")
                .help("Field by which existing records are found and changed; without it, each row creates a record"),
        )
        .arg(
            Arg::new("map")
                .long("map")
                .action(ArgAction::Append)
                .help("Column=field; an empty field ignores the column; may be repeated. Other columns are mapped by name"),
        )
        .arg(
            Arg::new("rehearse")
                .long("rehearse")
                .action(ArgAction::SetTrue)
                .help("Only report what would be created, changed and refused"),
        )
        .arg(Arg::new("user").long("user").help("E-mail address of the user whose rights apply [default: the operator]"))
        .arg(format)
}

/// Uploads the file, and rehearses or runs the import.
///
/// # Errors
/// When the file or the plan is not valid, the import stops, or a row is refused.
pub(super) async fn run(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<()> {
    let argument = |name: &str| matches.get_one::<String>(name).cloned();
    let caller = caller(state, matches).await?;
    let context = Context::new(state, &caller, state.db.reader());
    let map = matches.get_many::<String>("map").into_iter().flatten().map(|text| column_and_field(text));
    let new = NewImport {
        entity_type: argument("resource").unwrap_or_default(),
        match_by: argument("match-by"),
        map: map.collect::<Result<_>>()?,
    };
    let file = argument("file").unwrap_or_default();
    let id = import_file(&context, Path::new(&file), new).await?;
    let is_rehearsal = matches.get_flag("rehearse");
    run_here(state, &caller, id, if is_rehearsal { "rehearse" } else { "run" }).await?;
    let import = Entity::find_by_id(id).one(state.db.reader()).await?.ok_or(Error::NotFound)?;
    report(state, matches, &import, is_rehearsal).await?;
    match (&import.error, import.refused_count) {
        (Some(why), _) => Err(Error::internal(why.clone())),
        (None, 0) => Ok(()),
        (None, refused) => Err(Error::internal(format!("{refused} of {} rows were refused", import.rows_done))),
    }
}

/// The user of `--user`, or the operator.
async fn caller(state: &Arc<ServerState>, matches: &ArgMatches) -> Result<Principal> {
    if !matches.contains_id("user") {
        return Ok(Principal::operator());
    }
    let user = user_by_email(state, matches, "user").await?;
    let session = Principal { user_id: Some(user.id), abilities: vec!["*".to_string()], ..Principal::default() };
    revalidate(state, &session).await
}

/// Reads `Column=field`. A name of a column may contain `=`, a field cannot.
fn column_and_field(text: &str) -> Result<(String, String)> {
    match text.rsplit_once('=') {
        Some((column, field)) => Ok((column.to_string(), field.to_string())),
        None => Err(Error::invalid("map", format!("must have the form Column=field, not `{text}`"))),
    }
}

async fn report(state: &ServerState, matches: &ArgMatches, import: &Model, is_rehearsal: bool) -> Result<()> {
    let is_json = output::is_json(matches);
    let mut refused = Vec::new();
    let mut after = 0;
    loop {
        let rows = row::Entity::find()
            .filter(row::Column::ImportId.eq(import.id))
            .filter(row::Column::Outcome.eq("refused"))
            .filter(row::Column::Id.gt(after))
            .order_by_asc(row::Column::Id)
            .limit(PAGE_ROWS)
            .all(state.db.reader())
            .await?;
        let Some(last) = rows.last() else { break };
        after = last.id;
        for row in rows {
            match is_json {
                true => refused.push(json!({ "number": row.number, "errors": row.errors })),
                false => output::line(&format!("row {}: {}", row.number, problems(&row.errors)))?,
            }
        }
    }
    if is_json {
        return output::json(&json!({
            "id": import.id,
            "status": import.status,
            "rows": import.rows_done,
            "created": import.created_count,
            "changed": import.changed_count,
            "unchanged": import.unchanged_count,
            "refused": refused,
        }));
    }
    let verb = if is_rehearsal { "would be" } else { "were" };
    output::line(&format!(
        "import {}: {} rows; {} {verb} created, {} changed, {} unchanged, {} refused",
        import.id,
        import.rows_done,
        import.created_count,
        import.changed_count,
        import.unchanged_count,
        import.refused_count
    ))
}

/// `name is required; weight must be a number`
fn problems(errors: &Value) -> String {
    let fields = errors.as_object().into_iter().flatten();
    let texts = fields.map(|(field, messages)| {
        let messages = messages.as_array().into_iter().flatten().filter_map(Value::as_str);
        format!("{field} {}", messages.collect::<Vec<_>>().join(", "))
    });
    texts.collect::<Vec<_>>().join("; ")
}
