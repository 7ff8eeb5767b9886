//! The key that signs links and seals secrets, where no setting gives one: made once, and kept in the data folder.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Its name in the data folder.
const NAME: &str = "secret_key";

/// The key of an earlier start, or a new one that only this user can read.
///
/// # Errors
/// When the folder cannot be written, and when the key that is there is blank: whoever knows that could sign anything.
pub fn kept(folder: &Path) -> Result<String> {
    if let Some(key) = read(folder)? {
        return Ok(key);
    }
    // Written whole under another name first: of two servers that start at once, both use the key that comes first.
    let own = folder.join(format!("{NAME}.{}", random(8)?));
    let linked = write(&own, &random(32)?).and_then(|()| std::fs::hard_link(&own, folder.join(NAME)));
    let removed = std::fs::remove_file(&own);
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => removed?,
    }
    // A name that is lost with the power would make another key the next time.
    File::open(folder)?.sync_all()?;
    read(folder)?.ok_or_else(|| Error::other(format!("{NAME} was taken away meanwhile")))
}

/// The key that is there.
fn read(folder: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(folder.join(NAME)) {
        Ok(key) if key.trim().is_empty() => Err(Error::other(format!(
            "{NAME} is empty; put back the key that it held, or remove the file: a new key is made then, and links and \
             answers that the old one signed are refused"
        ))),
        Ok(key) => Ok(Some(key.trim().to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::new(error.kind(), format!("{NAME}: {error}"))),
    }
}

fn write(path: &Path, key: &str) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{key}")?;
    file.sync_all()
}

/// So many random bytes, in hexadecimal digits.
fn random(bytes: usize) -> Result<String> {
    let mut random = vec![0_u8; bytes];
    getrandom::fill(&mut random).map_err(Error::other)?;
    Ok(hex::encode(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_an_empty_one_is_none() {
        let folder = std::env::temp_dir().join(format!("charter-key-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // What a start that was cut short leaves is in nobody's way.
        std::fs::write(folder.join(format!("{NAME}.{}", std::process::id())), "").unwrap();
        let key = kept(&folder).unwrap();
        assert_eq!((key.len(), kept(&folder).unwrap()), (64, key));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
        std::fs::write(folder.join(NAME), " \n").unwrap();
        let problem = kept(&folder).unwrap_err().to_string();
        assert!(problem.contains("secret_key is empty"), "{problem}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn those_who_start_at_once_have_one_key() {
        let folder = std::env::temp_dir().join(format!("charter-keys-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let keys: Vec<String> = std::thread::scope(|scope| {
            let starting: Vec<_> = (0..8).map(|_| scope.spawn(|| kept(&folder).unwrap())).collect();
            starting.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
