// Generated from tests/golden/parcel.yaml. `cargo charter expand parcel` prints it.

use charter_runtime::generated::*;

#[derive(Clone, Debug, PartialEq, Resource)]
#[resource(
    name = "parcel",
    plural = "parcels",
    table = "parcels",
    label = "Parcel",
    type_name = "Parcel",
    path = "parcels",
    ability = "parcels"
)]
#[resource(
    deprecated(
        field = "weight",
        since = "2026-03-21",
        sunset = "2027-03-21",
        instead = "mass"
    ),
    deprecated(field = "about_type", since = "2026-03-21"),
    deprecated(field = "about_id", since = "2026-03-21"),
    deprecated(filter = "mass_eq", since = "2026-03-21", instead = "mass_gteq"),
    deprecated(
        action = "post",
        since = "2026-03-21",
        sunset = "2027-03-21",
        instead = "send"
    )
)]
#[resource(action(name = "send", on = "record", method = "post"))]
#[resource(action(name = "post", on = "record", method = "post"))]
pub struct Model {
    pub id: i64,
    #[field(decimal(12, 4), default = "0")]
    pub mass: Decimal<4>,
    #[field(integer, default = "0")]
    pub weight: i32,
    #[field(polymorphic_type("product", "member"))]
    pub about_type: Option<String>,
    #[field(polymorphic_id(type_field = "about_type"))]
    pub about_id: Option<i64>,
    #[field(timestamp(seconds), read_only)]
    pub created_at: DateTimeUtc,
    #[field(timestamp(seconds), read_only)]
    pub updated_at: DateTimeUtc,
}

#[diagnostic::on_unimplemented(
    message = "`parcel` declares hooks, actions or jobs without an implementation",
    note = "tests/golden/parcel.yaml:9 declares them; write `impl parcel::Behaviour for parcel::Entity` in src/resources/parcel.rs"
)]
pub trait Behaviour {
    fn send(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/parcel.yaml:10
    fn post(
        context: &Context<'_>,
        draft: &mut Draft<Entity>,
    ) -> impl Future<Output = Result<()>> + Send; // tests/golden/parcel.yaml:11
}

pub fn route() -> Route {
    route!(Entity, Behaviour, hooks(), actions(record send, record post))
}
