// Generated from tests/golden/exchange_rate.yaml. `cargo charter expand exchange_rate` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "exchange_rate",
    plural = "exchange_rates",
    table = "exchange_rates",
    label = "Exchange rate",
    type_name = "ExchangeRate",
    path = "exchange_rates",
    ability = "exchange_rates"
)]
#[resource(events)]
#[resource(read_permission = "settings.manage", write_permission = "settings.manage")]
#[resource(index("source_currency_code", "target_currency_code", "effective_at"))]
#[resource(
    action(
        name = "convert",
        on = "collection",
        method = "get",
        input = ConvertInput,
        output = ConvertOutput,
        key = "conversion"
    )
)]
pub struct Model {
    pub id: i64,
    #[field(string(3), required, exists = "currency.code")]
    pub source_currency_code: String,
    #[field(
        string(3),
        required,
        exists = "currency.code",
        differs_from = "source_currency_code"
    )]
    pub target_currency_code: String,
    #[field(decimal(18, 8), required, above = "0")]
    pub rate: Decimal<8>,
    #[field(decimal(18, 8), default_hook, above = "0")]
    pub inverse_rate: Decimal<8>,
    #[field(string(255), default = "manual")]
    pub source: String,
    #[field(timestamp(offset), default_now)]
    pub effective_at: DateTimeUtc,
    #[field(timestamp(offset), after = "effective_at")]
    pub expires_at: Option<DateTimeUtc>,
    #[field(timestamp(offset), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(offset), read_only)]
    pub updated_at: DateTimeUtc,
}

#[derive(Clone, Debug, Input)]
pub struct ConvertInput {
    #[field(string(3), required, exists = "currency.code")]
    pub from: String,
    #[field(string(3), required, exists = "currency.code")]
    pub to: String,
    #[field(decimal(18, 8), required)]
    pub amount: Decimal<8>,
    #[field(timestamp(offset), default_now)]
    pub at: DateTimeUtc,
}

#[derive(Clone, Debug, Output)]
pub struct ConvertOutput {
    #[field(string(3))]
    pub from: String,
    #[field(string(3))]
    pub to: String,
    #[field(decimal(18, 8))]
    pub amount: Decimal<8>,
    #[field(decimal(18, 8))]
    pub rate: Decimal<8>,
    #[field(string(40))]
    pub result: String,
    #[field(enumeration("direct", "inverse", "triangulated"))]
    pub method: ConvertMethod,
    #[field(list(3))]
    pub path: Json,
    #[field(timestamp(offset))]
    pub at: DateTimeUtc,
}

#[diagnostic::on_unimplemented(
    message = "`exchange_rate` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/exchange_rate.yaml:19 declares them; write `impl exchange_rate::Behaviour for exchange_rate::Entity` in src/resources/exchange_rate.rs"
)]
pub trait Behaviour {
    fn before_save(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/exchange_rate.yaml:19
    fn convert(
        context: &Context<'_>,
        input: ConvertInput,
    ) -> impl Future<Output = Result<ConvertOutput>> + Send; // tests/golden/exchange_rate.yaml:21
}

pub fn route() -> Route {
    route!(
        Entity, Behaviour, hooks(before_save), actions(collection_input convert :
        ConvertInput)
    )
}
