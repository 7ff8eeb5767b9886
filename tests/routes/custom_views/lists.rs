//! `view_id` on every list of the service: the routes say which there are, so that no list escapes.

use charter_runtime::meta::{Kind, Shown};
use serde_json::json;

use crate::support::{Server, keys, lists, on_both};

on_both!(every_list_takes_a_view,);

async fn every_list_takes_a_view(server: Server) {
    let admin = server.admin();
    let lists = lists(&server).await;
    assert!(lists.len() > 13, "{lists:?}");
    let mut filled = 0;
    for (path, resource) in lists {
        let meta = server.state.catalog.get(resource).meta;
        let shown = |kind: Kind| !matches!(kind, Kind::CustomFields | Kind::Embedded { .. });
        let column = meta.fields.iter().find(|f| f.name != "id" && f.shown == Shown::Always && shown(f.kind));
        let column = column.expect("a list shows something").name;
        let view = async |predicate: &str| {
            let filter = json!({ "field": "id", "predicate": predicate, "value": 0 });
            let body = json!({ "name": "All", "entity_type": meta.plural, "columns": [column], "per_page": 3,
                "sort_column": "id", "sort_direction": "desc", "filters": [filter] });
            admin.post("/custom_views", body).await.created("custom_view")["id"].clone()
        };
        let (all, none) = (view("gt").await, view("lt").await);
        let total = admin.get(&path).await.ok()["meta"]["total"].clone();
        let body = admin.get(&format!("{path}?view_id={all}")).await.ok();
        let expected = json!({ "total": total, "per_page": 3, "page": 1, "view": { "id": all, "name": "All" } });
        assert_eq!(body["meta"], expected, "{path}");
        let records = body[meta.plural].as_array().expect("a list");
        for record in records {
            let mut fields = vec!["id", column];
            fields.sort_unstable();
            assert_eq!(keys(record), fields, "{path}");
            filled += 1;
        }
        let ids: Vec<i64> = records.iter().filter_map(|record| record["id"].as_i64()).collect();
        assert!(ids.is_sorted_by(|one, other| one > other), "{path}: {ids:?}");
        let body = admin.get(&format!("{path}?view_id={none}")).await.ok();
        assert_eq!(body["meta"]["total"], 0, "{path}");
        admin.get(&format!("{path}?view_id=999999")).await.invalid("view_id");
        let elsewhere = json!({ "name": "x", "entity_type": if resource == "role" { "users" } else { "roles" }, "columns": ["id"] });
        let elsewhere = admin.post("/custom_views", elsewhere).await.created("custom_view")["id"].clone();
        admin.get(&format!("{path}?view_id={elsewhere}")).await.invalid("view_id");
    }
    assert!(filled > 5, "{filled} records were shown by a view");
}
