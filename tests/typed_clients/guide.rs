//! The samples of `docs/typed-clients.md`, compiled and run as one script in each language.

use charter_codegen::client::Language;

use crate::support::{Server, TypedClient, on_both};

const PAGE: &str = include_str!("../../docs/typed-clients.md");

/// The samples in a language, one after the other.
fn samples(name: &str) -> String {
    let mark = format!("<!-- run: {name} -->\n```");
    let blocks = PAGE.split(&mark).skip(1).map(|rest| {
        let code = rest.split_once('\n').expect("a block").1;
        code.split("```").next().expect("the block ends")
    });
    blocks.collect::<Vec<_>>().join("\n")
}

async fn samples_run(server: Server, language: Language, name: &str) {
    let samples = samples(name);
    assert!(samples.matches("import ").count() >= 4, "{samples}");
    let client = TypedClient::of(&server, language, &[]).await;
    let out = client.run_text("guide", &samples, &server.url()).await;
    assert!(out.contains("Lamp") && out.contains("must not be blank"), "{out}");
    let products = server.admin().get("/products").await.ok();
    assert_eq!((&products["meta"]["total"], &products["products"][0]["name"]), (&1.into(), &"Desk lamp".into()));
}

async fn typescript_samples_of_the_guide_run(server: Server) {
    samples_run(server, Language::TypeScript, "typescript").await;
}

async fn python_samples_of_the_guide_run(server: Server) {
    samples_run(server, Language::Python, "python").await;
}

on_both!(clients: typescript_samples_of_the_guide_run, python_samples_of_the_guide_run);
