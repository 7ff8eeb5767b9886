//! SSRF policy of webhook URLs: https and public addresses only, unless the operator allows more.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use charter_core::network::{Network, is_local_name};

/// Maximum length of a webhook URL in characters.
pub const MAX_URL_CHARACTERS: usize = 2048;

/// Exceptions that the operator allows: `CHARTER_WEBHOOK_ALLOW_HTTP` and `CHARTER_WEBHOOK_ALLOW_NETWORKS`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlPolicy {
    pub allow_http: bool,
    /// Non-public networks that deliveries may reach.
    pub networks: Vec<Network>,
}

/// The host of a URL, before any DNS lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// IP addresses that the policy permits.
    Addresses(Vec<IpAddr>),
    /// A host name whose addresses must still be resolved and checked.
    HostName(String),
}

/// Reason why a URL is rejected. The message completes the sentence "the url ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    NotAUrl,
    TooLong,
    Scheme,
    Credentials,
    Port,
    Address,
}

impl Denial {
    pub fn message(self) -> &'static str {
        match self {
            Denial::NotAUrl => "must be an absolute URL such as https://example.com/hooks",
            Denial::TooLong => "must have at most 2048 characters",
            Denial::Scheme => "must begin with https://",
            Denial::Credentials => "must not contain a user name or a password",
            Denial::Port => "uses a port that is reserved for another protocol",
            Denial::Address => "points to an address that is not public",
        }
    }
}

impl UrlPolicy {
    /// Parses a URL by the WHATWG standard, which normalizes every spelling of an IP address, and checks everything
    /// except the addresses of a host name.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(&self, url: &str) -> Result<(Url, Destination), Denial> {
        if url.chars().count() > MAX_URL_CHARACTERS {
            return Err(Denial::TooLong);
        }
        // The URL parser drops these characters silently or, like `\`, rewrites them.
        if url.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(Denial::NotAUrl);
        }
        let parsed = Url::parse(url).map_err(|_| Denial::NotAUrl)?;
        match parsed.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            _ => return Err(Denial::Scheme),
        }
        if !parsed.username().is_empty() || parsed.password().is_some() || authority(url).contains('@') {
            return Err(Denial::Credentials);
        }
        if parsed.port().is_some_and(|port| port == 0 || BLOCKED_PORTS.contains(&port)) {
            return Err(Denial::Port);
        }
        let destination = match parsed.host() {
            Some(Host::Ipv4(address)) => self.check_addresses(&[address.into()])?,
            Some(Host::Ipv6(address)) => self.check_addresses(&[address.into()])?,
            Some(Host::Domain(name)) if name.trim_end_matches('.').is_empty() => return Err(Denial::NotAUrl),
            Some(Host::Domain(name)) => match self.permitted_local_addresses(name) {
                Some(addresses) if addresses.is_empty() => return Err(Denial::Address),
                Some(addresses) => Destination::Addresses(addresses),
                None => Destination::HostName(name.to_string()),
            },
            None => return Err(Denial::NotAUrl),
        };
        Ok((parsed, destination))
    }

    fn check_addresses(&self, addresses: &[IpAddr]) -> Result<Destination, Denial> {
        match addresses.iter().all(|address| self.permits(*address)) {
            true => Ok(Destination::Addresses(addresses.to_vec())),
            false => Err(Denial::Address),
        }
    }

    /// The loopback addresses that the policy permits, if the name means this machine. DNS is not asked for such a
    /// name.
    pub fn permitted_local_addresses(&self, name: &str) -> Option<Vec<IpAddr>> {
        let own = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        is_local_name(name).then(|| own.into_iter().filter(|address| self.permits(*address)).collect())
    }

    /// Reports whether the policy permits a connection to this address.
    pub fn permits(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address) || self.networks.iter().any(|network| network.contains(address))
    }
}

/// Ports that the Fetch standard blocks, because a server of another protocol may interpret the request as its own
/// commands (<https://fetch.spec.whatwg.org/#port-blocking>).
const BLOCKED_PORTS: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
    111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
    540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
    6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// The authority of a URL: the text between `//` and the next slash. The URL parser drops an empty user name.
fn authority(url: &str) -> &str {
    let rest = url.split_once(':').map_or("", |(_, rest)| rest).trim_start_matches('/');
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Reports whether an address is globally reachable by IANA's special-purpose address registries. An IPv6 address that
/// embeds an IPv4 address is public only if that one is.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match (a, b, c) {
        // This network and loopback.
        (0 | 127, _, _) => true,
        (10, _, _) | (172, 16..=31, _) | (192, 168, _) => true,
        // Carrier-grade NAT; some clouds put their metadata service here.
        (100, 64..=127, _) => true,
        // Link-local; most clouds put their metadata service here.
        (169, 254, _) => true,
        // Protocol assignments and 6to4 relays.
        (192, 0, 0) | (192, 88, 99) => true,
        // Documentation.
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) => true,
        // Benchmarking.
        (198, 18..=19, _) => true,
        // Multicast, reserved, broadcast.
        (224.., _, _) => true,
        _ => false,
    };
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    match address.segments() {
        // NAT64: a network without IPv4 resolves every IPv4 name to this prefix.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        // Protocol assignments (including Teredo), documentation, 6to4.
        [0x2001, 0..=0x01ff, ..] | [0x2001, 0x0db8, ..] | [0x2002, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        // Global unicast is the only other public range.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(networks: &[&str]) -> UrlPolicy {
        UrlPolicy { allow_http: false, networks: networks.iter().map(|n| n.parse().unwrap()).collect() }
    }

    #[test]
    fn public_address_ranges_match_the_iana_registries() {
        let edges = [
            ("9.255.255.255", true),
            ("10.0.0.0", false),
            ("10.255.255.255", false),
            ("11.0.0.0", true),
            ("100.63.255.255", true),
            ("100.64.0.0", false),
            ("100.127.255.255", false),
            ("100.128.0.0", true),
            ("126.255.255.255", true),
            ("127.0.0.0", false),
            ("128.0.0.0", true),
            ("0.255.255.255", false),
            ("1.0.0.0", true),
            ("169.253.255.255", true),
            ("169.254.0.0", false),
            ("169.255.0.0", true),
            ("172.15.255.255", true),
            ("172.16.0.0", false),
            ("172.31.255.255", false),
            ("172.32.0.0", true),
            ("191.255.255.255", true),
            ("192.0.0.0", false),
            ("192.0.1.0", true),
            ("192.0.2.255", false),
            ("192.0.3.0", true),
            ("192.88.98.255", true),
            ("192.88.99.1", false),
            ("192.167.255.255", true),
            ("192.168.0.0", false),
            ("192.169.0.0", true),
            ("198.17.255.255", true),
            ("198.18.0.0", false),
            ("198.19.255.255", false),
            ("198.20.0.0", true),
            ("198.51.100.1", false),
            ("203.0.113.1", false),
            ("203.0.114.0", true),
            ("223.255.255.255", true),
            ("224.0.0.0", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("2000::", true),
            ("2606:4700::1", true),
            ("3ffe:ffff::1", true),
            ("4000::", false),
            ("1fff::1", false),
            ("2001:0:1::1", false),
            ("2001:1ff::1", false),
            ("2001:200::1", true),
            ("2001:db8::1", false),
            ("2001:db9::1", true),
            ("2002:0808:0808::1", false),
            ("3fff:fff::1", false),
            ("3fff:1000::1", true),
            ("::", false),
            ("::1", false),
            ("::7f00:1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::8.8.8.8", true),
            ("64:ff9b::10.0.0.1", false),
            ("64:ff9b:1::8.8.8.8", false),
            ("fc00::1", false),
            ("fdff::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("100::1", false),
        ];
        for (text, public) in edges {
            assert_eq!(UrlPolicy::default().permits(text.parse().unwrap()), public, "{text}");
        }
    }

    #[test]
    fn allowed_network_is_permitted_in_every_notation() {
        let policy = policy(&["127.0.0.0/8"]);
        for url in
            ["https://127.0.0.1/", "https://2130706433/", "https://localhost:9000/x", "https://[::ffff:127.0.0.1]/"]
        {
            let (_, destination) = policy.check(url).unwrap();
            let Destination::Addresses(addresses) = destination else { panic!("{url} is a name") };
            assert!(
                addresses.iter().all(|address| address.to_canonical() == Ipv4Addr::LOCALHOST),
                "{url}: {addresses:?}"
            );
        }
        assert_eq!(policy.check("https://10.0.0.1/").unwrap_err(), Denial::Address);
        assert_eq!(policy.check("http://127.0.0.1/").unwrap_err(), Denial::Scheme);
    }

    #[test]
    fn valid_urls_are_accepted() {
        for url in [
            "https://example.com",
            "https://example.com./hooks?a=b#c",
            "https://EXAMPLE.com:8443/x",
            "https://8.8.8.8/",
            "https://[2606:4700::1]:443/",
            "https://localhost.example.com/",
            "https://xn--mnchen-3ya.example/",
            "https://münchen.example/",
        ] {
            assert!(UrlPolicy::default().check(url).is_ok(), "{url}");
        }
        let long = format!("https://example.com/{}", "x".repeat(MAX_URL_CHARACTERS));
        assert!(UrlPolicy::default().check(&long[..MAX_URL_CHARACTERS]).is_ok());
        assert_eq!(UrlPolicy::default().check(&long[..=MAX_URL_CHARACTERS]).unwrap_err(), Denial::TooLong);
    }
}
