//! `?explain=1`: the query plan of a list instead of its records.
//!
//! The response contains no values of the request or the database: statements have placeholders, and a plan shows only
//! the kinds of its steps, tables, indexes, estimates and costs.

use serde_json::{Value, json};

use super::select::Statement;
use crate::db::{Dialect, Sql};
use crate::error::{Error, Result};
use crate::ops::Context;
use crate::query::{Condition, Plan, describe, target_name};

/// Media type of the response, which differs from that of a page.
pub const MEDIA_TYPE: &str = "application/vnd.charter.plan+json";

/// Returns `{"plan": {"conditions", "order", "statements": [{"reads", "sql", "values", "steps", "indexes", "cost"}]}}`.
///
/// # Errors
/// When the database fails.
pub async fn explain(
    context: &Context<'_>,
    condition: &Condition,
    order: Vec<String>,
    planned: Vec<Statement>,
) -> Result<Vec<u8>> {
    let mut statements = Vec::new();
    for Statement { reads, sql } in planned {
        let (text, values) = (sql.text.clone(), sql.values.len());
        let mut statement = explain_statement(context, sql).await?;
        statement["reads"] = json!(reads);
        statement["sql"] = json!(text);
        statement["values"] = json!(values);
        statements.push(statement);
    }
    let plan = json!({ "plan": { "conditions": describe(condition), "order": order, "statements": statements } });
    serde_json::to_vec(&plan).map_err(Error::internal)
}

/// The sort keys of a list, which end in the id.
pub fn order(plan: &Plan) -> Vec<String> {
    let order = plan.order.iter().map(|key| {
        let sign = if key.descending { "-" } else { "" };
        let name = target_name(&key.target);
        match key.prefix {
            Some(_) => format!("prefix of {name}"),
            None => format!("{sign}{name}"),
        }
    });
    let mut order: Vec<String> = order.collect();
    if order.iter().all(|key| key.trim_start_matches('-') != "id") {
        order.push("id".into());
    }
    order
}

/// The database's plan of a statement.
async fn explain_statement(context: &Context<'_>, mut sql: Sql) -> Result<Value> {
    let (mut steps, mut indexes) = (Vec::new(), Vec::new());
    let mut cost = Value::Null;
    match sql.dialect {
        Dialect::Postgres => {
            sql.text.insert_str(0, "EXPLAIN (FORMAT JSON) ");
            if let Some(row) = sql.one(context.db()).await? {
                let explained: Value = row.try_get_by_index(0)?;
                let root = &explained[0]["Plan"];
                cost = root["Total Cost"].clone();
                add_steps(root, 0, &mut steps, &mut indexes);
            }
        }
        Dialect::Sqlite => {
            sql.text.insert_str(0, "EXPLAIN QUERY PLAN ");
            let mut depths: Vec<(i64, usize)> = Vec::new();
            for row in sql.all(context.db()).await? {
                let (id, parent): (i64, i64) = (row.try_get("", "id")?, row.try_get("", "parent")?);
                let detail: String = row.try_get("", "detail")?;
                let depth = depths.iter().find(|(id, _)| *id == parent).map_or(0, |(_, depth)| depth + 1);
                depths.push((id, depth));
                // `SEARCH t USING INDEX name (...)`, and `SCAN name VIRTUAL TABLE INDEX 0:M2`.
                let index = match detail.split_once(" VIRTUAL TABLE INDEX ") {
                    Some((before, _)) => before.rsplit(' ').next(),
                    None => detail.split_once("INDEX ").and_then(|(_, rest)| rest.split(' ').next()),
                };
                indexes.extend(index.map(String::from));
                steps.push(json!({ "depth": depth, "step": detail }));
            }
        }
    }
    indexes.sort_unstable();
    indexes.dedup();
    Ok(json!({ "steps": steps, "indexes": indexes, "cost": cost }))
}

/// Adds a node of PostgreSQL's plan and its children. Its conditions are omitted: they contain values.
fn add_steps(node: &Value, depth: usize, steps: &mut Vec<Value>, indexes: &mut Vec<String>) {
    let index = node["Index Name"].as_str();
    indexes.extend(index.map(String::from));
    steps.push(json!({
        "depth": depth,
        "step": node["Node Type"],
        "table": node["Relation Name"],
        "index": index,
        "rows": node["Plan Rows"],
        "cost": node["Total Cost"],
    }));
    for child in node["Plans"].as_array().into_iter().flatten() {
        add_steps(child, depth + 1, steps, indexes);
    }
}
