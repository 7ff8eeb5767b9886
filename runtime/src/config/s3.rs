//! The settings that begin with `storage`: the bucket for attachment files.

use url::Url;

use super::Problems;
use charter_platform::attachment::S3Config;

/// Reads the settings that begin with `storage`; `value` returns the value of a setting. Error messages never
/// repeat a value, which may be a misplaced secret.
pub(super) fn s3_config(value: &dyn Fn(&str) -> Option<String>, problems: &mut Problems<'_>) -> Option<S3Config> {
    let Some(storage) = value("storage") else {
        for flag in ["storage-endpoint", "storage-access-key", "storage-secret-key"] {
            if value(flag).is_some() {
                let storage = problems.named("storage");
                problems.add(flag, format!("is set, but {storage} is not"));
            }
        }
        return None;
    };
    let path = storage.strip_prefix("s3://").map(|path| path.split_once('/').unwrap_or((path, "")));
    let (bucket, prefix) = path.unwrap_or_default();
    let prefix = prefix.trim_matches('/');
    if !is_bucket(bucket) || !is_prefix(prefix) {
        problems.add("storage", "must be like s3://bucket or s3://bucket/some/prefix");
    }
    let endpoint = value("storage-endpoint").map(|endpoint| endpoint.trim_end_matches('/').to_string());
    if endpoint.as_deref().is_some_and(|endpoint| !is_endpoint(endpoint)) {
        let problem = "must be a URL such as https://minio.example.com:9000, without user name, query or fragment";
        problems.add("storage-endpoint", problem);
    }
    let region = value("storage-region").unwrap_or_default();
    if !region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        problems.add("storage-region", "must be the name of a region such as eu-central-1");
    }
    let mut key = |flag: &str| {
        let key = value(flag);
        match &key {
            None => {
                let storage = problems.named("storage");
                problems.add(flag, format!("must be set, because {storage} is set"));
            }
            // The keys are sent in headers.
            Some(key) if !key.bytes().all(|byte| byte.is_ascii_graphic()) => {
                problems.add(flag, "must contain only visible ASCII characters");
            }
            Some(_) => {}
        }
        key.unwrap_or_default()
    };
    let (access_key, secret_key) = (key("storage-access-key"), key("storage-secret-key"));
    Some(S3Config { bucket: bucket.into(), prefix: prefix.into(), endpoint, region, access_key, secret_key })
}

/// Amazon's rules and the additional characters that other services allow.
fn is_bucket(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (3..=63).contains(&name.len()) && name.bytes().all(plain) && !name.starts_with('.') && !name.contains("..")
}

/// Allows only segments that every client reads the same way.
fn is_prefix(prefix: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let fits = |part: &str| !part.is_empty() && !matches!(part, "." | "..") && part.bytes().all(plain);
    prefix.len() <= 512 && (prefix.is_empty() || prefix.split('/').all(fits))
}

fn is_endpoint(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let has_no_credentials = url.username().is_empty() && url.password().is_none();
    matches!(url.scheme(), "http" | "https") && has_no_credentials && url.query().is_none() && url.fragment().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> (Option<S3Config>, String) {
        let value = |flag: &str| settings.iter().find(|(name, _)| *name == flag).map(|(_, value)| value.to_string());
        let mut problems = Problems::default();
        let config = s3_config(&value, &mut problems);
        (config, problems.into_result().err().unwrap_or_default())
    }

    fn keyed(storage: &str, more: &[(&str, &str)]) -> (Option<S3Config>, String) {
        let keys = [("storage", storage), ("storage-access-key", "AKIA"), ("storage-secret-key", "hush/+=")];
        read(&[more, &keys].concat())
    }

    #[test]
    fn bucket_prefix_and_endpoint_are_parsed() {
        assert_eq!(read(&[]), (None, String::new()));
        let (config, problems) = keyed("s3://files/", &[("storage-region", "eu-central-1")]);
        let config = config.unwrap();
        assert_eq!((problems.as_str(), &*config.bucket, &*config.prefix), ("", "files", ""));
        assert_eq!((config.origin(), config.endpoint, &*config.region), (None, None, "eu-central-1"));
        let (config, problems) = keyed("s3://my.files-1/of/charter/", &[("storage-endpoint", "http://10.0.0.7:9000/")]);
        let config = config.unwrap();
        assert_eq!((problems.as_str(), &*config.bucket, &*config.prefix), ("", "my.files-1", "of/charter"));
        assert_eq!(config.endpoint.as_deref(), Some("http://10.0.0.7:9000"));
        assert_eq!(config.origin().as_deref(), Some("http://10.0.0.7:9000"));
        let (other, _) = keyed("s3://files", &[("storage-endpoint", "HTTP://Store.example:80/s3/")]);
        assert_eq!(other.unwrap().origin().as_deref(), Some("http://store.example"));
        let debug = format!("{config:?}");
        assert!(debug.contains("my.files-1") && !debug.contains("hush") && !debug.contains("AKIA"), "{debug}");
    }

    #[test]
    fn error_names_the_setting_without_its_value() {
        for storage in [
            "files",
            "s3:/files",
            "s3://",
            "s3://ab",
            "s3://a b c",
            "s3://key:hush@files",
            "s3://files/a//b",
            "s3://files/../b",
            "s3://files/ü",
            "https://files",
        ] {
            let (_, problems) = keyed(storage, &[]);
            assert!(problems.starts_with("CHARTER_STORAGE must be like s3://bucket"), "{storage}: {problems}");
            assert!(!problems.contains("hush"), "{problems}");
        }
        for endpoint in ["minio:9000", "ftp://x", "https://a:hush@x", "https://x?a=b", "https://x#a", "https://"] {
            let (_, problems) = keyed("s3://files", &[("storage-endpoint", endpoint)]);
            assert!(problems.starts_with("CHARTER_STORAGE_ENDPOINT must"), "{endpoint}: {problems}");
            assert!(!problems.contains("hush"), "{problems}");
        }
        let (_, problems) = keyed("s3://files", &[("storage-region", "eu central")]);
        assert!(problems.starts_with("CHARTER_STORAGE_REGION must"), "{problems}");
        let (_, problems) = read(&[("storage", "s3://files"), ("storage-access-key", "a\nb")]);
        assert_eq!(
            problems,
            "CHARTER_STORAGE_ACCESS_KEY must contain only visible ASCII characters\n\
             CHARTER_STORAGE_SECRET_KEY must be set, because CHARTER_STORAGE is set"
        );
        let (config, problems) = read(&[("storage-secret-key", "hush")]);
        let expected = "CHARTER_STORAGE_SECRET_KEY is set, but CHARTER_STORAGE is not";
        assert_eq!((config, problems.as_str()), (None, expected));
    }
}
