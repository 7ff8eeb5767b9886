//! Start-up checks of rights: resources written in Rust whose expressions would disclose values, and whose open doors let more in than
//! a caller without a token may send, prevent the start.

use charter_runtime::meta::{
    ActionMeta, ActionRule, DefaultValue, FieldMeta, Operation, PublicMeta, ResourceMeta, SetValue, Under,
};
use charter_runtime::ops::{Route, link_routes};

/// Only some callers read its records.
mod bill {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "bill", read_permission = "bills.view")]
    pub struct Model {
        pub id: i64,
        #[field(default = "0", min = "0", max = "100")]
        pub total: i32,
    }
}

/// Everybody reads its records, and only some callers read the margin.
mod group {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "group")]
    pub struct Model {
        pub id: i64,
        #[field(string(80), required)]
        pub name: String,
        #[field(default = "0", min = "0", max = "100", read = "costs.view")]
        pub margin: i32,
        #[field(string(80), secret)]
        pub code: Option<String>,
    }
}

/// It discloses nothing. Each test changes one of its fields, or its action.
mod order {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "order", unique("mark", "year"))]
    #[resource(action(
        name = "settle",
        on = "record",
        rule(guard = "cost < 10", permission = "costs.view", set(field = "kept", expression = "bill.total"))
    ))]
    #[resource(public(create("note")))]
    pub struct Model {
        pub id: i64,
        #[field(text)]
        pub note: Option<String>,
        #[field(reference("bill"))]
        pub bill_id: Option<i64>,
        #[field(reference("group"), where = "name = 'x'")]
        pub group_id: Option<i64>,
        #[field(default = "0")]
        pub copied: i32,
        #[field(default_value = "coalesce(bill.total, 0)", read = "bills.view")]
        pub kept: i32,
        #[field(default = "0", min = "0", max = "100", read = "costs.view")]
        pub cost: i32,
        #[field(value = "cost", read = "costs.view")]
        pub same: i32,
        #[field(default = "0", write = "costs.manage")]
        pub fee: i32,
        #[field(string(20), unique)]
        pub number: Option<String>,
        #[field(string(20))]
        pub mark: Option<String>,
        pub year: Option<i32>,
        #[field(string(80), exists = "group.name")]
        pub group_name: Option<String>,
        #[field(default = "0", read_only)]
        pub seen: i32,
    }
}

/// The routes with another order, or its problem.
fn started(change: impl FnOnce(ResourceMeta) -> ResourceMeta) -> Result<(), String> {
    let order = Route::of::<order::Entity>();
    let meta = &*Box::leak(Box::new(change(ResourceMeta { ..*order.meta })));
    let order = Route { meta, ..order };
    link_routes(&[Route::of::<bill::Entity>(), Route::of::<group::Entity>(), order]).map(drop)
}

/// The order with another field of this name.
fn with_field(name: &'static str, change: impl Fn(FieldMeta) -> FieldMeta) -> Result<(), String> {
    started(|meta| {
        assert!(meta.fields.iter().any(|field| field.name == name), "{name}");
        let fields = meta.fields.iter().map(|field| if field.name == name { change(*field) } else { *field });
        ResourceMeta { fields: fields.collect::<Vec<_>>().leak(), ..meta }
    })
}

/// The order with another rule of its action.
fn with_rule(change: impl Fn(ActionRule) -> ActionRule) -> Result<(), String> {
    started(|meta| {
        let action = meta.actions.first().expect("an action");
        let action = ActionMeta { rule: action.rule.map(change), ..*action };
        ResourceMeta { actions: vec![action].leak(), ..meta }
    })
}

/// The order with another open door.
fn with_door(create: &'static [&'static str], change: impl Fn(ResourceMeta) -> ResourceMeta) -> Result<(), String> {
    started(|meta| {
        let door = meta.public.map(|door| PublicMeta { create, ..door });
        change(ResourceMeta { public: door, ..meta })
    })
}

fn refused(started: Result<(), String>, expected: &str) {
    assert_eq!(started.expect_err(expected), expected);
}

#[test]
fn values_that_readers_of_a_field_may_know_are_copied() {
    started(|meta| meta).expect("an order discloses nothing");
    // Everybody who reads an order has the right.
    started(|meta| {
        let meta = ResourceMeta { read_permission: Some("bills.view"), ..meta };
        let fields = meta
            .fields
            .iter()
            .map(|field| FieldMeta { read: if field.name == "kept" { "" } else { field.read }, ..*field });
        ResourceMeta { fields: fields.collect::<Vec<_>>().leak(), ..meta }
    })
    .expect("all readers have the right");
}

#[test]
fn stored_values_that_readers_may_not_know_prevent_the_start() {
    let default = |text| with_field("copied", |field| FieldMeta { default: DefaultValue::Expression(text), ..field });
    refused(
        default("coalesce(bill.total, 0)"),
        "the default of order.copied, `coalesce(bill.total, 0)`: reading `bill` needs `bills.view`, and readers of `copied` need no such right",
    );
    refused(
        default("coalesce(group.margin, 0)"),
        "the default of order.copied, `coalesce(group.margin, 0)`: reading `margin` needs `costs.view`, and readers of `copied` need no such right",
    );
    refused(
        default("if(group.code is null, 1, 2)"),
        "the default of order.copied, `if(group.code is null, 1, 2)`: `code` is secret, and readers of `copied` need no such right",
    );
    refused(
        with_field("same", |field| FieldMeta { read: "", ..field }),
        "`value` of order.same, `cost`: reading `cost` needs `costs.view`, and readers of `same` need no such right",
    );
    refused(
        with_field("kept", |field| FieldMeta { read: "", default: DefaultValue::Literal("0"), ..field }),
        "`set` of order.settle, `bill.total`: reading `bill` needs `bills.view`, and readers of `kept` need no such right",
    );
    let set: &'static [_] = &[("copied", SetValue::Expression("cost"))];
    refused(
        with_rule(|rule| ActionRule { set, ..rule }),
        "`set` of order.settle, `cost`: reading `cost` needs `costs.view`, and readers of `copied` need no such right",
    );
}

#[test]
fn conditions_whose_refusal_discloses_a_value_prevent_the_start() {
    for permission in [None, Some("bills.view")] {
        refused(
            with_rule(|rule| ActionRule { permission, ..rule }),
            "`if` of order.settle, `cost < 10`: reading `cost` needs `costs.view`, and a refusal would show its value",
        );
    }
    let choices = |text| with_field("group_id", |field| FieldMeta { choices: text, ..field });
    refused(
        choices("margin > 3"),
        "`where` of order.group_id, `margin > 3`: reading `margin` needs `costs.view`, and a refusal would show its value",
    );
    refused(
        choices("code is null"),
        "`where` of order.group_id, `code is null`: `code` is secret, and a refusal would show its value",
    );
}

#[test]
fn open_door_that_lets_too_much_in_prevents_the_start() {
    with_door(&["note", "copied", "year"], |meta| ResourceMeta { unique: &[], ..meta }).expect("plain fields");
    let unfit = ["bill_id", "kept", "cost", "same", "fee", "number", "mark", "year", "group_name", "seen", "unknown"];
    for name in unfit {
        let create = vec!["note", name].leak();
        let expected = format!("`public` of orders lists `{name}`, which nobody may send without a token");
        refused(with_door(create, |meta| meta), &expected);
    }
    let impossible = "`public` of orders needs the operation `create` of a collection without a parent";
    let operations: &'static [Operation] = &[Operation::List, Operation::Show];
    refused(with_door(&["note"], |meta| ResourceMeta { operations, ..meta }), impossible);
    let under = Some(Under { resource: "group", field: "group_id" });
    refused(with_door(&["note"], |meta| ResourceMeta { under, ..meta }), impossible);
    refused(with_door(&["note"], |meta| ResourceMeta { singleton: true, ..meta }), impossible);
}
