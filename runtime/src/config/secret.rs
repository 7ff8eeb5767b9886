//! Generated secret key in the data folder, for servers without the setting `secret-key`.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Name of the file.
const FILE_NAME: &str = "secret_key";

/// Reads the key of an earlier start, or creates a key that only this user can read.
///
/// # Errors
/// When the folder cannot be written, and when the file is blank: a blank key would let anybody sign links.
pub(super) fn load_or_create(folder: &Path) -> Result<String> {
    if let Some(key) = read(folder)? {
        return Ok(key);
    }
    // Written to a temporary file first, which is then linked: servers that start at the same time use the same key.
    let temporary = folder.join(format!("{FILE_NAME}.{}", random(8)?));
    let linked = write(&temporary, &random(32)?).and_then(|()| std::fs::hard_link(&temporary, folder.join(FILE_NAME)));
    let removed = std::fs::remove_file(&temporary);
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => removed?,
    }
    // Without this the file can be lost in a power failure, and the next start would create another key.
    File::open(folder)?.sync_all()?;
    read(folder)?.ok_or_else(|| Error::other(format!("{FILE_NAME} was removed meanwhile")))
}

/// The existing key.
fn read(folder: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(folder.join(FILE_NAME)) {
        Ok(key) if key.trim().is_empty() => Err(Error::other(format!(
            "{FILE_NAME} is empty. Restore its content, or remove the file to generate a new key: links and stored responses \
             of the old key are then refused"
        ))),
        Ok(key) if key.trim().len() < super::MIN_SECRET_KEY_BYTES => Err(Error::other(format!(
            "{FILE_NAME} has fewer than {} bytes. Restore its content, or remove the file to generate a new key",
            super::MIN_SECRET_KEY_BYTES
        ))),
        Ok(key) => Ok(Some(key.trim().to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::new(error.kind(), format!("{FILE_NAME}: {error}"))),
    }
}

fn write(path: &Path, key: &str) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{key}")?;
    file.sync_all()
}

/// Random bytes in hexadecimal.
fn random(bytes: usize) -> Result<String> {
    let mut random = vec![0_u8; bytes];
    getrandom::fill(&mut random).map_err(Error::other)?;
    Ok(hex::encode(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_created_once_and_an_empty_file_is_an_error() {
        let folder = std::env::temp_dir().join(format!("charter-key-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // A temporary file of an interrupted start does not matter.
        std::fs::write(folder.join(format!("{FILE_NAME}.{}", std::process::id())), "").unwrap();
        let key = load_or_create(&folder).unwrap();
        assert_eq!((key.len(), load_or_create(&folder).unwrap()), (64, key));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::write(folder.join(FILE_NAME), " \n").unwrap();
        let problem = load_or_create(&folder).unwrap_err().to_string();
        assert!(problem.contains("secret_key is empty"), "{problem}");
        std::fs::write(folder.join(FILE_NAME), "short\n").unwrap();
        let problem = load_or_create(&folder).unwrap_err().to_string();
        assert!(problem.contains("fewer than 32 bytes") && !problem.contains("short"), "{problem}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn concurrent_starts_use_the_same_key() {
        let folder = std::env::temp_dir().join(format!("charter-keys-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let keys: Vec<String> = std::thread::scope(|scope| {
            let starting: Vec<_> = (0..8).map(|_| scope.spawn(|| load_or_create(&folder).unwrap())).collect();
            starting.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
