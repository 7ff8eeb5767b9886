//! Features of every list: filters, order, pages, includes and saved views.

mod concurrent_writes;
mod conformance;
mod cursor;
mod custom_field_indexes;
mod custom_field_types;
mod etags;
pub(crate) mod every_list;
mod explain;
mod export;
mod export_clients;
mod filter;
mod invalid_queries;
mod limits;
mod number;
mod page;
mod plans;
mod relative;
mod response_cache;
mod search;
mod sort;
mod substrings;
mod summary;
mod summary_requests;
mod text;
mod time_of_day;
mod total;
mod total_after_changes;
mod view;

use serde_json::Value;

use crate::support::Client;

/// The ids of the specimens that these parameters find, in order.
async fn ids(client: &Client, parameters: &[(&str, &str)]) -> Vec<i64> {
    let ids = client.list("/specimens", parameters).await.column("specimens", "id");
    ids.iter().filter_map(Value::as_i64).collect()
}

/// Checks the ids that queries with one parameter find.
async fn expect(client: &Client, cases: &[(&str, &str, &[i64])]) {
    for (name, value, expected) in cases {
        assert_eq!(ids(client, &[(name, value)]).await, *expected, "{name}={value}");
    }
}
