//! Buttons of transitions in the panel.

use serde_json::json;

use super::fixture::Tickets;
use super::{run, ticket};
use crate::panel::signed_in;
use crate::support::on_both;

on_both!(page_of_a_record_offers_its_transitions_and_gives_the_reasons_of_the_others,);

async fn page_of_a_record_offers_its_transitions_and_gives_the_reasons_of_the_others(server: Tickets) {
    let admin = server.admin();
    let (_, path) = ticket(&admin, json!({})).await;
    let (user, _) = server.user(&[], &["*"]).await;
    let mut panel = signed_in(&server, &user).await;
    let page = panel.get(&path).await;
    let offered = |name: &str| format!("action=\"{path}/{name}\"");
    page.status(200).says(&offered("wait"));
    for (name, why) in [
        ("Solve", "This is possible only if Hours &gt; 0 and Hours &lt; 100."),
        ("Reopen", "only a solved ticket can be reopened"),
        ("Merge", "This requires the permission tickets.merge."),
    ] {
        let button = format!(
            "<button type=\"button\" aria-disabled=\"true\" title=\"{why}\">{name}<span class=\"hidden\"> ({why})</span></button>"
        );
        page.says(&button);
        assert!(!page.text.contains(&offered(&name.to_lowercase())), "{}", page.text);
    }
    // The allowed one comes first.
    let (head, _) = page.text.split_once("<summary>More</summary>").expect("a menu");
    let (allowed, refused) = (head.find(&offered("wait")), head.find("aria-disabled=\"true\""));
    assert!(allowed.is_some() && allowed < refused, "{head}");
    admin.put(&path, json!({ "hours": 1 })).await.ok();
    // Its question is a page, to which a link leads.
    panel.get(&path).await.says(&format!("href=\"{path}/solve\""));
    panel.get(&format!("{path}/solve")).await.status(200).says("The customer gets a mail.");
    panel.submit(&format!("{path}/solve"), &[]).await.status(303);
    let page = panel.get(&path).await;
    let (reopen, refused) = (page.status(200).text.find(&offered("reopen")), page.text.find("aria-disabled=\"true\""));
    assert!(reopen.is_some() && reopen < refused, "{}", page.text);
    assert_eq!(admin.get(&path).await.record("ticket")["status"], "solved");
    // The button of an older page is refused with the reason.
    panel
        .submit(&format!("{path}/solve"), &[])
        .await
        .status(409)
        .says("Status must be Open or Pending, and it is Solved.");
    run(&admin, &path, "reopen").await.ok();
    let mut german = signed_in(&server, &json!({ "id": 1 })).await.with("accept-language", Some("de"));
    german.get(&path).await.status(200).says("only a solved ticket can be reopened");
    admin.put(&path, json!({ "hours": 0 })).await.ok();
    german.get(&path).await.says("Das geht nur, wenn gilt: Hours &gt; 0 und Hours &lt; 100.");
    // Clients do not choose the state of a new record.
    let form = german.get("/tickets/new").await;
    assert!(
        form.status(200).text.contains("name=\"title\"") && !form.text.contains("name=\"status\""),
        "{}",
        form.text
    );
}
