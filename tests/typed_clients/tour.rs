//! Every operation of the document, called by a script in each language.

use charter_codegen::client::Language;
use charter_runtime::webhook::UrlPolicy;

use crate::support::{Receiver, Server, TypedClient, on_both};

/// The script counts its requests, and fails if it never sent one of the operations of the document.
async fn calls_every_operation(server: Server, language: Language) {
    let networks = vec!["127.0.0.0/8".parse().expect("a network")];
    let policy = UrlPolicy { allow_http: true, networks };
    let server = server.configured(|config| config.webhook_policy = policy).await;
    let receiver = Receiver::answering(200).await;
    let client = TypedClient::of(&server, language, &["support", "tour"]).await;
    let out = client.run("tour", &server.url(), &[&receiver.url()]).await;
    let count: usize = out.trim().parse().expect("the number of the operations");
    assert!(count > 100, "{count} operations");
}

async fn typescript_client_calls_every_operation(server: Server) {
    calls_every_operation(server, Language::TypeScript).await;
}

async fn python_client_calls_every_operation(server: Server) {
    calls_every_operation(server, Language::Python).await;
}

on_both!(clients: typescript_client_calls_every_operation, python_client_calls_every_operation);
