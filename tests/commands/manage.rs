//! `charter migrate`, `user`, `token`, `seed demo` and `routes`.

use std::process::Stdio;

use sea_orm::{ConnectionTrait, Database};
use serde_json::{Value, json};

use super::{blocking, on_both, status, token};
use crate::support::Client;
use crate::support::program::Program;

on_both!(
    migrations_are_applied_undone_and_listed,
    users_and_tokens_are_created_and_revoked,
    token_create_prints_only_the_token,
    token_with_a_past_or_invalid_expiry_is_refused,
    deactivated_user_cannot_be_invited,
    demo_data_is_added_only_once,
    lists_are_printed_as_json_or_table,
    terminal_shows_the_text_of_users_and_does_not_obey_it,
    concurrent_migrations_apply_each_migration_once,
    migrate_status_writes_nothing,
    database_of_a_newer_version_is_refused,
    database_of_an_unreleased_build_is_rejected_with_one_error,
    commands_migrate_a_database_of_an_older_version,
);

fn migrations_are_applied_undone_and_listed(program: Program) {
    let applied = || -> Vec<bool> {
        program.list(&["migrate", "status"]).iter().map(|row| row["applied"].as_bool().expect("a boolean")).collect()
    };
    assert!(applied().iter().all(|applied| !applied), "nothing is applied yet");
    program.done(&["migrate", "up"]);
    let all = applied();
    assert!(all.len() > 5 && all.iter().all(|applied| *applied), "{all:?}");
    program.done(&["migrate", "up"]);
    program.done(&["migrate"]);
    program.done(&["migrate", "down"]);
    assert_eq!(applied().iter().filter(|applied| !**applied).count(), 1);
    program.done(&["migrate", "down", "--steps", "2"]);
    assert_eq!(applied().iter().filter(|applied| !**applied).count(), 3);
    program.done(&["migrate", "up"]);
    assert_eq!(applied(), all);
    // Each change is listed in the order in which it was made, as text and as JSON.
    let named = |row: &Value| row["name"].as_str().expect("a name").to_string();
    let mut names: Vec<String> = program.list(&["migrate", "status"]).iter().map(named).collect();
    names.reverse();
    let last = program.list(&["migrate", "down", "--steps", "2"]);
    assert_eq!(last, [json!({ "name": names[0], "applied": false }), json!({ "name": names[1], "applied": false })]);
    let undone = program.done(&["migrate", "down", "--steps", "1000"]);
    assert_eq!(undone, names[2..].iter().map(|name| format!("undone {name}\n")).collect::<String>());
    assert!(applied().iter().all(|applied| !applied));
    names.reverse();
    let made: Vec<Value> = names.iter().map(|name| json!({ "name": name, "applied": true })).collect();
    assert_eq!(program.list(&["migrate", "up"]), made);
    assert_eq!(program.list(&["migrate"]), Vec::<Value>::new(), "nothing is left to apply");
    let before: Value = serde_json::from_str(&program.done(&["migrate", "--format", "json", "status"])).expect("JSON");
    assert_eq!(before, json!(made), "the option also stands before the command");
    let text = program.done(&["migrate", "status"]);
    assert_eq!(text.lines().count(), all.len() + 1, "a header and a line for each: {text}");
}

fn users_and_tokens_are_created_and_revoked(program: Program) {
    let serving = program.serve_first(&[]);
    let admin = token(&serving.banner);
    let role = blocking(async {
        let role = json!({ "name": "Office", "permissions": ["settings.manage"], "abilities": ["*"] });
        Client::new(serving.address()).bearing(&admin).post("/roles", role).await.created("role")
    });
    let id = program.done(&["user", "create", "--email", "ada@example.com", "--name", "Ada", "--role", "Office"]);
    let user = blocking(async {
        Client::new(serving.address()).bearing(&admin).get(&format!("/users/{}", id.trim())).await.record("user")
    });
    assert_eq!([&user["email"], &user["is_admin"]], [&json!("ada@example.com"), &json!(false)]);
    assert_eq!(user["role_ids"], json!([role["id"]]));
    let create = ["token", "create", "--user", "Ada@example.com", "--name", "CI", "--ability", "exchange_rates:read"];
    let value = program.done(&[&create[..], &["--ability", "products:read"]].concat());
    let value = value.trim();
    assert_eq!(status(&serving, value, "/exchange_rates"), 200);
    assert_eq!(status(&serving, value, "/members"), 403);
    let row = program.list(&["token", "list"]).into_iter().find(|row| row["name"] == "CI").expect("it is listed");
    assert_eq!(row["abilities"], json!(["exchange_rates:read", "products:read"]));
    program.done(&["token", "revoke", &row["id"].to_string()]);
    assert!(program.list(&["token", "list"]).iter().all(|row| row["name"] != "CI"));
    // A server that has cached it forgets it within 30 seconds; a new server does not know it.
    let second = program.serve(&[]);
    assert_eq!(status(&second, value, "/products"), 401);
    let boss = program.done(&["user", "create", "--email", "b@example.com", "--name", "B", "--admin"]);
    assert!(boss.trim().parse::<i64>().is_ok(), "{boss}");
}

fn token_create_prints_only_the_token(program: Program) {
    program.done(&["user", "create", "--email", "a@example.com", "--name", "A", "--admin"]);
    let out = program.done(&["token", "create", "--user", "a@example.com", "--name", "x", "--ability", "*"]);
    let value = out.strip_suffix('\n').expect("one line");
    assert!(value.len() == 42 && value.starts_with("chr_"), "{out:?}");
    let listed = program.done(&["token", "list"]);
    assert!(!listed.contains(&value[4..]), "{listed}");
}

fn token_with_a_past_or_invalid_expiry_is_refused(program: Program) {
    program.done(&["user", "create", "--email", "a@example.com", "--name", "A"]);
    let create =
        ["token", "create", "--user", "a@example.com", "--name", "x", "--ability", "products:read", "--expires-at"];
    program.done(&[&create[..], &["2999-01-01T00:00:00Z"]].concat());
    for bad in ["2020-01-01T00:00:00Z", "tomorrow", "", " "] {
        let said = program.run(&[&create[..], &[bad]].concat());
        assert!(said.code == 1 && said.err.contains("expires_at") && said.out.is_empty(), "{said:?}");
    }
    assert_eq!(program.list(&["token", "list"]).len(), 1);
}

fn deactivated_user_cannot_be_invited(program: Program) {
    let serving = program.serve_first(&[]);
    let admin = token(&serving.banner);
    let id = program.done(&["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    assert!(program.done(&["user", "invite", "ada@example.com"]).contains("/panel/invitation/"));
    blocking(async {
        let client = Client::new(serving.address()).bearing(&admin);
        client.put(&format!("/users/{}", id.trim()), json!({ "is_active": false })).await.ok();
    });
    let said = program.run(&["user", "invite", "ada@example.com"]);
    assert!(said.code == 1 && said.err.contains("The user is deactivated") && said.out.is_empty(), "{said:?}");
}

fn demo_data_is_added_only_once(program: Program) {
    let out = program.done(&["seed", "demo", "--products", "30", "--members", "7"]);
    assert!(out.contains("products: 30 added") && out.contains("members: 7 added"), "{out}");
    let out = program.done(&["seed", "demo", "--products", "30", "--members", "7"]);
    assert!(out.contains("products: 0 added") && out.contains("members: 0 added"), "{out}");
    let out = program.done(&["seed", "demo", "--products", "45", "--members", "7"]);
    assert!(out.contains("products: 15 added"), "{out}");
    let rows = program.list(&["seed", "demo", "--products", "46", "--members", "7"]);
    let row = |resource: &str| rows.iter().find(|row| row["resource"] == resource).expect("a row");
    assert_eq!(*row("products"), json!({ "resource": "products", "added": 1, "wanted": 46, "missing": null }));
    assert_eq!([&row("activities")["missing"], &row("members")["added"]], [&json!("users"), &json!(0)]);
    // Activities need users as owners, which the output explains.
    let why = "activities: 0 added, 300 wanted; they refer to users, of which there are none yet\n";
    assert!(out.contains(why) && out.contains("stock_levels: 0 added, 800 wanted\n"), "{out}");
    program.done(&["user", "create", "--email", "demo@example.com", "--name", "Demo", "--admin"]);
    let further = ["seed", "demo", "--activities", "40", "--activity_participants", "60", "--accessories", "70"];
    let out = program.done(&further);
    assert!(out.contains("activities: 40 added") && out.contains("activity_participants: 60 added"), "{out}");
    let out = program.done(&further);
    assert!(out.contains("activities: 0 added") && out.contains("accessories: 0 added"), "{out}");
    let user = ["--user", "demo@example.com", "--name", "Demo", "--ability", "*"];
    let token = program.done(&[&["token", "create"], &user[..]].concat()).trim().to_string();
    let serving = program.serve(&[]);
    let (body, activities) = blocking(async {
        let client = Client::new(serving.address()).bearing(&token);
        let products = client.get("/products?include=productGroup,taxClass,accessories,stockLevels&per_page=100").await;
        let activities = client.get("/activities?include=owner,regarding&per_page=100").await;
        (products.ok(), activities.records("activities"))
    });
    let with = |field: &str| {
        activities
            .iter()
            .filter(|a| a[field].as_array().is_none_or(|list| !list.is_empty()) && !a[field].is_null())
            .count()
    };
    assert_eq!([activities.len(), with("owner"), with("participants")], [40, 40, 40]);
    assert!(with("regarding") > 20, "{activities:?}");
    assert!(activities.iter().all(|a| (a["status_id"] == 2002) == (a["completed"] == true)), "{activities:?}");
    let accessories = body["products"].as_array().expect("a list").iter().filter_map(|p| p["accessories"].as_array());
    assert_eq!(accessories.map(Vec::len).sum::<usize>(), 300);
    assert_eq!(body["meta"]["total"], 500);
    let groups: Vec<&Value> =
        body["products"].as_array().expect("a list").iter().map(|p| &p["product_group"]).collect();
    assert!(groups.iter().all(|group| group["name"].is_string()), "{groups:?}");
}

fn lists_are_printed_as_json_or_table(program: Program) {
    let routes = program.list(&["routes"]);
    let find = |method: &str, path: &str| routes.iter().find(|r| r["method"] == method && r["path"] == path);
    let route = find("POST", "/api/v1/exchange_rates").expect("it is listed");
    assert_eq!([&route["ability"], &route["permission"]], ["exchange_rates:write", "settings.manage"]);
    assert_eq!(find("GET", "/api/v1/products/{id}").expect("it is listed")["permission"], Value::Null);
    assert!(find("POST", "/api/v1/currencies").is_none());
    let text = program.done(&["routes"]);
    assert_eq!(text.lines().count(), routes.len() + 1, "{text}");
    assert_eq!(program.list(&["token", "list"]), Vec::<Value>::new());
    assert!(!program.list(&["migrate", "status"]).is_empty());
    let said = program.run(&["routes", "--format", "xml"]);
    assert_eq!(said.code, 2, "{said:?}");
}

fn terminal_shows_the_text_of_users_and_does_not_obey_it(program: Program) {
    program.done(&["user", "create", "--email", "a@example.com", "--name", "Ada", "--admin"]);
    let name = "x\u{1b}[2J\n9  forged\u{202e}\u{9b}31m\u{2028}\tmy\u{200d}";
    program.done(&["token", "create", "--user", "a@example.com", "--name", name, "--ability", "*"]);
    let table = program.done(&["token", "list"]);
    assert!(table.contains("x\\u{1b}[2J\\n9  forged\\u{202e}\\u{9b}31m\\u{2028}\\tmy\u{200d}"), "{table:?}");
    assert_eq!(table.lines().count(), 2, "a header and one row: {table:?}");
    // JSON has its own escapes, and is the same text.
    let json = program.done(&["token", "list", "--format", "json"]);
    assert!(!json.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{2028}']), "{json:?}");
    assert_eq!(program.list(&["token", "list"])[0]["name"], name);
    // Errors quote what was given.
    let said = program.run(&["user", "invite", "a\u{1b}]0;title\u{7}\u{202e}@example.com"]);
    assert!(said.code == 1 && said.err.contains("\\u{202e}"), "{said:?}");
    assert!(!said.err.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
}

fn concurrent_migrations_apply_each_migration_once(program: Program) {
    let migrate = || program.command(&["migrate", "up"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let those: Vec<_> = (0..3).map(|_| migrate().expect("it runs")).collect();
    let mut applied = 0;
    for one in those {
        let output = one.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        applied += String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.starts_with("applied m")).count();
    }
    assert_eq!(applied, program.list(&["migrate", "status"]).len(), "each by one process");
}

fn migrate_status_writes_nothing(program: Program) {
    let rows = program.list(&["migrate", "status"]);
    assert!(!rows.is_empty() && rows.iter().all(|row| row["applied"] == false), "{rows:?}");
    let said = program.run(&["from-db", "seaql_migrations"]);
    assert!(said.code == 1 && said.err.contains("no table `seaql_migrations`"), "{said:?}");
}

fn database_of_a_newer_version_is_refused(program: Program) {
    program.done(&["migrate"]);
    blocking(async {
        let database = Database::connect(program.url()).await.expect("it is there");
        let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m20990101_000001_later', 0)";
        database.execute_unprepared(newer).await.expect("it is written");
        database.close().await.expect("it closes");
    });
    let commands: [&[&str]; 6] =
        [&["migrate", "status"], &["migrate"], &["migrate", "down"], &["token", "list"], &["doctor"], &["serve"]];
    for arguments in commands {
        let said = program.run(arguments);
        assert_eq!(said.code, 1, "{said:?}");
        let message = said.err.lines().last().unwrap_or_default();
        assert!(
            message.contains("migrated by a newer version") && message.contains("m20990101_000001_later"),
            "{said:?}"
        );
    }
}

/// The platform migrations of unreleased builds have other names than those of a release.
fn database_of_an_unreleased_build_is_rejected_with_one_error(program: Program) {
    program.done(&["migrate"]);
    blocking(async {
        let database = Database::connect(program.url()).await.expect("it is there");
        let unreleased = "DELETE FROM seaql_migrations;
            INSERT INTO seaql_migrations (version, applied_at)
            VALUES ('m20261121_000001_platform_text', 0), ('m20261121_000016_platform_together', 0)";
        database.execute_unprepared(unreleased).await.expect("it is written");
        database.close().await.expect("it closes");
    });
    for arguments in [&["serve"][..], &["migrate"], &["migrate", "status"], &["doctor"]] {
        let said = program.run(arguments);
        assert_eq!(said.code, 1, "{said:?}");
        let error = said.err.lines().last().unwrap_or_default();
        assert!(error.contains("created by an unreleased build of Charter"), "{said:?}");
        assert!(error.contains("create a new database"), "{said:?}");
    }
}

/// Commands that need the tables, and `serve`, migrate. Commands that only read do not.
fn commands_migrate_a_database_of_an_older_version(program: Program) {
    let pending = || program.list(&["migrate", "status"]).iter().filter(|row| row["applied"] == false).count();
    program.done(&["migrate"]);
    for arguments in [&["token", "list"][..], &["can", "a@example.com", "GET", "/api/v1/products"], &["recount"]] {
        program.done(&["migrate", "down", "--steps", "2"]);
        assert_eq!(pending(), 2);
        program.run(&["doctor"]);
        assert_eq!(pending(), 2, "it only reads");
        program.run(arguments);
        assert_eq!(pending(), 0, "{arguments:?}");
    }
    program.done(&["migrate", "down", "--steps", "2"]);
    let serving = program.serve_first(&[]);
    assert_eq!(status(&serving, "", "~/health/ready"), 200);
    assert_eq!(pending(), 0);
}
