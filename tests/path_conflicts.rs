//! Start-up checks: the paths and names that the YAML check compares paths, names and formats. Errors that inconsistent
//! resources or seed rows prevent the start.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use charter_codegen::Sources;
use charter_runtime::App;
use charter_runtime::job::Job;
use charter_runtime::ops::{self, Route, link_routes};

use crate::support::{Database, Fixture, Prepared, Server, nothing, on_both};

on_both!(
    unknown_resource_in_a_link_is_an_error_with_a_hint,
    every_served_path_is_compared_by_the_path_conflict_check,
    every_openapi_name_is_compared_by_the_conflict_check,
    all_invalid_seed_rows_are_reported_at_once
);

/// The records service with a job, which adds the last resource of the platform.
struct Service(Server);

impl Fixture for Service {
    async fn start(database: Database) -> Service {
        static SQLITE: OnceLock<Prepared> = OnceLock::new();
        static POSTGRES: OnceLock<Prepared> = OnceLock::new();
        let template = if database == Database::Sqlite { &SQLITE } else { &POSTGRES };
        let app = charter::app().job(Job::queued("rest", |_, _| Box::pin(async { Ok(()) })));
        Service(Server::open(app, database, template, nothing, |_| {}).await)
    }

    fn server(&self) -> &Server {
        &self.0
    }
}

/// `products/{}/accessories`
fn without_names(path: &str) -> String {
    let path = path.trim_start_matches("/api/v1/");
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

async fn every_served_path_is_compared_by_the_path_conflict_check(Service(server): Service) {
    let declared = charter_codegen::paths(Sources::load("resources".as_ref())).expect("the YAML is right");
    let known: BTreeSet<&str> = declared.iter().map(String::as_str).collect();
    let served: Vec<String> = ops::routes(&server.state).iter().map(|route| without_names(&route.path)).collect();
    let tops = |path: &&String| charter_codegen::platform_paths().contains(&path.split('/').next().unwrap_or_default());
    for path in served.iter().filter(|path| !tops(path)) {
        assert!(known.contains(path.as_str()), "{path}");
    }
    // Every path of the platform is served, and no other.
    let platforms: BTreeSet<&str> = served.iter().filter(tops).filter_map(|path| path.split('/').next()).collect();
    let listed: BTreeSet<&str> = charter_codegen::platform_paths().iter().copied().collect();
    assert_eq!(platforms, listed);
    for ending in ["/bulk", "/summary", "/{}/restore", "/{}/attachments", "/{}/attachments/summary"] {
        assert!(served.iter().any(|path| path.ends_with(ending) && known.contains(path.as_str())), "{ending}");
    }
}

async fn unknown_resource_in_a_link_is_an_error_with_a_hint(server: Server) {
    let catalog = &server.state.catalog;
    assert_eq!(catalog.get("product").expect("it is there").meta.plural, "products");
    let error = catalog.get("prodct").expect_err("it is not there").to_string();
    assert!(error.contains("the application has no resource `prodct`; did you mean `product`?"), "{error}");
}

async fn every_openapi_name_is_compared_by_the_conflict_check(Service(server): Service) {
    let description = server.anonymous().get("/openapi.json").await.ok();
    let mut served = BTreeSet::new();
    for name in description["components"]["schemas"].as_object().expect("schemas").keys() {
        served.insert(("schema", name.clone()));
    }
    for part in ["paths", "webhooks"] {
        let operations = description[part].as_object().expect(part).values().filter_map(|path| path.as_object());
        for operation in operations.flat_map(|path| path.values()) {
            served.insert(("operation", operation["operationId"].as_str().expect("an id").to_owned()));
        }
    }
    for tag in description["tags"].as_array().expect("tags") {
        served.insert(("tag", tag["name"].as_str().expect("a name").to_owned()));
    }
    let declared = charter_codegen::openapi_names(Sources::load("resources".as_ref())).expect("the YAML is right");
    let platforms = charter_codegen::platform_openapi_names();
    let known: BTreeSet<_> = declared.into_iter().chain(platforms).collect();
    let differ: Vec<_> = served.symmetric_difference(&known).collect();
    assert!(differ.is_empty(), "served or compared, and not both: {differ:?}");

    let entries = server.state.catalog.entries().iter();
    let plurals = entries.filter(|entry| entry.is_served()).map(|entry| entry.meta.plural);
    let reserved = charter_codegen::platform_plurals();
    assert_eq!(plurals.filter(|plural| reserved.contains(plural)).count(), reserved.len(), "{reserved:?}");
}

#[test]
fn a_default_is_a_url_where_the_server_says_so() {
    let urls = [
        "https://example.com/x",
        "HTTPS://a.b:8080/x?y#z",
        "http://u:p@[::1]:80",
        "http://10.0.0.1",
        "http://a:",
        "http://ä.example",
    ];
    let none = [
        "",
        "example.com",
        "ftp://example.com",
        "https:example.com",
        "http:///x",
        "http://:80",
        "http://a:b",
        "http://a:70000",
        "http://[x]",
        "http://?a",
        "http://10.0.0.256",
        "http://u@/x",
        "http://a/b c",
        "http://a\nb",
        " http://a",
    ];
    for text in urls.into_iter().chain(none) {
        assert_eq!(charter_codegen::is_url(text), ops::is_url(text), "{text:?}");
    }
    assert!(urls.into_iter().all(ops::is_url) && !none.into_iter().any(ops::is_url));
}

/// Valid, except for a pattern whose comment swallows the anchor that is appended to it.
mod label {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "label")]
    pub struct Model {
        pub id: i64,
        #[field(string(3), pattern = "(?x)[A-Z]{3} # three letters")]
        pub code: Option<String>,
    }
}

mod shelf {
    use charter_runtime::generated::{DateTimeUtc, Resource};

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "shelf", soft_delete)]
    pub struct Model {
        pub id: i64,
        pub deleted_at: Option<DateTimeUtc>,
    }
}

/// Conflicts with the path that restores a deleted shelf.
mod mark {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "mark", path = "restore", under(resource = "shelf", field = "shelf_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("shelf"), required)]
        pub shelf_id: i64,
    }
}

/// Conflicts with the documentation page.
mod page {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "page", path = "docs")]
    pub struct Model {
        pub id: i64,
    }
}

/// Conflicts with the panel's page that deletes a shelf.
mod removal {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "removal", path = "delete", under(resource = "shelf", field = "shelf_id"))]
    pub struct Model {
        pub id: i64,
        #[field(reference("shelf"), required)]
        pub shelf_id: i64,
    }
}

/// Has the type name of a shelf in another case, and references fields that do not exist.
mod crate_ {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "crate", type_name = "SHelf", include(name = "shelves", many = "shelf", by = "crate_id"))]
    pub struct Model {
        pub id: i64,
        #[field(string(3), exists = "shelf.code")]
        pub code: Option<String>,
    }
}

/// Allows a text predicate on an integer.
mod box_ {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "box", plural = "boxes")]
    pub struct Model {
        pub id: i64,
        #[field(integer, filter("eq", "cont"))]
        pub size: Option<i32>,
    }
}

#[test]
fn inconsistent_resources_prevent_the_start() {
    assert!(link_routes(&[Route::of::<shelf::Entity>()]).is_ok());
    let cases = [
        (vec![Route::of::<label::Entity>()], "the pattern of label.code"),
        (vec![Route::of::<shelf::Entity>(), Route::of::<mark::Entity>()], "/shelfs/{}/restore"),
        (vec![Route::of::<shelf::Entity>(), Route::of::<removal::Entity>()], "/shelfs/{}/delete"),
        (vec![Route::of::<page::Entity>()], "/docs"),
        (vec![Route::of::<box_::Entity>()], "`filter` of box.size lists `cont`"),
        (
            vec![Route::of::<shelf::Entity>(), Route::of::<crate_::Entity>()],
            "two resources have the type `SHelf`, compared case-insensitively",
        ),
        (vec![Route::of::<shelf::Entity>(), Route::of::<crate_::Entity>()], "crate refers to `shelf.crate_id`"),
        (vec![Route::of::<shelf::Entity>(), Route::of::<crate_::Entity>()], "crate refers to `shelf.code`"),
    ];
    for (routes, problem) in cases {
        let message = link_routes(&routes).expect_err(problem);
        assert!(message.contains(problem), "{message}");
    }
}

const ROWS: &str = "\
- { code: gbp, nmae: Sterling }
- { code: QAA, name: Fine, symbol: x, decimal_places: 0 }
- { code: QBB, name: Other, symbol: x, decimal_places: -1 }
";

async fn all_invalid_seed_rows_are_reported_at_once(server: Server) {
    let app = App::new::<charter::Migrator>("charter-test", charter::generated::routes()).seeds(&[("currency", ROWS)]);
    let problem = app.prepare(&server.state).await.expect_err("two rows are wrong").to_string();
    for message in ["row 1 (`gbp`)", "nmae is not a field", "row 3 (`QBB`)", "decimal_places must be"] {
        assert!(problem.contains(message), "{message}: {problem}");
    }
    assert!(!problem.contains("row 2"), "{problem}");
    assert_eq!(server.admin().get("/currencies?q[code_eq]=QAA").await.ok()["currencies"], serde_json::json!([]));
}
