// Generated from tests/golden/document.yaml. `cargo charter expand document` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "document",
    plural = "documents",
    table = "documents",
    label = "Document",
    type_name = "Document",
    path = "documents",
    ability = "members"
)]
#[resource(operations("list", "show", "create", "delete"))]
#[resource(
    index("mime_type", "id"),
    index("category", "id"),
    ordered("attachable_id", "created_at", "original_name", "file_size"),
    search("original_name")
)]
#[resource(
    action(
        name = "content",
        on = "record",
        method = "get",
        input = ContentInput,
        output = ContentOutput,
        key = "link"
    )
)]
pub struct Model {
    #[field(no_filter, no_sort)]
    pub id: i64,
    #[field(
        polymorphic_type("member", "product"),
        required,
        immutable,
        no_filter,
        no_sort
    )]
    pub attachable_type: String,
    #[field(
        polymorphic_id(type_field = "attachable_type"),
        required,
        immutable,
        no_sort
    )]
    pub attachable_id: i64,
    #[field(uuid, read_only, default_hook, unique, no_filter, no_sort)]
    pub uuid: Uuid,
    #[field(string(255), required, min_length = 1, filter("cont"))]
    pub original_name: String,
    #[field(
        string(127),
        read_only,
        default = "application/octet-stream",
        filter("eq"),
        no_sort
    )]
    pub mime_type: String,
    #[field(bigint, read_only, default = "0", min = "0", no_filter)]
    pub file_size: i64,
    #[field(string(50), filter("eq", "null", "not_null"), no_sort)]
    pub category: Option<String>,
    #[field(string(1000), no_filter, no_sort)]
    pub description: Option<String>,
    #[field(string(2000), url, no_filter, no_sort)]
    pub source_url: Option<String>,
    #[field(date, no_filter, no_sort)]
    pub taken_on: Option<Date>,
    #[field(reference("user"), read_only, default_caller, no_filter, no_sort)]
    pub uploaded_by: i64,
    #[field(timestamp(offset), read_only, no_filter)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(offset), read_only, no_filter, no_sort)]
    pub updated_at: DateTimeUtc,
    #[field(string(255), secret, default_hook, detail)]
    pub storage_key: String,
    #[field(json, detail)]
    pub exif: Json,
}

#[derive(Clone, Debug, Input)]
pub struct ContentInput {
    #[field(integer, min = "16", max = "4096")]
    pub width: Option<i32>,
}

#[derive(Clone, Debug, Output)]
pub struct ContentOutput {
    #[field(text)]
    pub url: String,
    #[field(timestamp(offset))]
    pub expires_at: DateTimeUtc,
}

#[diagnostic::on_unimplemented(
    message = "`document` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/document.yaml:30 declares them; write `impl document::Behaviour for document::Entity` in src/resources/document.rs"
)]
pub trait Behaviour {
    fn before_save(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/document.yaml:30
    fn after_delete(
        context: &Context<'_>,
        record: &Model,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/document.yaml:30
    fn after_commit(
        context: &Context<'_>,
        record: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/document.yaml:30
    fn content(
        context: &Context<'_>,
        record: &Model,
        input: ContentInput,
    ) -> impl Future<Output = Result<ContentOutput>> + Send; // tests/golden/document.yaml:32
}

pub fn route() -> Route {
    route!(
        Entity, Behaviour, hooks(before_save, after_delete, after_commit),
        actions(record_input_output content : ContentInput)
    )
}
