//! Modes of the files and folders that the server creates: only their owner can read them.

use std::process::Command;

use serde_json::json;

use super::{blocking, token};
use crate::routes::attachments::Form;
use crate::support::program::{Program, Serving};
use crate::support::{Client, Database};

/// It contains the data and password hashes.
#[test]
fn data_folder_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let program = Program::new(Database::Sqlite);
    let folder = program.path().join("of its own? 100%25");
    let mut command = program.command(&["migrate"]);
    command.env_remove("CHARTER_DATABASE_URL").arg("--data-dir").arg(&folder);
    assert!(command.status().expect("it runs").success());
    let mode = std::fs::metadata(&folder).expect("it is made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(folder.join("charter.db").is_file(), "special characters in its name are escaped");
    // The mode of an existing folder stays; the database in it is still readable by its owner only.
    let open = program.path().join("open");
    std::fs::create_dir(&open).expect("it is made");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).expect("it is open");
    let mut command = program.command(&["migrate"]);
    command.env_remove("CHARTER_DATABASE_URL").arg("--data-dir").arg(&open);
    assert!(command.status().expect("it runs").success());
    let mode = std::fs::metadata(open.join("charter.db")).expect("it is made").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Also in a folder that everybody may read, with the process's own umask open.
#[test]
fn every_file_of_the_server_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let program = Program::new(Database::Sqlite);
    let folder = program.path().join("open");
    std::fs::create_dir(&folder).expect("it is made");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).expect("it is open");
    let mut command = Command::new("sh");
    let serve = program.command(&[]);
    command.args(["-c", "umask 000; exec \"$0\""]).arg(serve.get_program()).current_dir(program.path());
    for (name, value) in serve.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env_remove("CHARTER_DATABASE_URL").env("CHARTER_DATA_DIR", &folder);
    let serving = Serving::start(command, "More tokens:");
    blocking(async {
        let client = Client::new(serving.address()).bearing(&token(&serving.banner));
        let member = client.post("/members", json!({ "name": "Ada" })).await.created("member");
        let mut png = Vec::new();
        image::RgbImage::new(600, 600)
            .write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png)
            .expect("a picture");
        Form::default().on(&member).file("a.png", &png).send(&client).await.created("attachment");
    });
    let mut paths = vec![folder.clone()];
    let mut found = Vec::new();
    while let Some(path) = paths.pop() {
        for entry in std::fs::read_dir(&path).expect("a folder") {
            let path = entry.expect("an entry").path();
            let mode = std::fs::metadata(&path).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{} has the mode {mode:o}", path.display());
            found.push(path.strip_prefix(&folder).expect("a path below").display().to_string());
            if path.is_dir() {
                paths.push(path);
            }
        }
    }
    for name in ["charter.db", "charter.db-wal", "charter.db-shm", "secret_key", "attachments", "uploads"] {
        assert!(found.iter().any(|known| known == name), "{name} in {found:?}");
    }
    for name in ["/file", "/thumb"] {
        assert!(
            found.iter().any(|known| known.starts_with("attachments/") && known.ends_with(name)),
            "{name} in {found:?}"
        );
    }
}
