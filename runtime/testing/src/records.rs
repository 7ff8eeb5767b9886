//! Records that a test creates without HTTP.

use std::sync::Arc;

use charter_runtime::ops::{self, Body, Context, State, Transaction};
use charter_runtime::principal::Principal;
use serde_json::Value;

/// Creates a record with the rights of the operator, and returns it as the API does. Hooks run and events are written.
///
/// # Panics
/// If the resource does not exist, or if a field is invalid.
pub async fn create(state: &Arc<State>, resource: &str, fields: &Value) -> Value {
    let operator = Principal::operator();
    let context = Context::new(state, &operator, state.db.reader());
    let bytes = fields.to_string();
    let body = Body::read(bytes.as_bytes(), None).expect("the fields are an object");
    let entry = state.catalog.get(resource).unwrap_or_else(|error| panic!("{resource}: {error}"));
    let transaction = Transaction::begin(state).await.expect("a transaction begins");
    let created = ops::create(&context.in_transaction(&transaction), entry, &body, None).await;
    let created = created.expect("the record is created");
    transaction.commit(&context).await.expect("the record is committed");
    let record: Value = serde_json::from_slice(&created.body).expect("the record is JSON");
    record[resource].clone()
}
