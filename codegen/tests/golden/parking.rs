// Generated from tests/golden/parking.yaml. `cargo charter expand parking` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "parking",
    plural = "parkings",
    table = "parkings",
    label = "Parking",
    type_name = "Parking",
    path = "parkings",
    ability = "parkings"
)]
#[resource(events, emits("expired", "ticketed"))]
#[resource(action(name = "extend", on = "record", method = "post", input = ExtendInput))]
#[resource(
    action(
        name = "quote",
        on = "record",
        method = "post",
        output = QuoteOutput,
        key = "quote",
        external
    )
)]
pub struct Model {
    pub id: i64,
    #[field(string(20), required)]
    pub plate: String,
    #[field(enumeration("paid", "not paid", "2 hours"), read_only, default = "paid")]
    pub result: ResultValue,
    #[field(code(1 = "Inner city", 2 = "Outskirts"))]
    pub zone: Option<Zone>,
    #[field(enumeration("+", "-"), default = "+")]
    pub sign: String,
    #[field(enumeration("street", "garage"))]
    pub context: Option<ContextValue>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

#[derive(Clone, Debug, Input)]
pub struct ExtendInput {
    #[field(enumeration("hour", "day"), required)]
    pub by: ExtendBy,
}

#[derive(Clone, Debug, Output)]
pub struct QuoteOutput {
    #[field(enumeration("open", "closed"))]
    pub state: QuoteState,
}

#[diagnostic::on_unimplemented(
    message = "`parking` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/parking.yaml:12 declares them; write `impl parking::Behaviour for parking::Entity` in src/resources/parking.rs"
)]
pub trait Behaviour {
    fn after_save(
        context: &Context<'_>,
        record: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/parking.yaml:12
    fn after_commit(
        context: &Context<'_>,
        record: &Model,
        before: Option<&Model>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/parking.yaml:12
    fn extend(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
        input: ExtendInput,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/parking.yaml:14
    fn quote(
        context: &Context<'_>,
        record: &Model,
    ) -> impl Future<Output = Result<QuoteOutput>> + Send; // tests/golden/parking.yaml:15
    fn expire(context: &Context<'_>) -> impl Future<Output = Result<()>> + Send; // tests/golden/parking.yaml:21
    fn report(context: &Context<'_>) -> impl Future<Output = Result<()>> + Send; // tests/golden/parking.yaml:22
}

pub fn route() -> Route {
    route!(
        Entity, Behaviour, hooks(after_save, after_commit), actions(record_input extend :
        ExtendInput, record_output quote), jobs(expire : Schedule { timeout : 120,
        attempts : 3, ..Schedule::every(300) }, report : Schedule { external : true,
        ..Schedule::every(86400) })
    )
}
