//! Ranges of addresses, as settings name them, and the names of this machine.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses, `10.0.0.0/8` or `fd00::/8`; one address is a range too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    prefix: u8,
}

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                first.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                first.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let problem = || format!("`{text}` is not a network such as 10.0.0.0/8 or fd00::/8");
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let first: IpAddr = address.parse().map_err(|_| problem())?;
        let bits = if first.is_ipv4() { 32 } else { 128 };
        let prefix: u8 = prefix.map_or(Ok(bits), str::parse).map_err(|_| problem())?;
        if prefix > bits {
            return Err(problem());
        }
        Ok(Network { first, prefix })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix)
    }
}

/// Names that systems give to themselves.
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
    fn a_network_holds_its_first_and_last_address_and_no_more() {
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
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0/", "10.0.0.0/-1", "example.com/8"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }
}
