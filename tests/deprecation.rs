//! Deprecated fields, filters and actions: response headers and OpenAPI document.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Specimens, on_both};

on_both!(
    request_that_uses_a_deprecated_element_gets_deprecation_headers,
    write_of_a_deprecated_field_gets_deprecation_headers,
    replayed_response_has_the_same_deprecation_headers,
    openapi_document_marks_deprecated_elements,
);

/// The field `sku`, the filter `rate_gt` and the action `weigh` of a specimen.
const FIELD: [Option<&str>; 2] = [Some("@1772323200"), Some("Mon, 01 Mar 2027 00:00:00 GMT")];
const FILTER: [Option<&str>; 2] = [Some("@1767225600"), None];
const ACTION: [Option<&str>; 2] = [Some("@1748736000"), Some("Tue, 01 Dec 2026 00:00:00 GMT")];
const NOTHING: [Option<&str>; 2] = [None, None];

fn headers(answer: &Answer) -> [Option<&str>; 2] {
    ["deprecation", "sunset"].map(|name| answer.header(name))
}

async fn request_that_uses_a_deprecated_element_gets_deprecation_headers(specimens: Specimens) {
    let admin = specimens.admin();
    for (path, expected) in [
        // Every response shows the field; that does not count as its use.
        ("/specimens", NOTHING),
        ("/specimens/1", NOTHING),
        ("/specimens?q[name_cont]=lamp&sort=-rate&fields=id,name", NOTHING),
        ("/specimens?q[sku_eq]=LMP-1", FIELD),
        ("/specimens?q[name_or_sku_cont]=lmp", FIELD),
        ("/specimens?q[sku_in][]=a&q[sku_in][]=b", FIELD),
        ("/specimens?sort=-sku", FIELD),
        ("/specimens?q[s]=name+asc,sku+desc", FIELD),
        ("/specimens?fields=id,sku", FIELD),
        ("/specimens/1?fields=sku", FIELD),
        ("/specimens?q[rate_gt]=1", FILTER),
        ("/specimens?q[rate_gteq]=1", NOTHING),
        // The earliest dates of several parts count.
        ("/specimens?q[rate_gt]=1&sort=sku", [FILTER[0], FIELD[1]]),
        ("/products?q[sku_cont]=a&sort=sku", NOTHING),
    ] {
        let answer = admin.get(path).await;
        assert_eq!((answer.status, headers(&answer)), (200, expected), "{path}");
    }
    for (action, expected) in [("weigh", ACTION), ("count", NOTHING)] {
        let answer = admin.post(&format!("/specimens/1/{action}"), json!({})).await;
        assert_eq!((answer.status, headers(&answer)), (200, expected), "{action}");
    }
    let head = admin.send(Method::HEAD, "/specimens?sort=sku", None).await;
    assert_eq!(headers(&head), FIELD);
    let refused = admin.get("/specimens?q[sku_eq]=a&page=0").await;
    assert_eq!((refused.status, headers(&refused)), (422, NOTHING), "a refused request uses nothing");
}

async fn write_of_a_deprecated_field_gets_deprecation_headers(specimens: Specimens) {
    let admin = specimens.admin();
    for (body, expected) in [
        (json!({ "name": "Lamp" }), NOTHING),
        (json!({ "name": "Lamp", "sku": "L" }), FIELD),
        (json!({ "specimen": { "sku": null } }), FIELD),
    ] {
        let answer = admin.post("/specimens", body.clone()).await;
        assert_eq!((answer.status, headers(&answer)), (201, expected), "{body}");
        for method in [Method::PUT, Method::PATCH] {
            let answer = admin.send(method, "/specimens/1", Some(body.clone())).await;
            assert_eq!((answer.status, headers(&answer)), (200, expected), "{body}");
        }
    }
    let deleted = admin.send(Method::DELETE, "/specimens/2", None).await;
    assert_eq!((deleted.status, headers(&deleted)), (204, NOTHING));
}

async fn replayed_response_has_the_same_deprecation_headers(specimens: Specimens) {
    let admin = specimens.admin().with("idempotency-key", "one");
    for replayed in [None, Some("true")] {
        let answer = admin.post("/specimens", json!({ "sku": "L" })).await;
        assert_eq!((answer.header("idempotent-replayed"), headers(&answer)), (replayed, FIELD));
    }
}

async fn openapi_document_marks_deprecated_elements(specimens: Specimens) {
    let description = specimens.admin().get("/openapi.json").await.ok();
    let deprecated = |node: &Value| {
        (node["deprecated"].as_bool().unwrap_or_default(), node["description"].as_str().unwrap_or_default().to_owned())
    };
    let field = " Deprecated since 2026-03-01. It may be removed from 2027-03-01. Use `name` instead.";
    for schema in ["Specimen", "SpecimenCreate", "SpecimenUpdate"] {
        let properties = &description["components"]["schemas"][schema]["properties"];
        let (is, text) = deprecated(&properties["sku"]);
        assert!(is && text.ends_with(field), "{schema}: {text}");
        assert!(!deprecated(&properties["name"]).0, "{schema}");
    }
    let paths = &description["paths"];
    let list = &paths["/api/v1/specimens"]["get"];
    let filters = &description["components"]["parameters"]["q_specimens"]["schema"]["properties"];
    let filter = |name: &str| deprecated(&filters[name]);
    let (is, text) = filter("rate_gt");
    assert!(is && text.ends_with(" Deprecated since 2026-01-01. Use `rate_gteq` instead."), "{text}");
    assert!(filter("sku_eq").0 && filters["rate_lt"].is_object() && !filter("rate_lt").0);
    let action = |name: &str| &paths[format!("/api/v1/specimens/{{id}}/{name}")]["post"];
    assert!(deprecated(action("weigh")).0 && !deprecated(action("count")).0);
    for (operation, status, tells) in [
        (list, "200", true),
        (&paths["/api/v1/specimens"]["post"], "201", true),
        (&paths["/api/v1/specimens/{id}"]["get"], "200", true),
        (&paths["/api/v1/specimens/{id}"]["delete"], "204", false),
        (action("weigh"), "200", true),
        (action("count"), "200", false),
        (&paths["/api/v1/products"]["get"], "200", false),
    ] {
        let headers = operation["responses"][status]["headers"].as_object().expect("headers");
        let documented = ["Deprecation", "Sunset"].map(|name| headers.contains_key(name));
        assert_eq!(documented, [tells, tells], "{}", operation["operationId"]);
    }
    let known = &description["components"]["headers"];
    assert!(known["Deprecation"].is_object() && known["Sunset"].is_object());
}
