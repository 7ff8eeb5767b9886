//! Pages of imports: upload, mapping, report, run and undo, without a script.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CookieClient, signed_in};
use crate::routes::attachments::{Form, content_type};
use crate::support::{Server, on_both};

on_both!(
    file_is_uploaded_mapped_rehearsed_run_and_undone,
    refused_file_and_mapping_are_explained,
    upload_needs_the_token_of_the_session,
    import_is_offered_to_those_who_may_create,
    buttons_of_the_page_send_the_mapping_that_it_shows,
    file_that_the_panel_exported_is_understood_in_its_language,
    import_is_deleted_only_after_a_page_that_asks,
);

/// The page to which a redirect leads.
async fn followed(panel: &mut CookieClient, page: super::cookie_client::Page) -> (String, String) {
    let path = page.status(303).header("location").to_string();
    let text = panel.get(&path).await.status(200).text.clone();
    (path, text)
}

async fn upload(panel: &mut CookieClient, entity_type: &str, text: &str) -> super::cookie_client::Page {
    let token = panel.token().await;
    let form = Form::default().field("entity_type", entity_type).file("articles.csv", text.as_bytes());
    panel.post_bytes(&format!("/imports?_token={token}"), &content_type(), form.bytes()).await
}

/// The page once no worker has work. An active page reloads itself.
async fn settled(panel: &mut CookieClient, path: &str) -> String {
    for _ in 0..500 {
        let page = panel.get(path).await;
        if page.header("refresh").is_empty() {
            return page.status(200).text.clone();
        }
        page.says("in progress");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{path} is still at work");
}

fn count(page: &str, name: &str) -> String {
    let rest = page.split(&format!("data-count=\"{name}\">")).nth(1).unwrap_or_default();
    rest.split('<').next().unwrap_or_default().to_string()
}

async fn file_is_uploaded_mapped_rehearsed_run_and_undone(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    panel.get("/products").await.says("/imports/new?entity_type=products");
    panel.get("/imports/new?entity_type=products").await.says("<option value=\"products\" selected>Products</option>");
    let sent = upload(&mut panel, "products", "Name,Code,Weight\nLamp,L1,1\nDesk,D1,heavy\n").await;
    let (path, page) = followed(&mut panel, sent).await;
    assert!(page.contains("Column of the file") && page.contains("articles.csv"), "{page}");
    let plan = [("column.0", "name"), ("column.1", "sku"), ("column.2", "weight"), ("match_by", "sku")];
    let saved = panel.submit(&format!("{path}/mapping"), &plan).await;
    followed(&mut panel, saved).await;
    panel.submit(&format!("{path}/rehearse"), &[]).await.status(303);
    let page = settled(&mut panel, &path).await;
    assert_eq!((count(&page, "created_count"), count(&page, "refused_count")), ("1".into(), "1".into()), "{page}");
    assert!(page.contains("Would be created") && page.contains("Weight must be a number"), "{page}");
    assert_eq!(server.admin().get("/products").await.ok()["meta"]["total"], 0);
    panel.get(&format!("{path}/run")).await.says("Records are created and changed.");
    panel.submit(&format!("{path}/run"), &[]).await.status(303);
    let page = settled(&mut panel, &path).await;
    assert!(page.contains("<dd>Done</dd>") && !page.contains("Column of the file"), "{page}");
    assert_eq!(server.admin().get("/products").await.column("products", "sku"), ["L1"]);
    panel.submit(&format!("{path}/undo"), &[]).await.status(303);
    let page = settled(&mut panel, &path).await;
    assert_eq!((count(&page, "undone_count"), count(&page, "left_count")), ("1".into(), "0".into()), "{page}");
    assert_eq!(server.admin().get("/products").await.ok()["meta"]["total"], 0);
    panel.get(&format!("{path}/rows")).await.says("Refused");
}

async fn refused_file_and_mapping_are_explained(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    upload(&mut panel, "products", "a,a\n1,2\n").await.status(422).says("two columns that are called a");
    let sent = upload(&mut panel, "products", "A,B\n1,2\n").await;
    let (path, _) = followed(&mut panel, sent).await;
    panel.submit(&format!("{path}/rehearse"), &[]).await.says("maps no column to a field");
    let twice = [("column.0", "name"), ("column.1", "name"), ("match_by", "")];
    panel.submit(&format!("{path}/mapping"), &twice).await.status(422).says("maps two columns to `name`");
    panel.submit(&format!("{path}/mapping"), &[("column.0", "name")]).await.status(400);
}

async fn upload_needs_the_token_of_the_session(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    let form = || Form::default().field("entity_type", "products").file("x.csv", b"name\nLamp\n").bytes();
    panel.post_bytes("/imports", &content_type(), form()).await.status(409);
    panel.post_bytes("/imports?_token=x", &content_type(), form()).await.status(409);
    let token = panel.token().await;
    let mut stranger = panel.with("sec-fetch-site", Some("cross-site"));
    stranger.post_bytes(&format!("/imports?_token={token}"), &content_type(), form()).await.status(409);
    assert_eq!(server.admin().get("/imports").await.ok()["meta"]["total"], 0);
}

async fn import_is_offered_to_those_who_may_create(server: Server) {
    let abilities = ["products:read", "imports:read", "imports:write"];
    let reader = crate::rights::user_with(&server, &abilities, &[]).await;
    let mut panel = signed_in(&server, &reader).await;
    assert!(!panel.get("/products").await.text.contains("/imports/new"));
    let writer = crate::rights::user_with(&server, &["products:read", "products:write"], &[]).await;
    let mut panel = signed_in(&server, &writer).await;
    assert!(!panel.get("/products").await.text.contains("/imports/new"));
    panel.get("/imports/new").await.status(403);
}

async fn buttons_of_the_page_send_the_mapping_that_it_shows(server: Server) {
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    let sent = upload(&mut panel, "products", "Name,Number,On\nTrap,IMP-901,false\n").await;
    let (path, page) = followed(&mut panel, sent).await;
    for action in ["rehearse", "run"] {
        assert!(page.contains(&format!("<button form=\"mapping\" name=\"_next\" value=\"{action}\">")), "{page}");
        assert!(!page.contains(&format!("action=\"{path}/{action}\"")), "{page}");
    }
    assert!(page.contains("id=\"mapping\"") && page.contains("data-form"), "{page}");
    assert!(page.contains("data-ignored>Number, On<"), "{page}");
    let plan = [("column.0", "name"), ("column.1", "sku"), ("column.2", "is_active"), ("match_by", "")];
    let rehearsed = panel.submit(&format!("{path}/mapping"), &[&plan[..], &[("_next", "rehearse")]].concat()).await;
    assert_eq!(rehearsed.status(303).header("location"), path);
    let page = settled(&mut panel, &path).await;
    assert_eq!(count(&page, "created_count"), "1", "{page}");
    assert!(page.contains("<option value=\"sku\" selected>SKU</option>") && !page.contains("data-ignored"), "{page}");
    // A question comes before the run, which follows the mapping that was on the page.
    let plan = [("column.0", "name"), ("column.1", "barcode"), ("column.2", "is_active"), ("match_by", "")];
    let asked = panel.submit(&format!("{path}/mapping"), &[&plan[..], &[("_next", "run")]].concat()).await;
    assert_eq!(asked.status(303).header("location"), format!("{path}/run"));
    panel
        .get(&format!("{path}/run"))
        .await
        .status(200)
        .says(">articles.csv</a>")
        .says("Records are created and changed.");
    panel.submit(&format!("{path}/run"), &[]).await.status(303);
    settled(&mut panel, &path).await;
    let product = server.admin().get("/products/1").await.record("product");
    assert_eq!((&product["sku"], &product["barcode"]), (&Value::Null, &"IMP-901".into()));
    assert_eq!(product["is_active"], false);
}

async fn file_that_the_panel_exported_is_understood_in_its_language(server: Server) {
    let client = server.admin();
    client.post("/product_groups", json!({ "name": "Light" })).await.created("product_group");
    let product = json!({
        "name": "Lamp", "product_type": "loss_and_damage", "is_active": false, "stock_method": 2, "product_group_id": 1,
    });
    client.post("/products", product).await.created("product");
    for language in ["en", "de"] {
        let mut panel = signed_in(&server, &json!({ "id": 1 })).await.with("accept-language", Some(language));
        let columns = "id,name,product_type,is_active,stock_method,product_group_name,sku";
        let file = panel.get(&format!("/products/export?columns={columns}&format=csv&values=labels")).await;
        let sent = upload(&mut panel, "products", &file.status(200).text).await;
        let (path, page) = followed(&mut panel, sent).await;
        assert!(!page.contains("data-ignored"), "{language} {}: {page}", file.text);
        let import = client.get(&path).await.record("import");
        let targets =
            import["mapping"].as_object().expect("a mapping").values().map(|name| name.as_str().expect("a name"));
        let mut targets: Vec<&str> = targets.collect();
        targets.sort_unstable();
        let all = ["id", "is_active", "name", "product_group_id", "product_type", "sku", "stock_method"];
        assert_eq!(targets, all, "{language}");
        client.put(&path, json!({ "match_by": "id" })).await.ok();
        let mut english = panel.with("accept-language", None);
        english.submit(&format!("{path}/rehearse"), &[]).await.status(303);
        let page = settled(&mut english, &path).await;
        assert_eq!(
            (count(&page, "unchanged_count"), count(&page, "refused_count")),
            ("1".into(), "0".into()),
            "{page}"
        );
    }
}

async fn import_is_deleted_only_after_a_page_that_asks(server: Server) {
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let sent = upload(&mut panel, "products", "Name\nLamp\n").await;
    let (path, page) = followed(&mut panel, sent).await;
    let question = format!("{path}/delete");
    assert!(
        page.contains(&format!("href=\"{question}\"")) && !page.contains(&format!("action=\"{question}\"")),
        "{page}"
    );
    let page = panel.get(&question).await;
    page.status(200).says("Delete articles.csv?").says("The file and the report are deleted.");
    assert_eq!(server.admin().get("/imports").await.ok()["meta"]["total"], 1);
    panel.submit(&question, &[]).await.status(303);
    assert_eq!(server.admin().get("/imports").await.ok()["meta"]["total"], 0);
}
