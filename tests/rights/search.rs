//! Rights in a search: resources that the role may list, and fields that it may read.

use charter_runtime::principal::Principal;
use charter_runtime::query::search_fields;
use serde_json::{Value, json};

use super::{client_of, user_with};
use crate::query::every_list::{List, Maker, lists};
use crate::support::{Gadgets, Server, on_both};

on_both!(
    search_finds_only_records_of_resources_that_the_role_may_list,
    field_that_the_caller_may_not_read_is_not_searched,
);

async fn search_finds_only_records_of_resources_that_the_role_may_list(server: Server) {
    let mut maker = Maker::new(&server);
    let lists = lists(&mut maker).await;
    let nobody = client_of(&server, &user_with(&server, &[], &[]).await).await;
    let (mut found, admin) = (0, server.admin());
    for List { entry, path } in lists {
        let meta = entry.meta;
        let Some(field) = search_fields(entry, &Principal::operator()).first().copied() else { continue };
        let record = admin.get(&path).await.records(meta.plural).first().cloned();
        let text = record.as_ref().and_then(|record| record[field.name].as_str()).filter(|text| text.len() > 1);
        let Some(text) = text.filter(|_| !entry.is_attached()) else { continue };
        let abilities = [format!("{}:read", meta.ability)];
        let abilities: Vec<&str> = abilities.iter().map(String::as_str).collect();
        let permissions: Vec<&str> = meta.read_permission.into_iter().collect();
        let client = client_of(&server, &user_with(&server, &abilities, &permissions).await).await;
        let own = client.list("/search", &[("q", text), ("resources", meta.plural), ("limit", "50")]).await.ok();
        let own = own["data"].as_array().expect("records").len();
        found += own;
        let everywhere = client.list("/search", &[("q", text), ("limit", "50")]).await.ok();
        for one in everywhere["data"].as_array().expect("records") {
            let other = server.state.catalog.by_plural(one["resource"].as_str().expect("a name")).expect("a resource");
            assert_eq!(other.meta.ability, meta.ability, "{one}");
        }
        nobody.list("/search", &[("q", text), ("resources", meta.plural)]).await.invalid("resources");
        let nothing = nobody.list("/search", &[("q", text)]).await.ok();
        assert_eq!(nothing["data"], Value::Array(Vec::new()), "{path}");
    }
    assert!(found >= 10, "{found}");
}

async fn field_that_the_caller_may_not_read_is_not_searched(server: Gadgets) {
    let admin = server.admin();
    let gadget = json!({ "name": "Clock", "supplier": "Mirror Ltd" });
    admin.post("/gadgets", gadget).await.created("gadget");
    let (_, viewer) = server.user(&["costs.view"], &["*"]).await;
    let (_, other) = server.user(&[], &["*"]).await;
    // Twice, because a cached page must not leak to another caller.
    for _ in 0..2 {
        for (client, text, count) in
            [(&viewer, "mirror", 1), (&other, "mirror", 0), (&other, "clock", 1), (&other, "clock mirror", 0)]
        {
            let found = client.list("/gadgets", &[("search", text)]).await;
            assert_eq!(found.ok()["meta"]["total"], count, "{text}");
            let everywhere = client.list("/search", &[("q", text), ("resources", "gadgets")]).await.ok();
            assert_eq!(everywhere["data"].as_array().map(Vec::len), Some(count), "{text}: {everywhere}");
            assert!(count == 1 && text == "mirror" || !everywhere.to_string().contains("Mirror"), "{everywhere}");
        }
    }
}
