//! The panel of a user with the seeded role Reader, who changes nothing, and of a user without roles, who sees nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use charter_runtime::catalog::Entry;
use charter_runtime::meta::Operation;
use charter_runtime::ops::routes;
use serde_json::{Value, json};

use super::crawl::Crawl;
use super::panel_posts::{Post, posts};
use super::seeded;
use crate::panel::{CookieClient, signed_in};
use crate::support::{Server, differences, dump, on_both};

on_both!(reader_changes_nothing_through_any_form_or_post_of_the_panel, user_without_roles_sees_no_record_in_the_panel,);

/// Times of last use, the lifetime of the session, and counts of records, which are compacted in the background.
const NOT_COMPARED: &[&str] =
    &["user_sessions", "tokens.last_used_at", "record_blocks", "record_changes", "record_totals"];
/// The pages of a user's own account. They show and change nothing of others.
const OWN_ACCOUNT: &[&str] = &["/panel/account", "/panel/password"];
const SIGN_OUT: &str = "/panel/sign-out";
/// A word in a name of each record.
const MARK: &str = "Zanzibar";

/// A record of each resource, by the name of the resource.
struct World(BTreeMap<&'static str, i64>);

impl World {
    async fn create(server: &Server) -> World {
        let admin = server.admin();
        let mut ids = BTreeMap::from([("currency", 1), ("settings", 1)]);
        let role = json!({ "name": format!("{MARK} clerks"), "abilities": ["application:read"] });
        let records: [(&'static str, &str, Value); 15] = [
            ("role", "/roles", role),
            ("user", "/users", json!({ "name": format!("{MARK} Bo"), "email": "zanzibar@example.com" })),
            ("token", "/tokens", json!({ "name": format!("{MARK} token"), "abilities": ["members:read"] })),
            ("product_group", "/product_groups", json!({ "name": format!("{MARK} group") })),
            ("tax_class", "/tax_classes", json!({ "name": format!("{MARK} tax") })),
            ("member", "/members", json!({ "name": format!("{MARK} Ada") })),
            ("product", "/products", json!({ "name": format!("{MARK} lamp") })),
            ("product", "/products", json!({ "name": format!("{MARK} gone") })),
            ("product", "/products", json!({ "name": format!("{MARK} stand") })),
            ("accessory", "/products/3/accessories", json!({ "accessory_product_id": 1 })),
            ("stock_level", "/stock_levels", json!({ "product_id": 3, "location": MARK })),
            (
                "exchange_rate",
                "/exchange_rates",
                json!({ "source_currency_code": "GBP", "target_currency_code": "EUR", "rate": "2", "source": MARK }),
            ),
            (
                "activity",
                "/activities",
                json!({ "subject": format!("{MARK} call"), "participants": [{ "member_id": 1 }] }),
            ),
            (
                "custom_field",
                "/custom_fields",
                json!({ "entity_type": "products", "name": "power", "label": format!("{MARK} power"), "field_type": "integer" }),
            ),
            ("webhook", "/webhooks", json!({ "url": format!("https://example.com/{MARK}"), "events": ["*"] })),
        ];
        for (name, path, body) in records {
            ids.insert(name, admin.post(path, body).await.created(name)["id"].as_i64().expect("an id"));
        }
        let view = json!({ "name": format!("{MARK} view"), "entity_type": "products", "columns": ["name"], "visibility": "system" });
        ids.insert(
            "custom_view",
            admin.post("/custom_views", view).await.created("custom_view")["id"].as_i64().expect("an id"),
        );
        admin.delete("/products/2").await.deleted();
        let member = admin.get("/members/1").await.record("member");
        let attachment = crate::routes::attachments::attach(server, &member, &format!("{MARK}.txt"), "text").await;
        ids.insert("attachment", attachment["id"].as_i64().expect("an id"));
        World(ids)
    }

    /// The id of a resource's record; an entry of a log is the first.
    fn id_of(&self, resource: &str) -> i64 {
        self.0.get(resource).copied().unwrap_or(1)
    }

    fn posts(&self, server: &Server) -> Vec<Post> {
        posts(server, |resource| self.id_of(resource))
    }
}

/// A panel with a new user of the default role, which is Reader, or of no role.
async fn panel_of(server: &Server, role: Option<&str>) -> (CookieClient, Value) {
    let admin = server.admin();
    let role = match role {
        Some(name) => seeded(server, name).await,
        None => json!(""),
    };
    admin.put("/settings", json!({ "default_role_id": role })).await.record("settings");
    let user = admin.post("/users", json!({ "name": "Ann", "email": "ann@example.com" })).await.created("user");
    (signed_in(server, &user).await, user)
}

fn is_own(action: &str) -> bool {
    action == SIGN_OUT || OWN_ACCOUNT.iter().any(|own| action.starts_with(own))
}

async fn reader_changes_nothing_through_any_form_or_post_of_the_panel(server: Server) {
    let world = World::create(&server).await;
    let (mut panel, user) = panel_of(&server, Some("Reader")).await;
    let before = dump(&server, NOT_COMPARED).await;
    let crawl = Crawl::of(&mut panel).await;
    for page in ["/products/", "/members/1", "/activities/1", "/stock_levels/1", "/custom_views/1", "/panel/account"] {
        assert!(crawl.pages.keys().any(|path| path.starts_with(page)), "{page} is not among {:?}", crawl.pages.keys());
    }
    // No form is offered that could only be refused.
    let offered = |action: &str| action == "/panel/theme" || is_own(action);
    let others: Vec<_> = crawl.forms.iter().filter(|form| !offered(&form.action)).collect();
    assert!(others.is_empty(), "{others:?}");
    for form in crawl.forms.iter().filter(|form| !is_own(&form.action)) {
        assert!(form.submit(&mut panel).await < 500, "{form:?}");
    }
    // The forms that are not offered.
    let (mut answers, token) = (String::new(), panel.token().await);
    for mut post in world.posts(&server) {
        post.form.fields.push(("_token".into(), token.clone()));
        let status = post.form.submit(&mut panel).await;
        if status >= 500 || status == 401 {
            writeln!(answers, "{status} {post:?}").expect("text grows");
        }
    }
    for action in ["/panel/account/tokens/1/revoke", "/panel/account/sessions/1/end"] {
        assert!([303, 403, 404].contains(&panel.submit(action, &[]).await.status), "{action}");
    }
    assert!(answers.is_empty(), "{answers}");
    // The API as the panel's scripts use it.
    for route in routes(&server.state).iter().filter(|route| route.method != "GET") {
        let path = route.path.strip_prefix("/api/v1").expect("a path of the API");
        let path = path.replace("{id}", &world.id_of(route.resource).to_string()).replace("{product_id}", "3");
        let operation = json!({ "method": "delete", "id": world.id_of(route.resource) });
        let body =
            (route.method != "DELETE").then(|| json!({ "name": "Changed", "operations": [operation] }).to_string());
        let status = panel.call(route.method, &path, body).await.status;
        assert!([403, 404].contains(&status), "{} {path}: {status}", route.method);
    }
    let changed = differences(&before, &dump(&server, NOT_COMPARED).await);
    assert!(changed.is_empty(), "{changed:#?}");
    own_account_changes_own_rows_only(&server, &mut panel, &crawl, &user).await;
    posts_of_an_administrator_change_records(&server, &world).await;
}

/// A Reader may change the own name and password. The last form signs out.
async fn own_account_changes_own_rows_only(server: &Server, panel: &mut CookieClient, crawl: &Crawl, user: &Value) {
    let without =
        [NOT_COMPARED, &["events", "audit_entries", "table_versions", "user_passwords", "user_networks"]].concat();
    let before = dump(server, &without).await;
    let own = crawl.forms.iter().filter(|form| is_own(&form.action));
    let (last, first): (Vec<_>, Vec<_>) = own.partition(|form| form.action == SIGN_OUT);
    let actions: BTreeSet<&str> = first.iter().map(|form| form.action.as_str()).collect();
    assert!(actions.is_superset(&BTreeSet::from(["/panel/account", "/panel/password"])), "{actions:?}");
    for form in first.into_iter().chain(last) {
        let (mut form, token) = (form.clone(), panel.token().await);
        // A new password begins another session, with another token.
        form.fields.iter_mut().filter(|(name, _)| name == "_token").for_each(|(_, value)| value.clone_from(&token));
        assert!(form.submit(panel).await < 500, "{form:?}");
    }
    assert_eq!(panel.get("/").await.status, 303, "signed out");
    let changed = differences(&before, &dump(server, &without).await);
    let own = [format!("id={} ", user["id"]), format!("\"id\": {},", user["id"])];
    let is_own = |line: &&String| line[2..].starts_with("users: ") && own.iter().any(|own| line.contains(own));
    let others: Vec<_> = changed.iter().filter(|line| !is_own(line)).collect();
    assert!(others.is_empty() && changed.len() == 2, "{changed:#?}");
}

/// The POSTs are well-formed: those of an administrator have an effect.
async fn posts_of_an_administrator_change_records(server: &Server, world: &World) {
    let mut panel = signed_in(server, &json!({ "id": 1 })).await;
    let token = panel.token().await;
    let mut effective = BTreeSet::new();
    let mut before = dump(server, NOT_COMPARED).await;
    let expected = [
        &["update", "create", "delete"][..],
        &["save view", "bulk apply", "bulk apply-delete", "restore", "complete", "delete attachment"],
    ];
    for mut post in world.posts(server).into_iter().filter(|post| expected.concat().contains(&post.operation.as_str()))
    {
        post.form.fields.push(("_token".into(), token.clone()));
        post.form.submit(&mut panel).await;
        let after = dump(server, NOT_COMPARED).await;
        if after != before {
            effective.insert((post.resource, post.operation));
        }
        before = after;
    }
    let writes = [Operation::Create, Operation::Update, Operation::Delete];
    let is_written =
        |entry: &&Entry| !entry.receives_file() && entry.meta.operations.iter().any(|one| writes.contains(one));
    let has_effect = |entry: &&Entry| {
        let done = |name: &str| effective.contains(&(entry.meta.name, name.to_string()));
        ["update", "create", "delete", "bulk apply-delete"].into_iter().any(done)
    };
    let entries = server.state.catalog.entries().iter().filter(is_written);
    let without: Vec<&str> =
        entries.filter(|entry| entry.is_served() && !has_effect(entry)).map(|entry| entry.meta.name).collect();
    assert!(without.is_empty(), "{without:?}; effective were {effective:?}");
    for operation in expected[1] {
        assert!(effective.iter().any(|(_, done)| done == operation), "{operation}: {effective:?}");
    }
}

async fn user_without_roles_sees_no_record_in_the_panel(server: Server) {
    let world = World::create(&server).await;
    let (mut panel, _) = panel_of(&server, None).await;
    let crawl = Crawl::of(&mut panel).await;
    assert!(crawl.pages.contains_key("/panel/account"), "{:?}", crawl.pages.keys());
    let mut shown: Vec<&str> =
        crawl.pages.iter().filter(|(_, text)| text.contains(MARK)).map(|(path, _)| path.as_str()).collect();
    let mut paths = Vec::new();
    for entry in server.state.catalog.entries() {
        let meta = entry.meta;
        let path = match meta.under {
            Some(under) => format!("/{}s/{}/{}", under.resource, world.id_of(under.resource), meta.path),
            None => format!("/{}", meta.path),
        };
        let id = world.id_of(meta.name);
        paths.extend([format!("{path}/{id}"), format!("{path}/{id}/edit"), format!("{path}/{id}/history")]);
        paths.extend([
            format!("{path}/new"),
            format!("{path}?deleted=only"),
            format!("/panel/titles/{}?q={MARK}", meta.plural),
            path,
        ]);
    }
    for path in &paths {
        let page = panel.get(path).await;
        assert!(page.status < 500, "{path}: {}", page.text);
        // The form of the theme repeats the address of the page.
        if page.text.replace(&format!("q={MARK}"), "").contains(MARK) {
            shown.push(path);
        }
    }
    assert!(shown.is_empty(), "{shown:?}");
    for route in routes(&server.state).iter().filter(|route| route.method == "GET") {
        let path = route.path.strip_prefix("/api/v1").expect("a path of the API");
        let path = path.replace("{id}", &world.id_of(route.resource).to_string()).replace("{product_id}", "3");
        let page = panel.call("GET", &path, None).await;
        assert_eq!(page.status, 403, "{path}: {}", page.text);
    }
}
