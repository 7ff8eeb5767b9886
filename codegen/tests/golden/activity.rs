// Generated from tests/golden/activity.yaml. `cargo charter expand activity` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "activity",
    plural = "activities",
    table = "activities",
    label = "Activity",
    type_name = "Activity",
    path = "activities",
    ability = "activities"
)]
#[resource(custom_fields, events)]
#[resource(
    index("regarding_type", "regarding_id"),
    index("owned_by", "starts_at"),
    ordered("subject", "starts_at", "ends_at", "created_at"),
    search("subject")
)]
#[resource(
    include(name = "owner", via = "owned_by", fields("id", "name", "email")),
    include(name = "regarding", via = "regarding_id"),
    include(name = "customFieldValues", custom_fields)
)]
#[resource(action(name = "complete", on = "record", method = "post"))]
pub struct Model {
    #[field(no_sort)]
    pub id: i64,
    #[field(string(255), required)]
    pub subject: String,
    #[field(text, no_sort)]
    pub description: Option<String>,
    #[field(string(255), no_sort)]
    pub location: Option<String>,
    #[field(polymorphic_type("member", "product", "stock_level"), no_sort)]
    pub regarding_type: Option<String>,
    #[field(polymorphic_id(type_field = "regarding_type"), no_sort)]
    #[field(example = "7")]
    pub regarding_id: Option<i64>,
    #[field(reference("user"), default_caller, no_sort)]
    pub owned_by: i64,
    #[field(timestamp(millis))]
    pub starts_at: Option<DateTimeUtc>,
    #[field(timestamp(millis), not_before = "starts_at")]
    pub ends_at: Option<DateTimeUtc>,
    #[field(code(0 = "Low", 1 = "Normal", 2 = "High"), default = "1")]
    pub priority: Priority,
    #[field(
        code(
            1001 = "Task",
            1002 = "Call",
            1003 = "Fax",
            1004 = "Email",
            1005 = "Meeting",
            1006 = "Note",
            1007 = "Letter"
        ),
        default = "1001"
    )]
    pub type_id: TypeId,
    #[field(
        code(2001 = "Scheduled", 2002 = "Completed", 2003 = "Cancelled", 2004 = "Held"),
        default = "2001"
    )]
    pub status_id: StatusId,
    #[field(boolean, read_only, default = "false", no_sort)]
    pub completed: bool,
    #[field(code(0 = "Free", 1 = "Busy"), default = "0", no_sort)]
    #[embedded("participants", resource = "activity_participant", by = "activity_id")]
    #[derived("activity_type_name", from = "type_id.label", no_sort)]
    #[derived("activity_status_name", from = "status_id.label", no_sort)]
    #[derived("time_status_name", from = "time_status.label", no_sort)]
    pub time_status: TimeStatus,
    pub custom_fields: Json,
    #[field(timestamp(millis), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(millis), read_only, no_sort)]
    pub updated_at: DateTimeUtc,
}

#[diagnostic::on_unimplemented(
    message = "`activity` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/activity.yaml:39 declares them; write `impl activity::Behaviour for activity::Entity` in src/resources/activity.rs"
)]
pub trait Behaviour {
    fn before_save(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/activity.yaml:39
    fn complete(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/activity.yaml:41
}

pub fn route() -> Route {
    route!(Entity, Behaviour, hooks(before_save), actions(record complete))
}
