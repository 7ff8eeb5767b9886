//! The settings that begin with `oidc`: the identity provider of the panel.

use url::Url;

use super::Problems;
use charter_platform::auth::oidc::{ClientSecret, OidcConfig};

/// Settings that make no sense without an issuer.
const DEPENDENT: [&str; 5] = ["oidc-client-id", "oidc-client-secret", "oidc-name", "oidc-role-claim", "oidc-roles"];
const MAX_ISSUER_BYTES: usize = 255;

/// Reads the settings that begin with `oidc`; `value` returns the value of a setting.
pub(super) fn oidc_config(value: &dyn Fn(&str) -> Option<String>, problems: &mut Problems<'_>) -> Option<OidcConfig> {
    let mut flag = |name: &str| match value(name).as_deref() {
        Some("true") => true,
        Some("false") | None => false,
        Some(other) => {
            problems.add(name, format!("must be `true` or `false`, not `{other}`"));
            false
        }
    };
    let (trusts_emails, creates_users) = (flag("oidc-trust-emails"), flag("oidc-create-users"));
    let named = |problems: &Problems<'_>| problems.named("oidc-issuer");
    let Some(issuer) = value("oidc-issuer") else {
        for name in DEPENDENT.into_iter().filter(|name| value(name).is_some()) {
            problems.add(name, format!("is set, but {} is not", named(problems)));
        }
        return None;
    };
    let host = match Url::parse(&issuer).ok().filter(|url| is_issuer(url) && issuer.len() <= MAX_ISSUER_BYTES) {
        Some(url) => url.host_str().unwrap_or_default().to_string(),
        None => {
            let problem = "must be a URL such as https://accounts.example.com, with http:// on this machine only";
            problems.add("oidc-issuer", problem);
            String::new()
        }
    };
    if value("oidc-client-id").is_none() {
        problems.add("oidc-client-id", format!("must be set, because {} is set", named(problems)));
    }
    Some(OidcConfig {
        client_id: value("oidc-client-id").unwrap_or_default(),
        client_secret: value("oidc-client-secret").map(ClientSecret),
        name: value("oidc-name").unwrap_or(host),
        scopes: value("oidc-scopes").unwrap_or_default().split_whitespace().map(String::from).collect(),
        trusts_emails,
        creates_users,
        role_claim: value("oidc-role-claim"),
        roles: roles(value, problems),
        issuer,
    })
}

/// The issuer is an origin with a path (OpenID Connect Discovery 1.0, section 3).
fn is_issuer(url: &Url) -> bool {
    let is_local = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    is_plain && (url.scheme() == "https" || (url.scheme() == "http" && is_local))
}

/// Groups with the names of their roles: `sales=Member,audit=Reader`.
fn roles(value: &dyn Fn(&str) -> Option<String>, problems: &mut Problems<'_>) -> Vec<(String, String)> {
    let (claim, roles) = (value("oidc-role-claim"), value("oidc-roles"));
    for (set, unset, other) in [(&claim, &roles, "oidc-role-claim"), (&roles, &claim, "oidc-roles")] {
        let missing = if other == "oidc-roles" { "oidc-role-claim" } else { "oidc-roles" };
        if set.is_some() && unset.is_none() {
            problems.add(other, format!("is set, but {} is not", problems.named(missing)));
        }
    }
    let mut found = Vec::new();
    for part in roles.iter().flat_map(|roles| roles.split(',')).filter(|part| !part.trim().is_empty()) {
        // The value of a claim may contain an equals sign, such as `CN=Sales`. The name of a role comes last.
        match part.rsplit_once('=').map(|(group, role)| (group.trim(), role.trim())) {
            Some((group, role)) if !group.is_empty() && !role.is_empty() => found.push((group.into(), role.into())),
            _ => problems.add("oidc-roles", format!("must be like `sales=Member,audit=Reader`, not `{}`", part.trim())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> (Option<OidcConfig>, String) {
        let value = |flag: &str| settings.iter().find(|(name, _)| *name == flag).map(|(_, value)| value.to_string());
        let mut problems = Problems::default();
        let config = oidc_config(&value, &mut problems);
        (config, problems.into_result().err().unwrap_or_default())
    }

    #[test]
    fn provider_is_read() {
        assert_eq!(read(&[]), (None, String::new()));
        let (config, problems) = read(&[
            ("oidc-issuer", "https://id.example.com/realms/one"),
            ("oidc-client-id", "charter"),
            ("oidc-client-secret", "hunter2"),
            ("oidc-scopes", "email profile groups"),
            ("oidc-role-claim", "groups"),
            ("oidc-roles", "CN=Sales=Member, audit = Reader"),
        ]);
        assert_eq!(problems, "");
        let config = config.unwrap();
        assert_eq!(
            (config.name.as_str(), config.creates_users, config.trusts_emails),
            ("id.example.com", false, false)
        );
        assert_eq!(config.scopes, ["email", "profile", "groups"]);
        let role = |group: &str, role: &str| (group.to_string(), role.to_string());
        assert_eq!(config.roles, [role("CN=Sales", "Member"), role("audit", "Reader")]);
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn each_problem_names_its_setting() {
        for (settings, problem) in [
            (&[("oidc-client-id", "a")][..], "oidc-client-id is set, but --oidc-issuer is not"),
            (&[("oidc-issuer", "https://a.example")], "oidc-client-id must be set"),
            (&[("oidc-issuer", "http://a.example"), ("oidc-client-id", "a")], "oidc-issuer must be a URL"),
            (&[("oidc-issuer", "https://a.example?x"), ("oidc-client-id", "a")], "oidc-issuer must be a URL"),
            (&[("oidc-create-users", "yes")], "oidc-create-users must be `true` or `false`, not `yes`"),
            (
                &[("oidc-issuer", "http://127.0.0.1:1"), ("oidc-client-id", "a"), ("oidc-roles", "a=b")],
                "oidc-roles is set, but --oidc-role-claim is not",
            ),
            (
                &[
                    ("oidc-issuer", "http://[::1]:1"),
                    ("oidc-client-id", "a"),
                    ("oidc-role-claim", "g"),
                    ("oidc-roles", "a"),
                ],
                "oidc-roles must be like `sales=Member,audit=Reader`, not `a`",
            ),
        ] {
            let (_, problems) = read(settings);
            assert!(problems.contains(problem), "{settings:?}: {problems}");
        }
    }
}
