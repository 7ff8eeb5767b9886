//! The paths that belong to no resource and need no token: the description itself, and whether the service is well.

use serde_json::{Value, json};

use super::node::Node;
use super::{PATH, problem};

/// The tag of these operations.
pub const TAG: &str = "Service";

/// Each path with its `GET`.
pub fn operations() -> [(&'static str, Node); 4] {
    let open = |id: &str, summary: &str, description: &str, errors: &[u16], example: Value| {
        let schema = json!({ "type": "object", "description": description });
        let content = json!({ "application/json": { "schema": schema, "example": example } });
        let mut responses = Node::object().with("200", json!({ "description": summary, "content": content }));
        problem::add(&mut responses, errors);
        let operation = Node::object()
            .with("operationId", id)
            .with("tags", [TAG])
            .with("summary", summary)
            .with("description", format!("{description} Needs no token."))
            .with("security", Vec::<Node>::new());
        (operation, responses)
    };
    let (described, answers) = open(
        "describe_api",
        "The description",
        "This OpenAPI description.",
        &[405, 500, 503],
        json!({ "openapi": "3.1.0", "info": { "title": "API", "version": "1" }, "paths": {} }),
    );
    let earlier = json!([{
        "name": "If-None-Match",
        "in": "header",
        "description": "The `ETag` of an earlier answer: 304 when nothing has changed since.",
        "schema": { "type": "string" },
        "example": "\"0123456789abcdef\"",
    }]);
    let answers = answers.with("304", json!({ "description": "It has not changed." }));
    let described = described.with("parameters", earlier).with("responses", answers);
    let (live, live_answers) = open(
        "health_live",
        "Whether the process runs",
        "Answers while the process runs.",
        &[405, 500, 503],
        json!({ "status": "live" }),
    );
    let (ready, ready_answers) = open(
        "health_ready",
        "Whether the service is ready",
        "Answers while the database does, else 503.",
        &[405, 500, 503],
        json!({ "status": "ready" }),
    );
    let (metrics, figures) = open(
        "health_metrics",
        "Figures on deliveries",
        "Answers figures on the deliveries of webhooks, in the text format of Prometheus.",
        &[405, 500, 503],
        Value::Null,
    );
    let text = json!({ "type": "string", "description": "One figure a line." });
    let content = json!({ "text/plain": { "schema": text, "example": "charter_webhook_due 0\n" } });
    let figures = figures.with("200", json!({ "description": "The figures.", "content": content }));
    [
        (PATH, described),
        ("/health/live", live.with("responses", live_answers)),
        ("/health/ready", ready.with("responses", ready_answers)),
        ("/health/metrics", metrics.with("responses", figures)),
    ]
}
