//! From where a request comes: what limits count that know no account.

use std::net::{IpAddr, Ipv6Addr};

use salvo::Request;

use crate::network::Network;

/// What the sender of a request is counted as: its address, one of IPv6 by its network of 64 bits, which one client has whole.
///
/// Proxies that are trusted tell in `X-Forwarded-For` whom they speak for, each behind what it was told itself. Read from the
/// end, the first that is no trusted proxy is the client: what stands before it anybody may have written.
pub fn origin(request: &Request, proxies: &[Network]) -> IpAddr {
    let peer = request.remote_addr().clone().into_std().map_or(IpAddr::from([0, 0, 0, 0]), |address| address.ip());
    let told: Vec<&[u8]> = request.headers().get_all("x-forwarded-for").iter().map(|one| one.as_bytes()).collect();
    counted(behind(peer, &told, proxies))
}

fn behind(peer: IpAddr, told: &[&[u8]], proxies: &[Network]) -> IpAddr {
    let is_proxy = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    let mut at = peer;
    for text in told.iter().rev().flat_map(|list| list.rsplit(|byte| *byte == b',')) {
        if !is_proxy(at) {
            break;
        }
        // Some proxies write the port too. What is no address is nobody's, and neither is what stands before it.
        let text = std::str::from_utf8(text).unwrap_or_default().trim();
        let Ok(address) = text.parse().or_else(|_| text.parse().map(|told: std::net::SocketAddr| told.ip())) else {
            break;
        };
        at = address;
    }
    at
}

fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let proxies: Vec<Network> = ["10.0.0.0/8", "fd00::/8"].iter().map(|text| text.parse().unwrap()).collect();
        for (peer, told, expected) in [
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
            // A header may hold bytes that are no text.
            let told: Vec<Vec<u8>> =
                told.iter().map(|line| line.chars().map(|letter| letter as u8).collect()).collect();
            let told: Vec<&[u8]> = told.iter().map(Vec::as_slice).collect();
            let found = behind(peer.parse().unwrap(), &told, &proxies);
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer} {told:?}");
        }
    }

    #[test]
    fn a_network_of_ipv6_is_counted_as_one() {
        let counted = |text: &str| counted(text.parse().unwrap()).to_string();
        assert_eq!(counted("2001:db8::1"), counted("2001:db8::2"));
        assert_ne!(counted("2001:db8::1"), counted("2001:db8:0:1::1"));
        assert_eq!(counted("::ffff:1.2.3.4"), "1.2.3.4");
    }
}
