//! Which settings are read, which win, and what is told of the others.

use super::database::POSTGRES_PARAMETERS;
use super::*;

fn read(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Config, String> {
    let command = clap::Command::new("charter").args(SETTINGS.iter().map(Setting::argument));
    let matches = command.get_matches_from(std::iter::once(&"charter").chain(arguments));
    Config::read(&matches, environment.iter().map(|(n, v)| (n.to_string(), v.to_string())))
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_default() {
    let config =
        read(&["--listen", "127.0.0.1:1"], &[("CHARTER_LISTEN", "127.0.0.1:2"), ("CHARTER_LOG", "debug")]).unwrap();
    assert_eq!((config.listen.as_str(), config.log.as_str(), config.database_pool), ("127.0.0.1:1", "debug", 8));
    assert_eq!(config.database_url, "sqlite://./data/charter.db");
}

#[test]
fn an_unknown_or_malformed_setting_is_told_by_name() {
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
fn a_setting_is_named_as_it_was_given() {
    let told = |arguments: &[&str], environment: &[(&str, &str)]| read(arguments, environment).map(drop).unwrap_err();
    let problem = "must be an address and a port such as 127.0.0.1:8000, and is `x`";
    assert_eq!(told(&[], &[("CHARTER_LISTEN", "x")]), format!("CHARTER_LISTEN {problem}"));
    assert_eq!(told(&["--listen", "x"], &[]), format!("--listen {problem}"));
    assert_eq!(told(&["--listen", "x"], &[("CHARTER_LISTEN", "127.0.0.1:1")]), format!("--listen {problem}"));
}

#[test]
fn what_can_be_no_address_is_told_before_anything_is_opened() {
    let problem = |name: &str, value: &str| read(&[], &[(name, value)]).map(drop).unwrap_err();
    for (name, values, told) in [
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
            assert!(problem(name, value).contains(told), "{name}={value}: {}", problem(name, value));
        }
    }
    let config = read(&[], &[("CHARTER_BASE_URL", "HTTPS://Records.example.com:443/")]).unwrap();
    assert_eq!(config.base_url.as_deref(), Some("https://records.example.com"), "it is compared");
    assert!(read(&[], &[("CHARTER_DATABASE_URL", "postgres://u:p@h/db?sslmode=disable")]).is_ok());
}

#[test]
fn a_thread_for_each_processor_serves_unless_the_settings_say_how_many() {
    assert_eq!(read(&[], &[]).unwrap().threads, std::thread::available_parallelism().unwrap().get());
    let given = |count: &str| read(&[], &[("CHARTER_THREADS", count)]);
    assert_eq!((given("1").unwrap().threads, given("1024").unwrap().threads), (1, 1024));
    for count in ["0", "1025", "all"] {
        assert!(given(count).unwrap_err().contains("CHARTER_THREADS must be a whole number from 1 to 1024"), "{count}");
    }
}

#[test]
fn a_parameter_of_postgresql_that_nobody_reads_is_told_by_its_name_alone() {
    let url = |parameters: &str| format!("postgres://u@h/db?{parameters}");
    let read = |parameters: &str| read(&[], &[("CHARTER_DATABASE_URL", &url(parameters))]).map(drop);
    for (parameters, told) in [
        ("sslmod=SEKRET", "the parameter `sslmod`, which is none; did you mean `sslmode`?"),
        ("sslmode=require&passwd=SEKRET", "the parameter `passwd`, which is none; did you mean `password`?"),
        ("options[statement_timeout=SEKRET", "the parameter `options[statement_timeout`, which is none"),
        ("%0aSEKRET", r"the parameter `\nSEKRET`"),
    ] {
        let problem = read(parameters).unwrap_err();
        assert!(problem.contains(told) && problem.lines().count() == 1, "{problem}");
        assert!(!problem.contains("=SEKRET") && !problem.contains("/db"), "{problem}");
    }
    // All that the driver reads, so that it stays what it knows.
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
fn where_webhooks_may_lead_is_read_as_a_list() {
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
