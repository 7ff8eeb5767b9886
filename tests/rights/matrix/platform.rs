//! Records of the platform's resources: one of the reader, and one of the owner of the hidden records.

use serde_json::json;

use super::deliveries::segment;
use super::marker::{Role, Variant};
use super::world::World;
use crate::routes::imports::uploaded;

/// Uses each token, and waits for the audit entry of its first use, which is written in the background: the worlds have
/// the same entries in the same order.
pub async fn use_tokens(world: &World) {
    let uses = "SELECT CAST(COUNT(*) AS text) AS text FROM audit_entries WHERE action = 'first_use'";
    for caller in world.callers.iter().skip(1).filter(|caller| !caller.user.is_null()) {
        let before = world.server.texts(uses).await;
        caller.client.get("/users/1").await;
        let begun = std::time::Instant::now();
        while world.server.texts(uses).await == before {
            assert!(begun.elapsed().as_secs() < 10, "the first use of the token of the {} is in no entry", caller.name);
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}

/// Each caller receives the events of all records from now on.
pub async fn webhooks(world: &World) {
    for caller in world.callers.iter().filter(|caller| caller.reads_anything()) {
        let url = format!("https://example.com/{}", segment(caller.name));
        let answer = caller.client.post("/webhooks", json!({ "url": url, "events": ["*"] })).await;
        assert!(matches!(answer.status, 201 | 403), "{}: {}", caller.name, answer.text);
    }
}

/// Views, imports, tokens and webhooks. Their owner alone sees them.
pub async fn fill(world: &mut World) {
    for (position, role) in [(2, Role::Open), (1, Role::Hidden)] {
        let client = world.callers[position].client.clone();
        let user = world.callers[position].user["id"].clone();
        let text = |number: usize, is_other: bool| format!("zq{}{number:04}", if is_other { 'b' } else { 'a' });
        let is_other = world.differing(role.is_hidden()) == Some(Variant::Other);
        let view = json!({
            "name": text(world.number(), is_other), "entity_type": "vaults", "columns": ["id", "name"],
            "filters": [{ "field": "name", "predicate": "cont", "value": text(world.number(), is_other) }],
        });
        let webhook = json!({ "url": format!("https://example.com/{}", text(world.number(), is_other)), "events": ["role.created"] });
        let token = json!({ "name": text(world.number(), is_other), "user_id": user, "abilities": ["vaults:read"] });
        for (resource, path, body) in
            [("custom_view", "/custom_views", view), ("webhook", "/webhooks", webhook), ("token", "/tokens", token)]
        {
            let record = client.post(path, body).await.created(resource);
            world.add(resource, role, &record, None);
        }
        let file = format!("text\n{}\n", text(world.number(), is_other));
        let import = uploaded(&client, "receipts", &file).await;
        world.add("import", role, &import, None);
    }
}
