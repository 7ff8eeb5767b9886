//! Paths of an application that are no resources: their access, the abilities of their own, and the OpenAPI document, on both
//! databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use charter_runtime::server::salvo::http::StatusCode;
use charter_runtime::server::salvo::{Request, async_trait};
use charter_runtime::server::{Handler, Mount, Response, ServerState};
use charter_runtime::{App, Result};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Client, Database, Fixture, Prepared, Server, nothing, on_both};

on_both!(
    handler_runs_only_for_requests_with_access,
    ability_of_its_own_is_granted_by_token_and_role,
    groups_of_abilities_include_that_of_a_mount,
    unknown_verb_of_its_ability_is_refused,
    document_describes_paths_with_their_access,
    methods_are_its_own_with_head_and_others_are_405,
    path_that_the_document_cannot_express_prevents_the_start,
);

/// Answers with the year of its path, and counts its calls.
struct Report;

#[derive(Default)]
struct Calls(AtomicUsize);

#[async_trait]
impl Handler for Report {
    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        state.extension::<Calls>()?.0.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "year": request.param::<String>("year") });
        Ok(Response::json(StatusCode::OK, body.to_string()))
    }
}

fn year() -> Value {
    json!({ "type": "object", "properties": { "year": { "type": "string" } } })
}

/// The records service with a path for each kind of access.
struct Reports(Server);

impl Reports {
    fn app() -> App {
        charter::app()
            .with(Calls::default())
            .mount(Mount::get("reports/{year}", Report).ability("reports:read").summary("Report").returns(year))
            .mount(Mount::post("reports/{year}", Report).ability("reports:write").summary("Make a report").takes(year))
            .mount(Mount::get("years", Report).summary("Years"))
            .mount(Mount::post("callbacks/payment", Report).public().summary("Callback of payments"))
    }

    fn calls(&self) -> usize {
        self.0.state.extension::<Calls>().expect("it is added").0.load(Ordering::Relaxed)
    }

    /// A client with a token of these abilities, of a user whose role has those.
    async fn of_role(&self, role: &[&str], token: &[&str]) -> Client {
        let user = crate::rights::user_with(&self.0, role, &[]).await;
        crate::rights::token_of(&self.0, &user, token).await.0.undescribed()
    }

    async fn able(&self, ability: &str) -> Client {
        self.0.able(&[ability]).await.undescribed()
    }

    fn anonymous(&self) -> Client {
        self.0.anonymous().undescribed()
    }
}

impl Fixture for Reports {
    async fn start(database: Database) -> Reports {
        use std::sync::OnceLock;

        static SQLITE: OnceLock<Prepared> = OnceLock::new();
        static POSTGRES: OnceLock<Prepared> = OnceLock::new();
        let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
        Reports(Server::open(Reports::app(), database, template, nothing, |_| {}).await)
    }

    fn server(&self) -> &Server {
        &self.0
    }
}

async fn handler_runs_only_for_requests_with_access(reports: Reports) {
    let (anonymous, other) = (reports.anonymous(), reports.able("products:read").await);
    for path in ["~/reports/2026", "~/years"] {
        let refused = anonymous.get(path).await;
        refused.refused(401, "unauthenticated");
        assert_eq!(refused.header("www-authenticate"), Some(r#"Bearer realm="charter""#));
        reports.0.client("chr_nonsense").undescribed().get(path).await.refused(401, "invalid_token");
    }
    anonymous.post("~/reports/2026", json!({})).await.refused(401, "unauthenticated");
    let refused = other.get("~/reports/2026").await;
    refused.refused(403, "ability_missing");
    let challenge = refused.header("www-authenticate").expect("a challenge");
    assert!(challenge.contains(r#"scope="reports:read""#), "{challenge}");
    let reader = reports.able("reports:read").await;
    reader.post("~/reports/2026", json!({})).await.refused(403, "ability_missing");
    assert_eq!(reports.calls(), 0);

    assert_eq!(reader.get("~/reports/2026").await.ok(), json!({ "year": "2026" }));
    other.get("~/years").await.ok();
    anonymous.post("~/callbacks/payment", json!({})).await.ok();
    assert_eq!(reports.calls(), 3);
}

async fn ability_of_its_own_is_granted_by_token_and_role(reports: Reports) {
    let path = "~/reports/2026";
    reports.of_role(&["reports:read"], &["*"]).await.get(path).await.ok();
    reports.of_role(&["*"], &["reports:read"]).await.get(path).await.ok();
    for (role, token) in
        [(&["reports:write"], &["*"]), (&["*"], &["reports:write"]), (&["products:read"], &["reports:read"])]
    {
        let refused = reports.of_role(role, token).await.get(path).await;
        assert_eq!((refused.status, role), (403, role), "{}", refused.text);
    }
    assert_eq!(reports.calls(), 2);
    assert!(reports.0.state.catalog.abilities().contains("reports:write"));
}

async fn groups_of_abilities_include_that_of_a_mount(reports: Reports) {
    for (ability, read, write) in
        [("*", 200, 200), ("*:read", 200, 403), ("application:read", 200, 403), ("application:write", 403, 200)]
    {
        let client = reports.able(ability).await;
        let statuses =
            (client.get("~/reports/2026").await.status, client.post("~/reports/2026", json!({})).await.status);
        assert_eq!(statuses, (read, write), "{ability}");
    }
}

async fn unknown_verb_of_its_ability_is_refused(reports: Reports) {
    let admin = reports.0.admin();
    for ability in ["reports:reed", "report:read", "reports:create"] {
        let token = json!({ "name": "CI", "abilities": [ability] });
        let problem = admin.post("/tokens", token).await.invalid("abilities");
        assert!(problem.contains(ability) && problem.contains("reports:"), "{problem}");
        admin.post("/roles", json!({ "name": "CI", "abilities": [ability] })).await.invalid("abilities");
    }
}

async fn document_describes_paths_with_their_access(reports: Reports) {
    let document = reports.0.admin().get("/openapi.json").await.ok();
    let (report, years) = (&document["paths"]["/reports/{year}"], &document["paths"]["/years"]["get"]);
    let (get, post) = (&report["get"], &report["post"]);
    assert_eq!((&get["x-ability"], &post["x-ability"]), (&json!("reports:read"), &json!("reports:write")));
    assert_eq!((&get["operationId"], &get["summary"]), (&json!("get_reports_year"), &json!("Report")));
    assert_eq!(get["parameters"][0]["name"], "year");
    assert_eq!(get["responses"]["200"]["content"]["application/json"]["schema"], year());
    assert_eq!(post["requestBody"]["content"]["application/json"]["schema"], year());
    let abilities = get["security"].as_array().expect("a list").iter().map(|one| one.to_string());
    assert!(abilities.clone().count() > 0 && abilities.clone().all(|one| one.contains("reports:read")), "{get}");
    assert_eq!(years["x-ability"], Value::Null);
    assert!(years["responses"]["401"].is_object() && get["responses"]["403"].is_object());
    let callback = &document["paths"]["/callbacks/payment"]["post"];
    assert_eq!((&callback["security"], &callback["responses"]["401"]), (&json!([]), &Value::Null));
    assert!(callback["description"].as_str().is_some_and(|text| text.contains("Needs no token.")));
}

async fn methods_are_its_own_with_head_and_others_are_405(reports: Reports) {
    let reader = reports.able("reports:read").await;
    for (path, allowed) in
        [("~/years", "GET, HEAD"), ("~/reports/2026", "GET, HEAD, POST"), ("~/callbacks/payment", "POST")]
    {
        let refused = reader.delete(path).await;
        refused.refused(405, "method_not_allowed");
        assert_eq!(refused.header("allow"), Some(allowed));
    }
    assert_eq!(reports.calls(), 0);
    let head = reader.send(Method::HEAD, "~/reports/2026", None).await;
    assert_eq!((head.status, head.text.as_str(), head.header("content-type")), (200, "", Some("application/json")));
    reports.anonymous().send(Method::HEAD, "~/reports/2026", None).await.status(401);
    assert_eq!(reports.calls(), 1);
    reader.get("~/reports").await.status(404);
}

async fn path_that_the_document_cannot_express_prevents_the_start(reports: Reports) {
    for path in [
        "files/{**rest}",
        "files/{*rest}",
        "files/*",
        "reports/{year:num}",
        "reports/{year|[0-9]+}",
        "reports/{year}.csv",
        "reports/{first}-{last}",
        "reports/{}",
        "reports/{Year}",
        "reports/{year}/{year}",
        "reports//years",
        "reports/../years",
        "reports/years?all",
        "reports/years#all",
        "reports/all years",
        "/years",
        "years/",
    ] {
        let app = charter::app().with(Calls::default()).mount(Mount::get(path, Report).summary("Report"));
        let opened = app.open(reports.0.state.config.clone()).await.map(drop);
        let problem = opened.expect_err(path).to_string();
        assert!(problem.contains(&format!("the mounted path `{path}`")), "{problem}");
    }
    let app = Reports::app().mount(Mount::post("reports/{month}", Report).summary("Report"));
    let problem = app.open(reports.0.state.config.clone()).await.map(drop).expect_err("two names").to_string();
    assert!(problem.contains("`reports/{year}` and `reports/{month}` differ by a name alone"), "{problem}");
}
