//! URLs of PostgreSQL with several hosts, in the form of libpq: `postgres://user@host1:5432,host2:5433/database`.

/// Parameter of the URL that selects the hosts.
pub const SESSION_PARAMETER: &str = "target_session_attrs";

/// Parameters that name a host. With several hosts they would override each of them.
const HOST_PARAMETERS: [&str; 3] = ["host", "hostaddr", "port"];

/// The hosts of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostList {
    /// A URL for each host, without `target_session_attrs`.
    pub urls: Vec<String>,
    pub session: SessionAttributes,
}

/// Sessions that a connection must allow (libpq's `target_session_attrs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAttributes {
    Any,
    /// Transactions are read-write by default.
    ReadWrite,
    /// The server is not a standby.
    Primary,
}

impl HostList {
    /// Splits a URL. With several hosts, `target_session_attrs` is `read-write` by default.
    ///
    /// # Errors
    /// The problem, without the URL, which can hold a password.
    pub fn parse(url: &str) -> Result<HostList, String> {
        let form = || String::from("must be a URL such as postgres://user@host1:5432,host2:5432/database");
        let (scheme, rest) = url.split_once("://").ok_or_else(form)?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, hosts) = match authority.rfind('@') {
            Some(at) => authority.split_at(at + 1),
            None => ("", authority),
        };
        let hosts: Vec<&str> = hosts.split(',').collect();
        if hosts.len() > 1 && hosts.contains(&"") {
            return Err("has an empty host: remove the comma".into());
        }
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let parameters: Vec<&str> = query.into_iter().flat_map(|query| query.split('&')).collect();
        let name_of = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_string();
        if hosts.len() > 1
            && let Some(name) = HOST_PARAMETERS.iter().find(|name| parameters.iter().any(|p| name_of(p) == **name))
        {
            return Err(format!("must not have the parameter `{name}` besides several hosts"));
        }
        let lists = |p: &&str| {
            HOST_PARAMETERS.contains(&name_of(p).as_str())
                && (p.contains(',') || p.to_ascii_lowercase().contains("%2c"))
        };
        if parameters.iter().any(lists) {
            return Err("must name several hosts before the database, as postgres://user@host1,host2/database".into());
        }
        let (session, others): (Vec<&str>, Vec<&str>) =
            parameters.into_iter().partition(|parameter| name_of(parameter) == SESSION_PARAMETER);
        let session = match session[..] {
            [] if hosts.len() > 1 => SessionAttributes::ReadWrite,
            [] => SessionAttributes::Any,
            [parameter] => SessionAttributes::parse(parameter.split_once('=').map_or("", |(_, value)| value))?,
            _ => return Err(format!("has the parameter `{SESSION_PARAMETER}` more than once")),
        };
        let query = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
        let urls = hosts.iter().map(|host| format!("{scheme}://{user}{host}{path}{query}")).collect();
        Ok(HostList { urls, session })
    }
}

impl SessionAttributes {
    fn parse(value: &str) -> Result<SessionAttributes, String> {
        match value {
            "any" => Ok(SessionAttributes::Any),
            "read-write" => Ok(SessionAttributes::ReadWrite),
            "primary" => Ok(SessionAttributes::Primary),
            _ => Err(format!("must have `{SESSION_PARAMETER}` any, read-write or primary: the server writes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> (Vec<String>, SessionAttributes) {
        let list = HostList::parse(url).expect("the URL is valid");
        (list.urls, list.session)
    }

    #[test]
    fn url_with_several_hosts_is_split_into_one_for_each() {
        let (urls, session) = parse("postgres://me:a%2Cb@one:5432,[::1]:5433,three/db?sslmode=require");
        let expected = ["one:5432", "[::1]:5433", "three"];
        assert_eq!(urls, expected.map(|host| format!("postgres://me:a%2Cb@{host}/db?sslmode=require")));
        assert_eq!(session, SessionAttributes::ReadWrite);
        let (urls, session) = parse("postgres://a,b?target_session_attrs=any&user=me");
        assert_eq!(
            (urls, session),
            (vec!["postgres://a?user=me".into(), "postgres://b?user=me".into()], SessionAttributes::Any)
        );
    }

    #[test]
    fn url_with_one_host_is_unchanged_except_for_the_session() {
        let url = "postgres://me@host/db?host=/run/postgresql&port=5433";
        assert_eq!(parse(url), (vec![url.into()], SessionAttributes::Any));
        let asked = format!("{url}&target_session_attrs=primary");
        assert_eq!(parse(&asked), (vec![url.into()], SessionAttributes::Primary));
        assert_eq!(parse("postgres:///db").0, ["postgres:///db"]);
    }

    #[test]
    fn invalid_host_list_is_refused_without_its_password() {
        let cases = [
            ("postgres://me:hush@a,/db", "empty host"),
            ("postgres://me:hush@,a/db", "empty host"),
            ("postgres://me:hush@a,b/db?port=5433", "`port`"),
            ("postgres://me:hush@/db?host=a,b", "before the database"),
            ("postgres://me:hush@/db?host=a%2cb", "before the database"),
            ("postgres://me:hush@a,b/db?target_session_attrs=standby", "read-write"),
            ("postgres://me:hush@a,b/db?target_session_attrs", "read-write"),
            ("postgres://me:hush@a/db?target_session_attrs=any&target_session_attrs=any", "more than once"),
            ("postgres:a,b", "such as"),
        ];
        for (url, expected) in cases {
            let problem = HostList::parse(url).expect_err(url);
            assert!(problem.contains(expected) && !problem.contains("hush"), "{url}: {problem}");
        }
    }
}
