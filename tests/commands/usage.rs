//! Exit codes and messages for wrong usage, invalid settings and failures.

use super::on_both;
use crate::support::Database;
use crate::support::program::Program;

on_both!(failed_command_exits_with_1_and_one_line,);

fn failed_command_exits_with_1_and_one_line(program: Program) {
    for (arguments, part) in [
        (
            &["token", "create", "--user", "nobody@example.com", "--name", "x", "--ability", "*"][..],
            "nobody@example.com",
        ),
        (&["token", "revoke", "999"], "999"),
        (&["user", "create", "--email", "nonsense", "--name", "x"], "email"),
        (&["user", "create", "--email", "a@example.com", "--name", "x", "--role", "Nope"], "Nope"),
    ] {
        let said = program.run(arguments);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains(part) && said.out.is_empty(), "{said:?}");
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
    }
}

#[test]
fn wrong_usage_exits_with_2() {
    let program = Program::new(Database::Sqlite);
    for arguments in [
        &["nonsense"][..],
        &["--nonsense"],
        &["token"],
        &["token", "create"],
        &["token", "revoke"],
        &["token", "revoke", "x"],
        &["user", "create", "--email", "a@example.com"],
        &["migrate", "down", "--steps", "x"],
        &["seed"],
        &["seed", "demo", "--products", "-1"],
    ] {
        let said = program.run(arguments);
        assert!(said.code == 2 && !said.err.is_empty(), "{arguments:?}: {said:?}");
    }
    for arguments in [&["--help"][..], &["--version"], &["token", "create", "--help"]] {
        assert!(!program.done(arguments).is_empty());
    }
    assert!(std::fs::read_dir(program.path()).expect("a folder").next().is_none(), "no file was created");
}

#[test]
fn invalid_setting_exits_with_2_and_names_the_setting() {
    let program = Program::new(Database::Sqlite);
    for (name, value, message) in [
        ("CHARTER_LISTN", "x", "CHARTER_LISTN is not a setting; did you mean `CHARTER_LISTEN`?"),
        ("CHARTER_LISTEN", "nowhere", "CHARTER_LISTEN must be an address and a port"),
        ("CHARTER_DATABASE_URL", "mysql://user:hush@host/db", "CHARTER_DATABASE_URL must begin with"),
        ("CHARTER_BODY_LIMIT", "-1", "CHARTER_BODY_LIMIT must be a whole number"),
        ("CHARTER_REQUEST_TIMEOUT", "0", "CHARTER_REQUEST_TIMEOUT must be a whole number from 1"),
        ("CHARTER_RATE_LIMIT", "many", "CHARTER_RATE_LIMIT must be a whole number"),
        ("CHARTER_BASE_URL", "ftp://x", "CHARTER_BASE_URL must be a URL such as"),
        ("CHARTER_BASE_URL", "https://x.example.com/hire", "https://records.example.com, without a path"),
        ("CHARTER_BASE_URL", "https://user:hush@x.example.com", "https://records.example.com, without a path"),
        ("CHARTER_BASE_URL", "https://x.example.com/?a=b", "https://records.example.com, without a path"),
        ("CHARTER_DATABASE_URL", "postgres://user:hush@host/db?sslmode=foo", "CHARTER_DATABASE_URL is invalid"),
        (
            "CHARTER_DATABASE_URL",
            "postgres://user@host/db?passwd=hush",
            "CHARTER_DATABASE_URL has the unknown parameter `passwd`; did you mean `password`?",
        ),
        (
            "CHARTER_DATABASE_URL",
            "postgres://user@host/db?connect_timeout=hush",
            "has the unknown parameter `connect_timeout`",
        ),
        ("CHARTER_DATABASE_URL", "sqlite://charter.db?nonsense=1", "CHARTER_DATABASE_URL is invalid"),
        ("CHARTER_LOG", "inof", "`inof` is not one of error, warn, info, debug, trace and off"),
        ("CHARTER_LOG", "charter_runtime=debug,loud", "`loud` is not one of"),
        ("CHARTER_STORAGE_SECRET_KEY", "hush", "CHARTER_STORAGE_SECRET_KEY is set, but CHARTER_STORAGE"),
        ("CHARTER_LOG_FORMAT", "xml", "CHARTER_LOG_FORMAT must be `text` or `json`"),
    ] {
        for arguments in [&["serve"][..], &[], &["migrate", "status"]] {
            let output = program.command(arguments).env(name, value).output().expect("the program runs");
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{name}: {err}");
            assert!(err.contains(message) && err.lines().count() == 1, "{name}: {err}");
            assert!(!err.contains("hush"), "{err}");
        }
    }
    let bucket = [("CHARTER_STORAGE", "s3://key:hush@files"), ("CHARTER_STORAGE_ENDPOINT", "minio:9000")];
    let output = program.command(&["serve"]).envs(bucket).output().expect("the program runs");
    let err = String::from_utf8_lossy(&output.stderr);
    let messages = [
        "CHARTER_STORAGE must be like s3://bucket or s3://bucket/some/prefix",
        "CHARTER_STORAGE_ENDPOINT must be a URL",
        "CHARTER_STORAGE_ACCESS_KEY must be set",
        "CHARTER_STORAGE_SECRET_KEY must be set",
    ];
    assert_eq!((output.status.code(), err.lines().count()), (Some(2), messages.len()), "{err}");
    assert!(messages.iter().all(|message| err.contains(message)) && !err.contains("hush"), "{err}");
    assert!(std::fs::read_dir(program.path()).expect("a folder").next().is_none(), "no file was created");
    // Variables for the tests are ignored.
    let output = program.command(&["routes"]).env("CHARTER_TEST_REQUIRE_POSTGRES", "0").output();
    assert!(output.expect("the program runs").status.success());
}
