//! Metadata of the derives, compared with metadata written by hand.
#![allow(clippy::duplicated_attributes, reason = "two actions may both be on a record")]

use charter_runtime::generated::*;

mod everything;

/// A resource with defaults only.
mod note {
    use charter_runtime::generated::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "field_note")]
    pub struct Model {
        pub id: i64,
        #[field(text, required)]
        pub body: String,
    }
}

fn id() -> FieldMeta {
    FieldMeta { access: Access::ReadOnly, ..FieldMeta::new("id", Kind::BigInt) }
}

/// Metadata has no equality; its debug text differs whenever its values do.
#[track_caller]
fn assert_same(actual: impl std::fmt::Debug, expected: impl std::fmt::Debug) {
    assert_eq!(format!("{actual:#?}"), format!("{expected:#?}"));
}

#[test]
fn a_short_resource_has_every_default() {
    const EXPECTED: ResourceMeta = ResourceMeta {
        name: "field_note",
        plural: "field_notes",
        label: "Field note",
        description: "",
        menu: "",
        columns: &[],
        title: "",
        type_name: "FieldNote",
        table: "field_notes",
        path: "field_notes",
        under: None,
        ability: "field_notes",
        read_permission: None,
        write_permission: None,
        owner: None,
        public: None,
        read_rule: None,
        write_rule: None,
        operations: Operation::ALL,
        singleton: false,
        soft_delete: false,
        custom_fields: false,
        attachments: false,
        events: false,
        extra_events: &[],
        fields: &[
            FieldMeta { access: Access::ReadOnly, ..FieldMeta::new("id", Kind::BigInt) },
            FieldMeta { required: true, ..FieldMeta::new("body", Kind::Text) },
        ],
        unique: &[],
        checks: &[],
        frozen: None,
        indexes: &[],
        search: &[],
        order: &[],
        ordered: &[],
        includes: &[],
        actions: &[],
        reveals: &[],
        deprecated: &[],
    };
    assert_same(note::Entity::meta(), EXPECTED);
    assert_same(note::Entity::meta().fields[0], id());
}

#[test]
fn every_key_of_the_resource_is_expanded() {
    let meta = everything::Entity::meta();
    let names = (meta.name, meta.plural, meta.label, meta.type_name, meta.table, meta.path, meta.ability);
    assert_eq!(names, ("work_order", "work_orders", "Order", "Work", "orders", "jobs", "members"));
    assert_eq!((meta.description, meta.menu), ("Work to be done.", "Work"));
    assert_eq!(meta.columns, ["name", "weight"]);
    let public = meta.public.expect("an open door");
    assert_eq!((public.create, public.limit), (&["name"][..], Rate { requests: 3, seconds: 86_400 }));
    assert_eq!(meta.reveals, [("key", "Opens it.")]);
    assert_eq!(meta.extra_events, ["lost"]);
    assert_eq!((meta.read_permission, meta.write_permission), (Some("orders.see"), Some("orders.manage")));
    assert_eq!(meta.owner, Some("user_id"));
    assert_same(meta.under, Some(Under { resource: "member", field: "member_id" }));
    assert_eq!(meta.operations, [Operation::List, Operation::Show]);
    assert!(meta.singleton && meta.soft_delete && meta.custom_fields && meta.events);
    assert_eq!(meta.unique, [UniqueMeta::plain(&["member_id", "name"])]);
    assert_eq!(meta.indexes, [&["name"][..], &["weight", "id"]]);
    assert_eq!(meta.search, ["name", "notes"]);
    assert_eq!(meta.ordered, ["weight"]);
    let includes = [
        IncludeMeta { name: "member", target: IncludeTarget::One { via: "member_id" }, fields: &["id", "name"] },
        IncludeMeta {
            name: "lines",
            target: IncludeTarget::Many { resource: "order_line", by: "work_order_id" },
            fields: &[],
        },
        IncludeMeta { name: "customFieldValues", target: IncludeTarget::CustomFieldValues, fields: &[] },
    ];
    assert_same(meta.includes, includes);
    let actions = [
        ActionMeta {
            name: "close",
            on: ActionOn::Record,
            method: ActionMethod::Post,
            input: &[],
            output: ActionOutput::Record,
            event: Some("closed"),
            until: Some(Until { field: "notes", is: false }),
            confirm: "It cannot be opened again.",
            description: "Ends it.",
            external: false,
            needs_write: false,
            reveals: &[("code", "Closes it.")],
            rule: None,
        },
        ActionMeta {
            name: "copy",
            on: ActionOn::Record,
            method: ActionMethod::Post,
            input: &[],
            output: ActionOutput::Created,
            event: None,
            until: None,
            confirm: "",
            description: "",
            external: false,
            needs_write: false,
            reveals: &[],
            rule: None,
        },
        ActionMeta {
            name: "quote",
            on: ActionOn::Collection,
            method: ActionMethod::Get,
            input: everything::QuoteInput::FIELDS,
            output: ActionOutput::Fields { key: "quote", fields: everything::QuoteOutput::FIELDS },
            event: None,
            until: None,
            confirm: "",
            description: "",
            external: true,
            needs_write: true,
            reveals: &[],
            rule: None,
        },
    ];
    assert_same(meta.actions, actions);
}

#[test]
fn every_key_of_a_field_is_expanded_in_order() {
    let plain = FieldMeta::new;
    let unsorted = |name, kind| FieldMeta { sortable: false, ..plain(name, kind) };
    let hidden = |name, kind, access| FieldMeta {
        access,
        shown: Shown::Never,
        filter: Filter::Off,
        sortable: false,
        ..plain(name, kind)
    };
    let expected = [
        hidden("id", Kind::BigInt, Access::Internal),
        FieldMeta {
            required: true,
            rules: &[Rule::MinLength(1), Rule::Pattern("[A-Z].*")],
            description: "The name of the house.",
            example: "Roof",
            ..plain("name", Kind::String { max: 255 })
        },
        FieldMeta { nullable: true, filter: Filter::Only(&["eq", "cont"]), ..unsorted("notes", Kind::Text) },
        FieldMeta { required: true, access: Access::Immutable, ..plain("member_id", Kind::Ref { resource: "member" }) },
        FieldMeta {
            nullable: true,
            access: Access::ReadOnly,
            shown: Shown::Detail,
            filter: Filter::Off,
            ..unsorted("member_name", Kind::Derived { via: "member_id", field: "name" })
        },
        FieldMeta {
            shown: Shown::Detail,
            filter: Filter::Off,
            ..unsorted("lines", Kind::Embedded { resource: "order_line", by: "work_order_id" })
        },
        FieldMeta {
            default: DefaultValue::Literal("rental"),
            ..plain("type", Kind::Enum { values: &["rental", "sale"] })
        },
        FieldMeta {
            default: DefaultValue::Literal("-2"),
            ..plain("stock_method", Kind::Code { values: &[(1, "Bulk"), (-2, "Serialised")] })
        },
        FieldMeta {
            access: Access::ReadOnly,
            filter: Filter::Off,
            ..plain("stock_method_name", Kind::Derived { via: "stock_method", field: "label" })
        },
        FieldMeta {
            rules: &[Rule::Min("0"), Rule::Max("1000.5"), Rule::Above("-1"), Rule::Below("2000")],
            ..plain("weight", Kind::Decimal { precision: 12, places: 4 })
        },
        plain("count", Kind::Integer),
        FieldMeta { access: Access::ReadOnly, value: "count * 2", ..plain("total", Kind::BigInt) },
        FieldMeta {
            access: Access::ReadOnly,
            nullable: true,
            rollup: Some(RollupMeta {
                function: RollupFunction::Max,
                of: "loan",
                by: "order_id",
                field: Some("fee"),
                rows: Some("fee > 0"),
            }),
            ..plain("highest", Kind::BigInt)
        },
        FieldMeta { default: DefaultValue::Literal("true"), ..plain("active", Kind::Boolean) },
        FieldMeta {
            default: DefaultValue::Now,
            shown: Shown::Detail,
            filter: Filter::Off,
            ..unsorted("starts_at", Kind::Timestamp { form: TimestampForm::Offset })
        },
        FieldMeta {
            nullable: true,
            rules: &[Rule::After("starts_at"), Rule::NotBefore("created_at")],
            ..plain("ends_at", Kind::Timestamp { form: TimestampForm::Millis })
        },
        FieldMeta { nullable: true, ..plain("due", Kind::Date) },
        plain("key", Kind::Uuid),
        FieldMeta { rules: &[Rule::MaxLength(3)], ..unsorted("tags", Kind::StringList { max: 50 }) },
        unsorted("role_ids", Kind::RefList { resource: "role" }),
        unsorted("extra", Kind::Json),
        FieldMeta {
            nullable: true,
            ..plain("regarding_type", Kind::PolymorphicType { type_names: &["Member", "Product"] })
        },
        FieldMeta { nullable: true, ..plain("regarding_id", Kind::PolymorphicRef { type_field: "regarding_type" }) },
        FieldMeta {
            default: DefaultValue::Caller,
            access: Access::ReadOnly,
            ..plain("user_id", Kind::Ref { resource: "user" })
        },
        FieldMeta { rules: &[Rule::Url], ..hidden("hook", Kind::String { max: 2000 }, Access::Secret) },
        FieldMeta {
            rules: &[
                Rule::Email,
                Rule::Unique,
                Rule::Exists { resource: "member", field: "email" },
                Rule::DiffersFrom("hook"),
            ],
            filter: Filter::Off,
            ..plain("email", Kind::String { max: 255 })
        },
        unsorted("custom_fields", Kind::CustomFields),
        FieldMeta { access: Access::ReadOnly, ..plain("created_at", Kind::Timestamp { form: TimestampForm::Seconds }) },
        FieldMeta {
            nullable: true,
            ..hidden("deleted_at", Kind::Timestamp { form: TimestampForm::Seconds }, Access::Internal)
        },
    ];
    assert_same(everything::Entity::meta().fields, expected);
}

#[test]
fn parameters_and_answers_keep_the_order_of_their_fields() {
    let names: Vec<&str> = everything::QuoteInput::FIELDS.iter().map(|field| field.name).collect();
    assert_eq!(names, ["from", "amount", "at"]);
    let amount: Decimal<8> = "2.5".parse().expect("a number");
    let values = vec!["GBP".into(), amount.into(), Value::ChronoDateTimeUtc(None)];
    let input = everything::QuoteInput::from_values(values).expect("three values of the right types");
    assert_eq!((input.from.as_str(), input.amount, input.at), ("GBP", amount, None));

    let wrong = everything::QuoteInput::from_values(vec!["GBP".into(), "2.5".into(), Value::ChronoDateTimeUtc(None)]);
    assert!(wrong.expect_err("an amount of text").to_string().contains("`amount`"));
    let missing = everything::QuoteInput::from_values(vec!["GBP".into()]);
    assert!(missing.expect_err("no amount").to_string().contains("amount"));

    let output = everything::QuoteOutput { from: "GBP".into(), at: None, path: Json::from(vec!["GBP"]) };
    let expected = [Value::from("GBP"), Value::ChronoDateTimeUtc(None), Value::from(Json::from(vec!["GBP"]))];
    assert_eq!(output.into_values(), expected);
}
