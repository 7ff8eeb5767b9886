// Generated from tests/golden/ticket.yaml. `cargo charter expand ticket` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "ticket",
    plural = "tickets",
    table = "tickets",
    label = "Ticket",
    type_name = "Ticket",
    path = "tickets",
    ability = "tickets"
)]
#[resource(events)]
#[resource(write_rule = "title != 'locked' or caller.can(tickets.unlock)")]
#[resource(include(name = "can", allowed_actions))]
#[resource(
    action(
        name = "wait",
        on = "record",
        method = "post",
        transition(field = "status", from("open"), to = "pending")
    )
)]
#[resource(
    action(
        name = "solve",
        on = "record",
        method = "post",
        event = "solved",
        confirm = "The customer gets a mail.",
        description = "Marks the ticket as solved.",
        transition(
            field = "status",
            from("open", "pending"),
            to = "solved",
            guard = "hours > 0 and hours < 100",
            set(field = "solved_at", now),
            set(field = "solved_on", today),
            set(field = "agent_id", caller),
            set(field = "note", null),
            set(field = "source", value = "it's \"now\"")
        )
    )
)]
#[resource(
    action(
        name = "reopen",
        on = "record",
        method = "post",
        transition(
            field = "status",
            from("solved"),
            to = "open",
            message = "only a solved ticket can be reopened",
            set(field = "solved_at", null)
        )
    )
)]
#[resource(
    action(
        name = "merge",
        on = "record",
        method = "post",
        transition(
            field = "status",
            from("open", "pending"),
            to = "merged",
            permission = "tickets.merge"
        )
    )
)]
#[resource(
    action(
        name = "touch",
        on = "record",
        method = "post",
        transition(
            field = "status",
            from("open", "pending", "solved", "merged"),
            to = "open",
            set(field = "touched", value = "true")
        )
    )
)]
pub struct Model {
    pub id: i64,
    #[field(string(80), required)]
    pub title: String,
    #[field(
        enumeration("open", "pending", "solved", "merged"),
        immutable,
        default = "open"
    )]
    pub status: Status,
    #[field(enumeration("low", "high"), default = "low")]
    pub priority: Priority,
    #[field(bigint)]
    pub hours: Option<i64>,
    #[field(string(200), required_when = "status = pending and priority = high")]
    pub note: Option<String>,
    #[field(string(20), read_only)]
    pub source: Option<String>,
    #[field(reference("user"), read_only)]
    pub agent_id: Option<i64>,
    #[field(bigint)]
    pub follows: Option<i64>,
    #[field(boolean, read_only, default = "false")]
    pub touched: bool,
    #[field(timestamp(seconds), read_only)]
    pub solved_at: Option<DateTimeUtc>,
    #[field(date, read_only)]
    pub solved_on: Option<Date>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

#[diagnostic::on_unimplemented(
    message = "`ticket` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/ticket.yaml:32 declares them; write `impl ticket::Behaviour for ticket::Entity` in src/resources/ticket.rs"
)]
pub trait Behaviour {
    fn check(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/ticket.yaml:32
    fn after_save(
        context: &Context<'_>,
        record: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/ticket.yaml:32
}

pub fn route() -> Route {
    route!(Entity, Behaviour, hooks(check, after_save), actions())
}
