//! IP networks in CIDR notation, and host names of the local machine.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// An IP network, `10.0.0.0/8` or `fd00::/8`, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    /// True if the network contains an address. IPv4-mapped IPv6 addresses are compared as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let network = match text.split_once('/') {
            // The parser of ipnet reads octets with leading zeros as decimal, other programs as octal. This one refuses them.
            Some((address, prefix)) => address.parse().ok().zip(prefix.parse().ok()),
            None => text.parse().ok().map(|address| (address, IpNet::from(address).prefix_len())),
        };
        let network = network.and_then(|(address, prefix)| IpNet::new(address, prefix).ok());
        network.map(Network).ok_or_else(|| format!("`{text}` is not a network such as 10.0.0.0/8 or fd00::/8"))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// True if a host name stands for the local machine.
pub fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    matches!(name.as_str(), "localhost" | "ip6-localhost" | "ip6-loopback" | "localhost.localdomain")
        || matches!(name.as_str(), "localhost6" | "localhost4" | "localhost6.localdomain6" | "localhost4.localdomain4")
        || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_contains_its_first_and_last_address_only() {
        let network: Network = "10.1.2.0/23".parse().unwrap();
        for (text, inside) in [
            ("10.1.1.255", false),
            ("10.1.2.0", true),
            ("10.1.3.255", true),
            ("10.1.4.0", false),
            ("::ffff:10.1.2.9", true),
        ] {
            assert_eq!(network.contains(text.parse().unwrap()), inside, "{text}");
        }
        assert!("0.0.0.0/0".parse::<Network>().unwrap().contains("9.9.9.9".parse().unwrap()));
        assert!("::/0".parse::<Network>().unwrap().contains("fd00::1".parse().unwrap()));
        assert!(!"0.0.0.0/0".parse::<Network>().unwrap().contains("fd00::1".parse().unwrap()));
        assert_eq!("192.168.7.7".parse::<Network>().unwrap().to_string(), "192.168.7.7/32");
        for bad in
            ["", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/", "10.0.0.0/-1", "010.0.0.0/8", "example.com/8"]
        {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
