// Generated from tests/golden/activity_participant.yaml. `cargo charter expand activity_participant` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "activity_participant",
    plural = "activity_participants",
    table = "activity_participants",
    label = "Activity participant",
    type_name = "ActivityParticipant",
    path = "activity_participants",
    ability = "activity_participants"
)]
#[resource(operations())]
#[resource(unique("activity_id", "member_id"))]
pub struct Model {
    pub id: i64,
    #[field(reference("activity"), required, immutable)]
    pub activity_id: i64,
    #[field(reference("member"), required)]
    #[derived("member_name", from = "member_id.name")]
    pub member_id: i64,
    #[field(boolean, default = "false")]
    pub mute: bool,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
