//! Requirements of a start, and concurrent starts.

use serde_json::Value;

use super::{on_both, status, token};
use crate::support::Database;
use crate::support::program::{Program, Serving};

on_both!(smallest_pool_suffices_for_server_and_commands);

fn smallest_pool_suffices_for_server_and_commands(program: Program) {
    let mut command = program.command(&[]);
    command.env("CHARTER_DATABASE_POOL", "2");
    let serving = Serving::start(command, "More tokens:");
    assert_eq!(status(&serving, &token(&serving.banner), "/products"), 200);
    for arguments in [
        &["migrate"][..],
        &["user", "create", "--email", "a@example.com", "--name", "A"],
        &["token", "create", "--user", "a@example.com", "--name", "x", "--ability", "*"],
        &["recount"],
    ] {
        program.done(&[arguments, &["--database-pool", "2"]].concat());
    }
    serving.signal("TERM");
    assert_eq!(serving.end().code, 0);
}

#[test]
fn unopenable_database_or_data_folder_is_reported_with_its_path() {
    let program = Program::new(Database::Sqlite);
    let file = program.path().join("no/such/folder.db").display().to_string();
    let said = program.run(&["migrate", "--database-url", &format!("sqlite://{file}")]);
    assert!(said.code == 1 && said.err.contains(&file), "{said:?}");
    // A file instead of a folder fails for root too.
    let taken = program.path().join("taken");
    std::fs::write(&taken, "").expect("the folder can be written");
    let said = program.run(&["migrate", "--data-dir", &taken.display().to_string()]);
    assert!(said.code == 1 && said.err.contains(&format!("the data folder {}", taken.display())), "{said:?}");
}

#[test]
fn failure_of_a_server_with_json_log_is_json() {
    let program = Program::new(Database::Sqlite);
    let file = program.path().join("no/such/folder.db").display().to_string();
    let url = format!("sqlite://{file}");
    for arguments in [&[][..], &["serve"]] {
        let said = program.run(&[arguments, &["--log-format", "json", "--database-url", &url]].concat());
        let last = said.err.lines().last().map(serde_json::from_str::<Value>);
        let Some(Ok(last)) = last else { panic!("{said:?}") };
        assert_eq!((said.code, last["level"].as_str()), (1, Some("ERROR")), "{said:?}");
        assert!(last["fields"]["cause"].as_str().is_some_and(|cause| cause.contains(&file)), "{last}");
        // With the log turned off, the error is printed.
        let silent = ["--log-format", "json", "--log", "off", "--database-url", &url];
        assert!(program.run(&[arguments, &silent].concat()).err.contains(&file));
    }
    // Other commands print their errors as text.
    let said = program.run(&["migrate", "--log-format", "json", "--database-url", &url]);
    assert!(said.err.lines().last().is_some_and(|last| !last.starts_with('{') && last.contains(&file)), "{said:?}");
}

/// The servers have different data folders, and different URLs of the same file.
#[test]
fn concurrent_starts_on_one_sqlite_file_create_one_administrator() {
    let program = Program::new(Database::Sqlite);
    let (file, link) = (program.path().join("charter.db"), program.path().join("link.db"));
    std::os::unix::fs::symlink(&file, &link).expect("the folder can be written");
    let urls =
        [program.url().to_string(), "sqlite://charter.db".into(), format!("sqlite://{}?mode=rwc", link.display())];
    let serving: Vec<Serving> = std::thread::scope(|scope| {
        let starts = urls.iter().enumerate().map(|(number, url)| {
            let command = program.command(&["--data-dir", &format!("data{number}"), "--database-url", url]);
            scope.spawn(|| Serving::start(command, "Serving "))
        });
        let starts: Vec<_> = starts.collect();
        starts.into_iter().map(|start| start.join().expect("it starts")).collect()
    });
    for serving in &serving {
        assert_eq!(status(serving, "", "~/health/ready"), 200);
        serving.signal("TERM");
    }
    let said: Vec<_> = serving.into_iter().map(Serving::end).collect();
    assert!(said.iter().all(|said| said.code == 0), "{said:?}");
    let first = said.iter().filter(|said| said.out.contains("This is the first start")).count();
    assert_eq!(first, 1, "one of them creates the administrator: {said:?}");
}
