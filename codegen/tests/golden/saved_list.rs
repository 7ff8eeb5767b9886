// Generated from tests/golden/saved_list.yaml. `cargo charter expand saved_list` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "saved_list",
    plural = "saved_lists",
    table = "saved_lists",
    label = "Saved list",
    type_name = "SavedList",
    path = "saved_lists",
    ability = "saved_lists"
)]
#[resource(owner = "user_id")]
#[resource(
    action(
        name = "clone",
        on = "record",
        method = "post",
        output = CloneOutput,
        key = "saved_list"
    )
)]
pub struct Model {
    pub id: i64,
    #[field(string(255), required)]
    pub name: String,
    #[field(string(63), required, immutable, pattern = "[a-z_]+")]
    pub entity_type: String,
    #[field(enumeration("personal", "shared", "system"), default = "personal")]
    pub visibility: Visibility,
    #[field(reference("user"), read_only, default_caller)]
    pub user_id: i64,
    #[field(list(63), required, min_length = 1)]
    pub columns: Json,
    #[field(json)]
    pub filters: Json,
    #[field(string(63))]
    pub sort_column: Option<String>,
    #[field(enumeration("asc", "desc"), default = "asc")]
    pub sort_direction: SortDirection,
    #[field(integer, default = "20", min = "1", max = "100")]
    pub per_page: i32,
    #[field(ref_list("role"))]
    pub role_ids: Json,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

#[derive(Clone, Debug, Output)]
pub struct CloneOutput {
    #[field(bigint)]
    pub id: i64,
    #[field(string(255))]
    pub name: String,
}

#[diagnostic::on_unimplemented(
    message = "`saved_list` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/saved_list.yaml:18 declares them; write `impl saved_list::Behaviour for saved_list::Entity` in src/resources/saved_list.rs"
)]
pub trait Behaviour {
    fn before_save(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/saved_list.yaml:18
    fn before_delete(
        context: &Context<'_>,
        record: &Model,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/saved_list.yaml:18
    fn scope(context: &Context<'_>) -> Option<Condition>; // tests/golden/saved_list.yaml:18
    fn clone(
        context: &Context<'_>,
        record: &Model,
    ) -> impl Future<Output = Result<CloneOutput>> + Send; // tests/golden/saved_list.yaml:20
}

pub fn route() -> Route {
    route!(
        Entity, Behaviour, hooks(before_save, before_delete, scope),
        actions(record_output clone)
    )
}
