// Generated from tests/golden/subscription.yaml. `cargo charter expand subscription` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "subscription",
    plural = "subscriptions",
    table = "subscriptions",
    label = "Subscription",
    type_name = "Subscription",
    path = "subscriptions",
    ability = "subscriptions"
)]
#[resource(description = "An address that is told of events.")]
#[resource(soft_delete, events)]
#[resource(
    read_permission = "hooks.view",
    write_permission = "hooks.manage",
    owner = "user_id"
)]
#[resource(ordered("created_at"))]
#[resource(
    include(
        name = "deliveries",
        many = "delivery",
        by = "subscription_id",
        fields("id", "event", "attempt", "response_status")
    )
)]
#[resource(
    action(
        name = "test",
        on = "record",
        method = "post",
        output = TestOutput,
        key = "delivery",
        description = "Sends an event that means nothing."
    )
)]
#[resource(
    action(
        name = "rotate",
        on = "record",
        method = "post",
        input = RotateInput,
        event = "rotated"
    )
)]
#[resource(action(name = "copy", on = "record", method = "post", creates))]
pub struct Model {
    #[field(no_filter, no_sort)]
    pub id: i64,
    #[field(string(2000), required, url, no_filter, no_sort)]
    #[field(
        description = "Where events are sent.",
        example = "https://example.com/hook"
    )]
    pub url: String,
    #[field(list(100), required, min_length = 1, no_filter)]
    pub events: Json,
    #[field(reference("user"), read_only, default_caller, no_filter, no_sort)]
    pub user_id: i64,
    #[field(boolean, default = "true", no_filter, no_sort)]
    pub is_active: bool,
    #[field(string(64), secret, default_hook)]
    pub secret: String,
    #[field(timestamp(seconds), read_only, no_filter, no_sort)]
    pub failing_since: Option<DateTimeUtc>,
    #[field(timestamp(seconds), read_only, after = "failing_since", no_filter, no_sort)]
    pub disabled_at: Option<DateTimeUtc>,
    #[field(timestamp(seconds), read_only, no_filter)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only, no_filter, no_sort)]
    pub updated_at: DateTimeUtc,
    #[field(timestamp(seconds), internal)]
    pub deleted_at: Option<DateTimeUtc>,
}

#[derive(Clone, Debug, Output)]
pub struct TestOutput {
    #[field(boolean)]
    pub delivered: bool,
    #[field(integer)]
    pub response_status: Option<i32>,
    #[field(text)]
    #[field(description = "What went wrong.")]
    pub error: Option<String>,
    #[field(integer)]
    pub duration_ms: i32,
}

#[derive(Clone, Debug, Input)]
pub struct RotateInput {
    #[field(decimal(4, 1), default = "24", above = "0", below = "100")]
    #[field(example = "12")]
    pub overlap_hours: Decimal<1>,
}

#[diagnostic::on_unimplemented(
    message = "`subscription` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/subscription.yaml:24 declares them; write `impl subscription::Behaviour for subscription::Entity` in src/resources/subscription.rs"
)]
pub trait Behaviour {
    fn before_save(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/subscription.yaml:24
    fn test(
        context: &Context<'_>,
        record: &Model,
    ) -> impl Future<Output = Result<TestOutput>> + Send; // tests/golden/subscription.yaml:26
    fn rotate(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
        input: RotateInput,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/subscription.yaml:35
    fn copy(
        context: &Context<'_>,
        record: &Model,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/subscription.yaml:40
}

pub fn route() -> Route {
    route!(
        Entity, Behaviour, hooks(before_save), actions(record_output test, record_input
        rotate : RotateInput, record_created copy)
    )
}
