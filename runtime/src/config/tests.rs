//! Tests of the precedence of settings and of the messages about invalid ones.

use super::database::POSTGRES_PARAMETERS;
use super::*;

fn read(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Config, String> {
    let command = clap::Command::new("charter").args(SETTINGS.iter().map(Setting::argument));
    let matches = command.get_matches_from(std::iter::once(&"charter").chain(arguments));
    Config::read(&matches, environment.iter().map(|(n, v)| (n.to_string(), v.to_string())))
}

#[test]
fn flag_wins_over_environment_and_environment_over_default() {
    let config =
        read(&["--listen", "127.0.0.1:1"], &[("CHARTER_LISTEN", "127.0.0.1:2"), ("CHARTER_LOG", "debug")]).unwrap();
    assert_eq!((config.listen.as_str(), config.log.as_str(), config.database_pool), ("127.0.0.1:1", "debug", 8));
    assert_eq!(config.database_url, "sqlite://./data/charter.db");
}

#[test]
fn unknown_or_malformed_setting_is_reported_by_name() {
    let problem = read(
        &[],
        &[("CHARTER_LISTN", "x"), ("CHARTER_BODY_LIMIT", "many"), ("CHARTER_DATABASE_URL", "mysql://u:secret@h")],
    );
    let problem = problem.unwrap_err();
    assert!(problem.contains("CHARTER_LISTN is not a setting; did you mean `CHARTER_LISTEN`?"), "{problem}");
    assert!(
        problem.contains("CHARTER_BODY_LIMIT must be a whole number") && problem.contains("CHARTER_DATABASE_URL must"),
        "{problem}"
    );
    assert!(!problem.contains("secret@"), "{problem}");
}

#[test]
fn invalid_setting_is_named_by_its_flag_or_variable() {
    let problem_of =
        |arguments: &[&str], environment: &[(&str, &str)]| read(arguments, environment).map(drop).unwrap_err();
    let problem = "must be an address and a port such as 127.0.0.1:8000, not `x`";
    assert_eq!(problem_of(&[], &[("CHARTER_LISTEN", "x")]), format!("CHARTER_LISTEN {problem}"));
    assert_eq!(problem_of(&["--listen", "x"], &[]), format!("--listen {problem}"));
    assert_eq!(problem_of(&["--listen", "x"], &[("CHARTER_LISTEN", "127.0.0.1:1")]), format!("--listen {problem}"));
}

#[test]
fn invalid_addresses_and_urls_are_reported() {
    let problem = |name: &str, value: &str| read(&[], &[(name, value)]).map(drop).unwrap_err();
    for (name, values, expected) in [
        (
            "CHARTER_DATABASE_URL",
            &["sqlite://", "sqlite://?mode=rwc", "postgres://u:p@h:port/db", "mysql://h"][..],
            "CHARTER_DATABASE_URL ",
        ),
        (
            "CHARTER_BASE_URL",
            &["https://exa mple.com", "https://x/y", "ftp://x", "example.com"],
            "CHARTER_BASE_URL must",
        ),
        ("CHARTER_ADMIN_EMAIL", &["nope", "a@b@c", "@example.com"], "CHARTER_ADMIN_EMAIL must"),
        ("CHARTER_LISTEN", &["127.0.0.1:18602\u{fffd}"], "CHARTER_LISTEN must be UTF-8"),
    ] {
        for value in values {
            assert!(problem(name, value).contains(expected), "{name}={value}: {}", problem(name, value));
        }
    }
    let config = read(&[], &[("CHARTER_BASE_URL", "HTTPS://Records.example.com:443/")]).unwrap();
    assert_eq!(config.base_url.as_deref(), Some("https://records.example.com"), "it is normalized");
    assert!(read(&[], &[("CHARTER_DATABASE_URL", "postgres://u:p@h/db?sslmode=disable")]).is_ok());
}

#[test]
fn number_of_worker_threads_defaults_to_the_processors() {
    assert_eq!(read(&[], &[]).unwrap().threads, std::thread::available_parallelism().unwrap().get());
    let given = |count: &str| read(&[], &[("CHARTER_THREADS", count)]);
    assert_eq!((given("1").unwrap().threads, given("1024").unwrap().threads), (1, 1024));
    for count in ["0", "1025", "all"] {
        assert!(given(count).unwrap_err().contains("CHARTER_THREADS must be a whole number from 1 to 1024"), "{count}");
    }
}

#[test]
fn unknown_parameter_of_a_postgresql_url_is_reported_without_its_value() {
    let url = |parameters: &str| format!("postgres://u@h/db?{parameters}");
    let read = |parameters: &str| read(&[], &[("CHARTER_DATABASE_URL", &url(parameters))]).map(drop);
    for (parameters, expected) in [
        ("sslmod=SEKRET", "the unknown parameter `sslmod`; did you mean `sslmode`?"),
        ("sslmode=require&passwd=SEKRET", "the unknown parameter `passwd`; did you mean `password`?"),
        ("options[statement_timeout=SEKRET", "the unknown parameter `options[statement_timeout`"),
        ("%0aSEKRET", r"the unknown parameter `\nSEKRET`"),
    ] {
        let problem = read(parameters).unwrap_err();
        assert!(problem.contains(expected) && problem.lines().count() == 1, "{problem}");
        assert!(!problem.contains("=SEKRET") && !problem.contains("/db"), "{problem}");
    }
    // Every known parameter is accepted by the driver.
    let values = [("ssl-mode", "prefer"), ("sslmode", "prefer"), ("hostaddr", "127.0.0.1"), ("host", "/tmp")];
    let numbers = ["port", "statement-cache-capacity"];
    let value = |name: &str| match values.iter().find(|(known, _)| *known == name) {
        Some((_, value)) => value,
        None if numbers.contains(&name) => "5432",
        None => "x",
    };
    let known: Vec<String> = POSTGRES_PARAMETERS.iter().map(|name| format!("{name}={}", value(name))).collect();
    read(&known.join("&")).unwrap();
    read("options[statement_timeout]=1s&options[a]=b").unwrap();
}

#[test]
fn networks_of_webhooks_are_read_as_a_list() {
    let policy = |http: &str, networks: &str| {
        let environment = [("CHARTER_WEBHOOK_ALLOW_HTTP", http), ("CHARTER_WEBHOOK_ALLOW_NETWORKS", networks)];
        read(&[], &environment).map(|config| config.webhook_policy)
    };
    assert_eq!(policy("", "").unwrap(), UrlPolicy::default());
    let allowed = policy("true", "10.0.0.0/8, ::1").unwrap();
    let networks: Vec<String> = allowed.networks.iter().map(Network::to_string).collect();
    assert_eq!((allowed.allow_http, networks), (true, vec!["10.0.0.0/8".into(), "::1/128".into()]));
    let problem = policy("yes", "10.0.0.0/8,example.com,1.2.3.4/33").unwrap_err();
    for part in ["CHARTER_WEBHOOK_ALLOW_HTTP must be", "`example.com` is not a network", "`1.2.3.4/33` is not"] {
        assert!(problem.contains(part), "{problem}");
    }
}

#[test]
fn mcp_endpoint_is_off_unless_it_is_switched_on() {
    assert!(!read(&[], &[]).unwrap().mcp);
    assert!(read(&["--mcp", "true"], &[]).unwrap().mcp && read(&[], &[("CHARTER_MCP", "true")]).unwrap().mcp);
    assert!(read(&["--mcp", "yes"], &[]).unwrap_err().contains("--mcp must be"));
}

#[test]
fn short_secret_key_is_refused_without_its_value() {
    let key = |key: &str| read(&[], &[("CHARTER_SECRET_KEY", key)]).map(|config| config.secret_key);
    let problem = key("SEKRET-but-too-short").unwrap_err();
    assert!(problem.starts_with("CHARTER_SECRET_KEY must have at least 32 bytes, not 20"), "{problem}");
    assert!(!problem.contains("SEKRET"), "{problem}");
    assert!(key(&format!("{}   ", "x".repeat(31))).is_err(), "blanks do not count");
    assert!(read(&["--secret-key", "x"], &[]).unwrap_err().starts_with("--secret-key must have"));
    assert_eq!(key(&"x".repeat(32)).unwrap(), Some("x".repeat(32)));
    assert_eq!(key("").unwrap(), None, "a key is generated");
}
