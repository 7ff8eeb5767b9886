// Generated from tests/golden/employee.yaml. `cargo charter expand employee` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "employee",
    plural = "employees",
    table = "staff",
    label = "Member of staff",
    type_name = "Employee",
    path = "staff",
    ability = "employees"
)]
#[resource(write_permission = "users.manage")]
#[resource(search("name", "email"))]
#[resource(
    action(
        name = "deactivate",
        on = "record",
        method = "post",
        until = "not is_active",
        confirm = "The employee can no longer sign in."
    )
)]
#[resource(
    action(
        name = "invite",
        on = "collection",
        method = "post",
        input = InviteInput,
        output = InviteOutput,
        key = "invitation"
    )
)]
pub struct Model {
    pub id: i64,
    #[field(enumeration("permanent", "seasonal"), default = "permanent")]
    pub r#type: Type,
    #[field(string(255), required)]
    pub name: String,
    #[field(string(255), required, email, unique)]
    pub email: String,
    #[field(boolean, default = "true")]
    pub is_active: bool,
    #[field(string(255), secret, min_length = 12)]
    pub password: Option<String>,
    #[field(date)]
    pub born_on: Option<Date>,
    #[field(time, default = "09:00:00")]
    pub starts_at: Time,
    #[field(time, after = "starts_at")]
    pub ends_at: Option<Time>,
    #[field(timestamp(seconds), default_now)]
    pub hired_at: DateTimeUtc,
    #[field(ref_list("role"))]
    pub role_ids: Json,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

#[derive(Clone, Debug, Input)]
pub struct InviteInput {
    #[field(list(255), required, min_length = 1, max_length = 50)]
    pub emails: Json,
    #[field(string(5), default = "en")]
    pub language: String,
}

#[derive(Clone, Debug, Output)]
pub struct InviteOutput {
    #[field(integer)]
    pub sent: i32,
    #[field(list(255))]
    pub refused: Json,
}

#[diagnostic::on_unimplemented(
    message = "`employee` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/employee.yaml:22 declares them; write `impl employee::Behaviour for employee::Entity` in src/resources/employee.rs"
)]
pub trait Behaviour {
    fn before_save(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/employee.yaml:22
    fn after_save(
        context: &Context<'_>,
        record: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/employee.yaml:22
    fn deactivate(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/employee.yaml:24
    fn invite(
        context: &Context<'_>,
        input: InviteInput,
    ) -> impl Future<Output = Result<InviteOutput>> + Send; // tests/golden/employee.yaml:25
}

pub fn route() -> Route {
    route!(
        Entity, Behaviour, hooks(before_save, after_save), actions(record deactivate,
        collection_input invite : InviteInput)
    )
}
