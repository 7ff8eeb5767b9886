//! `charter can`: the rule that allows or denies an action.

use serde_json::{Value, json};

use super::{blocking, on_both, token};
use crate::support::Client;
use crate::support::program::{CommandOutput, Program};

on_both!(denying_rule_is_reported, unknown_resource_or_action_is_reported_with_a_suggestion);

/// The rules that were checked, with their verdicts.
fn rules(said: &CommandOutput) -> Vec<(String, String)> {
    let rows: Vec<Value> = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    rows.iter().map(|row| (text(&row["rule"]), text(&row["verdict"]))).collect()
}

fn denying_rule_is_reported(program: Program) {
    let serving = program.serve_first(&[]);
    let admin = Client::new(serving.address()).bearing(&token(&serving.banner));
    let (record, ada) = blocking(async {
        let lamp = admin.post("/products", json!({ "name": "Lamp" })).await.created("product");
        admin.delete(&format!("/products/{}", lamp["id"])).await.deleted();
        let record = admin.post("/members", json!({ "name": "Ann" })).await.created("member");
        let ada = json!({ "name": "Ada", "email": "ada@example.com" });
        (record, admin.post("/users", ada).await.created("user"))
    });
    let create = ["token", "create", "--user", "ada@example.com", "--name", "CI", "--ability", "members:read"];
    let value = program.done(&[&create[..], &["--ability", "exchange_rates:write"]].concat());
    let value = value.trim();
    let id = program.list(&["token", "list"]).into_iter().find(|row| row["name"] == "CI").expect("it is there");
    let id = id["id"].to_string();
    let member = format!("members/{}", record["id"]);
    let can = |token: &str, action: &str, target: &str| {
        let said = program.run(&["can", token, action, target, "--format", "json"]);
        let (code, err) = (said.code, said.err.clone());
        (code, err, rules(&said))
    };
    let allowed: Vec<String> = ["token", "user", "ability", "role", "permission", "record"].map(String::from).into();
    for token in [value, &id] {
        let (code, _, rules) = can(token, "show", &member);
        assert_eq!((code, rules.iter().map(|(rule, _)| rule.clone()).collect()), (0, allowed.clone()));
        assert!(rules.iter().all(|(_, verdict)| verdict == "allows"), "{rules:?}");
    }
    // A deleted record can only be restored.
    let first = token(&serving.banner);
    assert_eq!(can(&first, "restore", "products/1").0, 0);
    assert_eq!(can(&first, "show", "products/1").1.trim(), "denied: 404 not_found");
    for (token, action, target, rule, code) in [
        ("chr_nonsense", "list", "members", "token", "401 invalid_token"),
        ("99999", "list", "members", "token", "401 invalid_token"),
        (value, "delete", member.as_str(), "ability", "403 ability_missing"),
        (value, "create", "exchange_rates", "permission", "403 permission_missing"),
        (value, "show", "members/99999", "record", "404 not_found"),
    ] {
        let (exit, err, rules) = can(token, action, target);
        assert_eq!((exit, err.trim()), (1, format!("denied: {code}").as_str()), "{action} {target}");
        assert_eq!(rules.last(), Some(&(rule.to_string(), "denies".to_string())), "{rules:?}");
    }
    blocking(async { admin.post(&format!("/users/{}/deactivate", ada["id"]), json!({})).await.ok() });
    assert_eq!(can(value, "list", "members").2.last(), Some(&("user".to_string(), "denies".to_string())));
    assert!(!program.run(&["can", value, "show", &member]).out.contains(value), "no token is printed");
}

fn unknown_resource_or_action_is_reported_with_a_suggestion(program: Program) {
    program.done(&["migrate"]);
    for (action, target, message) in [
        ("list", "prodcuts", "there is no resource `prodcuts`; did you mean `products`?"),
        ("lst", "products", "products have no action `lst`; did you mean `list`?"),
        ("show", "products/x", "`x` is not an id"),
    ] {
        let said = program.run(&["can", "1", action, target]);
        assert_eq!((said.code, said.err.trim()), (1, message));
    }
    assert_eq!(program.run(&["can", "1"]).code, 2);
}
