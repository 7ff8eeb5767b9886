//! `order` of a resource: the order of its lists without `sort`, in the API and in the panel.

use charter_migrations::prelude::*;
use charter_runtime::generated::Resource;
use charter_runtime::ops::Route;
use sea_orm::entity::prelude::DateTimeUtc;
use serde_json::{Value, json};

use crate::panel::signed_in;
use crate::support::{Client, nothing, on_both, own_fixture};

mod task {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "task", search("title"), ordered("priority"), order("-priority", "title"))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub title: String,
        // Clients cannot sort by it.
        #[field(no_sort)]
        pub priority: Option<i32>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

mod wage {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "wage", order("-amount"))]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub name: String,
        #[field(read = "wages.view")]
        pub amount: Option<i32>,
        #[field(read_only)]
        pub created_at: DateTimeUtc,
        #[field(read_only)]
        pub updated_at: DateTimeUtc,
    }
}

own_fixture! {
    /// The service with tasks, ordered by two fields, and wages, ordered by one that needs a right.
    Ordered, "ordered", [Route::of::<task::Entity>(), Route::of::<wage::Entity>()], nothing
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let times = || [timestamp("created_at"), timestamp("updated_at")];
        let tasks = Table::on(manager, "tasks");
        let columns = [id(), string("title", 80), integer("priority").nullable()];
        tasks.create(columns.into_iter().chain(times())).await?;
        tasks.order(by("priority").nullable()).await?;
        tasks.search("title").await?;
        let wages = Table::on(manager, "wages");
        wages.create([id(), string("name", 80), integer("amount").nullable()].into_iter().chain(times())).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        Table::on(manager, "wages").drop().await?;
        Table::on(manager, "tasks").drop().await
    }
}

on_both!(
    list_without_sort_has_the_order_of_the_resource,
    pages_of_a_cursor_follow_the_order,
    search_and_sort_come_before_the_order,
    order_by_a_field_that_the_caller_may_not_read_is_not_applied,
    panel_shows_the_order_and_the_document_names_it,
);

async fn tasks(client: &Client) {
    for (title, priority) in [("b", Some(1)), ("a", Some(1)), ("none", None), ("top", Some(9)), ("a", Some(1))] {
        client.post("/tasks", json!({ "title": title, "priority": priority })).await.created("task");
    }
}

const IDS: [i64; 5] = [4, 2, 5, 1, 3];

async fn list_without_sort_has_the_order_of_the_resource(server: Ordered) {
    let admin = server.admin();
    tasks(&admin).await;
    assert_eq!(admin.get("/tasks").await.column("tasks", "id"), IDS);
    let pages = [1, 2, 3].map(|page| format!("/tasks?per_page=2&page={page}"));
    let mut found: Vec<Value> = Vec::new();
    for page in pages {
        found.extend(admin.get(&page).await.column("tasks", "id"));
    }
    assert_eq!(found, IDS);
    let export = admin.with("accept", "text/csv").get("/tasks?fields=id").await;
    let lines: Vec<&str> =
        export.status(200).text.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(lines, IDS.map(|id| id.to_string()));
}

async fn pages_of_a_cursor_follow_the_order(server: Ordered) {
    let admin = server.admin();
    tasks(&admin).await;
    let (mut found, mut cursor): (Vec<Value>, String) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/tasks?per_page=2&cursor={cursor}")).await;
        found.extend(page.column("tasks", "id"));
        match page.ok()["meta"]["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(found, IDS);
}

async fn search_and_sort_come_before_the_order(server: Ordered) {
    let admin = server.admin();
    tasks(&admin).await;
    assert_eq!(admin.get("/tasks?sort=id").await.column("tasks", "id"), [1, 2, 3, 4, 5]);
    assert_eq!(admin.get("/tasks?sort=-title").await.column("tasks", "id"), [4, 3, 1, 2, 5]);
    // Neither name can be sorted by.
    for ignored in ["priority", "nothing"] {
        assert_eq!(admin.get(&format!("/tasks?sort={ignored}")).await.column("tasks", "id"), IDS);
    }
    admin.post("/tasks", json!({ "title": "not top", "priority": 99 })).await.created("task");
    // A title that begins with the text comes first, as in any search.
    assert_eq!(admin.get("/tasks?search=top").await.column("tasks", "id"), [4, 6]);
}

async fn order_by_a_field_that_the_caller_may_not_read_is_not_applied(server: Ordered) {
    let admin = server.admin();
    for (name, amount) in [("low", 1), ("high", 9)] {
        admin.post("/wages", json!({ "name": name, "amount": amount })).await.created("wage");
    }
    assert_eq!(admin.get("/wages").await.column("wages", "id"), [2, 1]);
    let (_, other) = server.user(&[], &["*"]).await;
    assert_eq!(other.get("/wages").await.column("wages", "id"), [1, 2]);
}

async fn panel_shows_the_order_and_the_document_names_it(server: Ordered) {
    let admin = server.admin();
    tasks(&admin).await;
    let mut panel = signed_in(&server, &json!({ "id": 1 })).await;
    let page = panel.get("/tasks").await;
    let places = ["/tasks/4", "/tasks/2", "/tasks/5", "/tasks/1", "/tasks/3"];
    let places = places.map(|path| page.status(200).text.find(&format!("href=\"{path}")).expect(path));
    assert!(places.is_sorted(), "{places:?}");
    let document = admin.get("/openapi.json").await.ok();
    let parameters = document["paths"]["/api/v1/tasks"]["get"]["parameters"].to_string();
    assert!(parameters.contains("Default: `-priority`, then `title`."), "{parameters}");
}
