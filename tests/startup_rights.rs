//! Start-up checks of resources written in Rust: expressions and rollups that would disclose values, open doors that let more in than a
//! caller without a token may send, and rules whose result depends on the request prevent the start.

use charter_runtime::meta::{
    ActionMeta, ActionRule, CheckMeta, DefaultValue, FieldMeta, Operation, PublicMeta, ResourceMeta, RollupMeta, Rule,
    SetValue, Under,
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

/// Everybody reads its records, and only some callers read the amount.
mod payment {
    use charter_runtime::generated::Resource;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "payment")]
    pub struct Model {
        pub id: i64,
        #[field(reference("order"), required)]
        pub order_id: i64,
        #[field(default = "0", min = "0", max = "100", read = "costs.view")]
        pub amount: i32,
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
        #[field(string(80), write_only)]
        pub pin: Option<String>,
        #[field(default = "0", rollup(function = "count", of = "payment", by = "order_id"))]
        pub payments: i64,
        #[field(
            default = "0",
            rollup(function = "sum", of = "payment", by = "order_id", field = "amount"),
            read = "costs.view"
        )]
        pub paid: i64,
    }
}

/// The routes with another order, or its problem.
fn started(change: impl FnOnce(ResourceMeta) -> ResourceMeta) -> Result<(), String> {
    linked(change, |payment| payment)
}

fn linked(
    change: impl FnOnce(ResourceMeta) -> ResourceMeta,
    change_payment: impl FnOnce(ResourceMeta) -> ResourceMeta,
) -> Result<(), String> {
    fn changed(route: Route, change: impl FnOnce(ResourceMeta) -> ResourceMeta) -> Route {
        let meta = &*Box::leak(Box::new(change(ResourceMeta { ..*route.meta })));
        Route { meta, ..route }
    }
    let order = changed(Route::of::<order::Entity>(), change);
    let payment = changed(Route::of::<payment::Entity>(), change_payment);
    link_routes(&[Route::of::<bill::Entity>(), Route::of::<group::Entity>(), payment, order]).map(drop)
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
fn rollups_that_tell_of_hidden_values_or_records_prevent_the_start() {
    refused(
        with_field("paid", |field| FieldMeta { read: "", ..field }),
        "the rollup order.paid: reading `amount` needs `costs.view`, and readers of `paid` need no such right",
    );
    let rows = |field: FieldMeta| field.rollup.map(|rollup| RollupMeta { rows: Some("amount > 3"), ..rollup });
    refused(
        with_field("payments", |field| FieldMeta { rollup: rows(field), ..field }),
        "the rollup order.payments: reading `amount` needs `costs.view`, and readers of `payments` need no such right",
    );
    let of_some = |payment| ResourceMeta { read_permission: Some("payments.view"), ..payment };
    refused(
        linked(|order| order, of_some),
        "the rollup order.payments: reading `payment` needs `payments.view`, and readers of `payments` need no such right\n\
         the rollup order.paid: reading `payment` needs `payments.view`, and readers of `paid` need no such right",
    );
    linked(|order| ResourceMeta { read_permission: Some("payments.view"), ..order }, of_some)
        .expect("all readers of an order read payments");
}

#[test]
fn rules_that_depend_on_the_request_prevent_the_start() {
    let check = |that| CheckMeta { that, field: None, message: None };
    for (condition, expected) in
        [("year < 3000", None), ("year = 1 or caller.can(orders.all)", Some("it depends on the request"))]
    {
        let found = started(|meta| ResourceMeta { checks: vec![check(condition)].leak(), ..meta });
        let expected = expected.map(|problem| format!("a check of order, `{condition}`: {problem}"));
        assert_eq!(found.err(), expected);
    }
    let required = |condition| {
        with_field("note", |field| FieldMeta { rules: vec![Rule::RequiredWhen(condition)].leak(), ..field })
    };
    required("year = 3").expect("a condition over the record");
    refused(required("caller.id = 1"), "`required_when` of order.note, `caller.id = 1`: `caller` is not known here");
    let rule = |condition| started(|meta| ResourceMeta { read_rule: Some(condition), ..meta });
    rule("year = 1 or caller.can(orders.all)").expect("a rule of the request");
    refused(rule("year = year(today)"), "a row rule of orders, `year = year(today)`: it cannot use `today`");
}

#[test]
fn open_door_that_lets_too_much_in_prevents_the_start() {
    with_door(&["note", "copied", "year"], |meta| ResourceMeta { unique: &[], ..meta }).expect("plain fields");
    let unfit = [
        "bill_id",
        "kept",
        "cost",
        "same",
        "fee",
        "number",
        "mark",
        "year",
        "group_name",
        "seen",
        "pin",
        "paid",
        "unknown",
    ];
    for name in unfit {
        let create = vec!["note", name].leak();
        let expected = format!("`public` of orders lists `{name}`, which nobody may send without a token");
        refused(with_door(create, |meta| meta), &expected);
    }
    refused(with_door(&[], |meta| meta), "`public` of orders lists no field");
    let required = |field: &FieldMeta| FieldMeta { required: field.name == "year", ..*field };
    let fields =
        |meta: &ResourceMeta| -> &'static [FieldMeta] { meta.fields.iter().map(required).collect::<Vec<_>>().leak() };
    refused(
        with_door(&["note"], |meta| ResourceMeta { fields: fields(&meta), ..meta }),
        "`public` of orders leaves `year` without a value",
    );
    let impossible = "`public` of orders needs the operation `create` of a collection without a parent";
    let operations: &'static [Operation] = &[Operation::List, Operation::Show];
    refused(with_door(&["note"], |meta| ResourceMeta { operations, ..meta }), impossible);
    let under = Some(Under { resource: "group", field: "group_id" });
    refused(with_door(&["note"], |meta| ResourceMeta { under, ..meta }), impossible);
    refused(with_door(&["note"], |meta| ResourceMeta { singleton: true, ..meta }), impossible);
}
