//! Calls through a proxy that loses connections and refuses requests: each write is carried out once.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use charter_codegen::client::Language;
use serde_json::Value;

use crate::support::{Exchange, FaultProxy, Server, TypedClient, on_both};

/// The calls of the script.
const CREATES: usize = 100;

async fn writes_exactly_once(server: Server, language: Language) {
    let proxy = FaultProxy::to(server.address).await;
    let client = TypedClient::of(&server, language, &["support", "faults"]).await;
    client.run("faults", &proxy.url(), &[&CREATES.to_string()]).await;

    let list = server.admin().get("/product_groups?per_page=100").await.ok();
    let names: Vec<&str> = records(&list).iter().map(|record| record["name"].as_str().expect("a name")).collect();
    let distinct: HashSet<&&str> = names.iter().collect();
    assert_eq!((names.len(), distinct.len()), (CREATES, CREATES), "{names:?}");
    // The script deleted its members, although the response to each deletion was lost.
    assert_eq!(server.admin().get("/members").await.ok()["meta"]["total"], 0);

    let attempts = proxy.attempts();
    let mut counts: HashMap<Exchange, usize> = HashMap::new();
    attempts.iter().for_each(|attempt| *counts.entry(attempt.exchange).or_default() += 1);
    for exchange in [
        Exchange::LostBefore,
        Exchange::LostAfter,
        Exchange::LostWithin,
        Exchange::RateLimited,
        Exchange::Unavailable,
        Exchange::Passed,
    ] {
        assert!(counts.get(&exchange).is_some_and(|count| *count >= 10), "{exchange:?}: {counts:?}");
    }
    for (at, limited) in attempts.iter().enumerate().filter(|(_, attempt)| attempt.exchange == Exchange::RateLimited) {
        let next = attempts[at + 1..].iter().find(|attempt| attempt.request == limited.request);
        let pause = next.expect("it is sent again").at - limited.at;
        assert!(pause >= Duration::from_millis(990), "sent again after {pause:?}, before `Retry-After` had passed");
    }
}

fn records(list: &Value) -> &[Value] {
    list["product_groups"].as_array().expect("a list")
}

async fn typescript_client_writes_exactly_once(server: Server) {
    writes_exactly_once(server, Language::TypeScript).await;
}

async fn python_client_writes_exactly_once(server: Server) {
    writes_exactly_once(server, Language::Python).await;
}

on_both!(clients: typescript_client_writes_exactly_once, python_client_writes_exactly_once);
