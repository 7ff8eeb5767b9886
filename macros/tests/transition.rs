//! Metadata of transitions, compared with metadata written by hand.
#![allow(clippy::duplicated_attributes, reason = "two actions may both be on a record")]

use charter_runtime::generated::*;

/// Every key of a transition.
mod door {
    use charter_runtime::generated::*;

    #[derive(Clone, Debug, PartialEq, Resource)]
    #[resource(name = "door", include(name = "can", allowed_actions))]
    #[resource(action(name = "shut", on = "record", transition(field = "state", from("open"), to = "shut")))]
    #[resource(action(
        name = "lock",
        on = "record",
        event = "locked",
        transition(
            field = "state",
            from("open", "shut"),
            to = "locked",
            guard = "key is not null",
            permission = "doors.lock",
            message = "There is no key.",
            set(field = "key", null),
            set(field = "note", value = "Locked"),
            set(field = "locked_at", now),
            set(field = "locked_on", today),
            set(field = "user_id", caller)
        )
    ))]
    #[resource(action(
        name = "check",
        on = "record",
        rule(guard = "key is null", set(field = "locked_at", expression = "coalesce(locked_at, now)"))
    ))]
    pub struct Model {
        pub id: i64,
        #[field(enumeration("open", "shut", "locked"), default = "open", immutable)]
        pub state: String,
        #[field(string(9))]
        pub key: Option<String>,
        #[field(text)]
        pub note: Option<String>,
        pub locked_at: Option<DateTimeUtc>,
        pub locked_on: Option<Date>,
        #[field(reference("user"))]
        pub user_id: Option<i64>,
    }
}

#[test]
fn every_key_of_a_transition_is_expanded() {
    let meta = door::Entity::meta();
    assert_eq!(meta.state_field(), Some("state"));
    let found: Vec<String> = meta.transitions().map(|(action, one)| format!("{} {one:?}", action.name)).collect();
    let shut = StateChange { field: "state", from: &["open"], to: "shut" };
    let lock = StateChange { from: &["open", "shut"], to: "locked", ..shut };
    assert_eq!(found, [format!("shut {shut:?}"), format!("lock {lock:?}")]);
    let rules: Vec<String> = meta.ruled_actions().map(|(_, rule)| format!("{rule:?}")).collect();
    let plain = ActionRule { change: Some(shut), guard: None, permission: None, message: None, set: &[] };
    let locked = ActionRule {
        change: Some(lock),
        guard: Some("key is not null"),
        permission: Some("doors.lock"),
        message: Some("There is no key."),
        set: &[
            ("key", SetValue::Null),
            ("note", SetValue::Literal("Locked")),
            ("locked_at", SetValue::Now),
            ("locked_on", SetValue::Today),
            ("user_id", SetValue::Caller),
        ],
    };
    let checked = ActionRule {
        change: None,
        guard: Some("key is null"),
        set: &[("locked_at", SetValue::Expression("coalesce(locked_at, now)"))],
        ..plain
    };
    assert_eq!(rules, [plain, locked, checked].map(|rule| format!("{rule:?}")));
    assert_eq!(meta.includes[0].target, IncludeTarget::AllowedActions);
}
