//! Rights through relations: includes, filters through a reference, users that a record shows, and the audit log.

use serde_json::json;

use super::{client_of, token_of, user_with};
use crate::support::{Gadgets, Server, on_both};

on_both!(
    include_of_a_whole_record_needs_the_ability_of_its_resource,
    filter_through_a_reference_needs_the_ability_of_its_resource,
    address_of_a_user_is_shown_to_those_who_may_read_users,
    audit_log_shows_the_resources_that_its_reader_may_read,
    attachments_need_the_ability_of_their_record,
);

async fn include_of_a_whole_record_needs_the_ability_of_its_resource(server: Server) {
    let user = user_with(&server, &["products:read"], &[]).await;
    let client = client_of(&server, &user).await;
    // Without any record, too.
    client.get("/products?include=productGroup").await.refused(403, "ability_missing");
    let lamp = server.admin().post("/products", json!({ "name": "Lamp" })).await.created("product");
    let path = format!("/products/{}", lamp["id"]);
    client.get(&format!("{path}?include=productGroup")).await.refused(403, "ability_missing");
    client.get(&format!("{path}?include=stockLevels")).await.refused(403, "ability_missing");
    client.get(&path).await.record("product");
    let role = format!("/roles/{}", user["role_ids"][0]);
    let wider = json!({ "abilities": ["products:read", "product_groups:read"] });
    server.admin().put(&role, wider).await.record("role");
    client.get("/products?include=productGroup").await.ok();
    client.get(&format!("{path}?include=productGroup")).await.record("product");
    // The ability of the token counts as well.
    let (narrow, _) = token_of(&server, &user, &["products:read"]).await;
    narrow.get("/products?include=productGroup").await.refused(403, "ability_missing");
}

async fn filter_through_a_reference_needs_the_ability_of_its_resource(server: Gadgets) {
    let client = client_of(&server, &user_with(&server, &["parts:read"], &["costs.view"]).await).await;
    let message = client.get("/parts?q[gadget.name_eq]=Clock").await.invalid("q[gadget.name_eq]");
    assert_eq!(message, "is on gadgets, which requires the ability `gadgets:read`");
    let filters = r#"[{"field":"gadget.name","predicate":"eq","value":"Clock"}]"#;
    client.list("/parts", &[("filters", filters)]).await.invalid("filters");
    // A part shows the cost of its gadget by itself.
    client.get("/parts?q[gadget.cost_eq]=1").await.ok();
    let both = client_of(&server, &user_with(&server, &["parts:read", "gadgets:read"], &[]).await).await;
    both.get("/parts?q[gadget.name_eq]=Clock").await.ok();
}

async fn address_of_a_user_is_shown_to_those_who_may_read_users(server: Server) {
    server.admin().post("/activities", json!({ "subject": "Call" })).await.created("activity");
    let member = client_of(&server, &user_with(&server, &["application:read"], &[]).await).await;
    let staff = client_of(&server, &user_with(&server, &["application:read", "users:read"], &[]).await).await;
    for (client, expected) in [
        (&member, json!({ "id": 1, "name": "Administrator" })),
        (&staff, json!({ "id": 1, "name": "Administrator", "email": "admin@example.com" })),
    ] {
        assert_eq!(client.get("/activities?include=owner").await.records("activities")[0]["owner"], expected);
        assert_eq!(client.get("/activities/1?include=owner").await.record("activity")["owner"], expected);
    }
    let message = member.get("/activities?q[owner.email_cont]=admin").await.invalid("q[owner.email_cont]");
    assert!(message.contains("unknown field `email`"), "{message}");
    member.get("/activities?q[owner.name_cont]=x").await.ok();
    staff.get("/activities?q[owner.email_cont]=admin").await.ok();
}

async fn audit_log_shows_the_resources_that_its_reader_may_read(server: Server) {
    let admin = server.admin();
    admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
    admin.post("/members", json!({ "name": "Ada" })).await.created("member");
    let abilities = ["audit_entries:read", "products:read"];
    let auditor = client_of(&server, &user_with(&server, &abilities, &["audit.read"]).await).await;
    let types = auditor.get("/audit_entries").await.column("audit_entries", "entity_type");
    assert!(!types.is_empty() && types.iter().all(|of| of == "products"), "{types:?}");
    assert_eq!(auditor.get("/audit_entries").await.ok()["meta"]["total"], types.len());
    let of_member = admin.get("/audit_entries?q[entity_type_eq]=members").await.records("audit_entries");
    auditor.get(&format!("/audit_entries/{}", of_member[0]["id"])).await.refused(404, "not_found");
}

async fn attachments_need_the_ability_of_their_record(server: Server) {
    let member = server.admin().post("/members", json!({ "name": "Ada" })).await.created("member");
    let form = || {
        let form = crate::routes::attachments::Form::default();
        let form = form.field("attachable_type", "Member").field("attachable_id", &member["id"]);
        form.file("plan.txt", b"left of the door")
    };
    let attachment = form().send(&server.admin()).await.created("attachment");
    let path = format!("/attachments/{}", attachment["id"]);
    let other = client_of(&server, &user_with(&server, &["products:read", "products:write"], &[]).await).await;
    let reader = client_of(&server, &user_with(&server, &["members:read"], &[]).await).await;
    other.get(&path).await.refused(403, "ability_missing");
    form().send(&other).await.refused(403, "ability_missing");
    reader.get(&path).await.record("attachment");
    reader.get(&format!("/members/{}/attachments", member["id"])).await.ok();
    form().send(&reader).await.refused(403, "ability_missing");
    reader.delete(&path).await.refused(403, "ability_missing");
}
