//! Client address behind trusted proxies, from `X-Forwarded-For`.

use std::net::{IpAddr, Ipv6Addr};

use salvo::Request;

use charter_core::network::Network;

/// Address of the client of a request that the server sends to itself, as the panel does. Clients cannot set it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForwardedAddress(pub IpAddr);

/// The address of the client for rate limits. An IPv6 address stands for its /64 network, which one client has whole.
pub fn client_ip(request: &Request, proxies: &[Network]) -> IpAddr {
    rate_limit_address(client_address(request, proxies))
}

/// The address of the client.
///
/// Each trusted proxy appends the address of its own peer to `X-Forwarded-For`. Read from the end, the first address that is not
/// a trusted proxy is the client; a client can forge everything before it.
pub fn client_address(request: &Request, proxies: &[Network]) -> IpAddr {
    if let Some(ForwardedAddress(address)) = request.extensions().get() {
        return *address;
    }
    let peer = request.remote_addr().clone().into_std().map_or(IpAddr::from([0, 0, 0, 0]), |address| address.ip());
    let forwarded: Vec<&[u8]> = request.headers().get_all("x-forwarded-for").iter().map(|one| one.as_bytes()).collect();
    resolve(peer, &forwarded, proxies).to_canonical()
}

fn resolve(peer: IpAddr, forwarded: &[&[u8]], proxies: &[Network]) -> IpAddr {
    let is_proxy = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    let mut client = peer;
    for text in forwarded.iter().rev().flat_map(|list| list.rsplit(|byte| *byte == b',')) {
        if !is_proxy(client) {
            break;
        }
        // Some proxies append the port. A text that is not an address ends the search.
        let text = std::str::from_utf8(text).unwrap_or_default().trim();
        let Ok(address) = text.parse().or_else(|_| text.parse().map(|socket: std::net::SocketAddr| socket.ip())) else {
            break;
        };
        client = address;
    }
    client
}

pub(super) fn rate_limit_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_set_the_client_address() {
        let proxies: Vec<Network> = ["10.0.0.0/8", "fd00::/8"].iter().map(|text| text.parse().unwrap()).collect();
        for (peer, forwarded, expected) in [
            ("9.9.9.9", &["1.1.1.1"][..], "9.9.9.9"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["1.1.1.1"], "1.1.1.1"),
            ("10.0.0.1", &["6.6.6.6, 1.1.1.1"], "1.1.1.1"),
            ("10.0.0.1", &["6.6.6.6, 1.1.1.1, 10.0.0.2"], "1.1.1.1"),
            ("10.0.0.1", &["6.6.6.6", "1.1.1.1,10.0.0.2"], "1.1.1.1"),
            ("10.0.0.1", &["10.0.0.3,10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["1.1.1.1:4711"], "1.1.1.1"),
            ("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("10.0.0.1", &["1.1.1.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["6.6.6.6", "\u{e9}, 1.1.1.1"], "1.1.1.1"),
            ("10.0.0.1", &["6.6.6.6", "\u{e9}"], "10.0.0.1"),
            ("::ffff:10.0.0.1", &["1.1.1.1"], "1.1.1.1"),
            ("fd00::1", &["2001:db8::1"], "2001:db8::1"),
        ] {
            // A header may hold bytes that are not UTF-8.
            let forwarded: Vec<Vec<u8>> =
                forwarded.iter().map(|line| line.chars().map(|letter| letter as u8).collect()).collect();
            let forwarded: Vec<&[u8]> = forwarded.iter().map(Vec::as_slice).collect();
            let found = resolve(peer.parse().unwrap(), &forwarded, &proxies);
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
        }
    }

    #[test]
    fn ipv6_addresses_of_one_network_share_a_rate_limit() {
        let address = |text: &str| rate_limit_address(text.parse().unwrap()).to_string();
        assert_eq!(address("2001:db8::1"), address("2001:db8::2"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:1.2.3.4"), "1.2.3.4");
    }
}
