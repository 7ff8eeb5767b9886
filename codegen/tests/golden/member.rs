// Generated from tests/golden/member.yaml. `cargo charter expand member` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "member",
    plural = "members",
    table = "members",
    label = "Member",
    type_name = "Member",
    path = "members",
    ability = "members"
)]
#[resource(custom_fields, attachments, events)]
#[resource(search("name"))]
#[resource(include(name = "customFieldValues", custom_fields))]
pub struct Model {
    pub id: i64,
    #[field(string(255), required)]
    pub name: String,
    #[field(
        enumeration("contact", "organisation", "venue", "vehicle"),
        default = "contact"
    )]
    pub membership_type: MembershipType,
    #[field(boolean, default = "true")]
    pub is_active: bool,
    pub custom_fields: Json,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

pub fn route() -> Route {
    Route::of::<Entity>()
}
