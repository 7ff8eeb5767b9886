//! Networks from which a user has signed in within the last 90 days.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chrono::TimeDelta;

use charter_core::db::Sql;
use charter_core::error::Result;
use charter_core::ops::{Context, State};

/// How long a network is known after the last sign-in.
const MEMORY: TimeDelta = TimeDelta::days(90);

/// The network of an address: /24 in IPv4, /56 in IPv6, which is what a provider assigns to one customer.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() >> 8 << 8)),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 72 << 72)),
    }
}

/// Returns true if the user with this email address has signed in from the network.
///
/// # Errors
/// If the database fails.
pub async fn is_known(state: &State, email: &str, network: IpAddr) -> Result<bool> {
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT 1 FROM \"user_networks\" n JOIN \"users\" u ON u.\"id\" = n.\"user_id\" WHERE u.\"email\" = ",
    );
    sql.bind(email.to_lowercase()).push(" AND n.\"network\" = ").bind(network.to_string());
    sql.push(" AND n.\"last_used_at\" > ").bind(state.clock.now() - MEMORY);
    Ok(sql.one(state.db.reader()).await?.is_some())
}

/// Remembers the network of the client, in the context's transaction, and forgets old ones of the user.
pub(super) async fn remember(context: &Context<'_>, user_id: i64) -> Result<()> {
    let Some(address) = context.client_address() else { return Ok(()) };
    let dialect = context.state().db.dialect();
    let mut old = Sql::new(dialect, "DELETE FROM \"user_networks\" WHERE \"user_id\" = ");
    old.bind(user_id).push(" AND \"last_used_at\" <= ").bind(context.now() - MEMORY);
    old.run(context.db()).await?;
    let mut sql =
        Sql::new(dialect, "INSERT INTO \"user_networks\" (\"user_id\", \"network\", \"last_used_at\") VALUES (");
    sql.bind(user_id).push(", ").bind(network_of(address).to_string()).push(", ").bind(context.now());
    sql.push(") ON CONFLICT (\"user_id\", \"network\") DO UPDATE SET \"last_used_at\" = excluded.\"last_used_at\"");
    sql.run(context.db()).await.map(drop)
}

/// Forgets the networks of a user, in the context's transaction.
pub(super) async fn forget(context: &Context<'_>, user_id: i64) -> Result<()> {
    let mut sql = Sql::new(context.state().db.dialect(), "DELETE FROM \"user_networks\" WHERE \"user_id\" = ");
    sql.bind(user_id);
    sql.run(context.db()).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_are_equal() {
        let network = |text: &str| network_of(text.parse().unwrap()).to_string();
        assert_eq!([network("203.0.113.7"), network("::ffff:203.0.113.99")], ["203.0.113.0", "203.0.113.0"]);
        assert_eq!(network("2001:db8:1:2ff::7"), "2001:db8:1:200::");
        assert_ne!(network("2001:db8:1:200::"), network("2001:db8:1:300::"));
    }
}
