//! The table of settings: each is a flag and an environment variable.

use clap::Arg;

/// A setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// `database-url` is the flag; the environment variable is `CHARTER_DATABASE_URL`.
    pub flag: &'static str,
    /// The default; empty if `about` describes it.
    pub default: &'static str,
    pub about: &'static str,
}

/// Every setting. The table in `docs/operations.md` is generated from it.
pub const SETTINGS: &[Setting] = &[
    Setting {
        flag: "database-url",
        default: "",
        about: "`sqlite://<file>` or `postgres://...`; by default `charter.db` in the data folder",
    },
    Setting {
        flag: "database-wait",
        default: "30",
        about: "Seconds that a start waits for a PostgreSQL that cannot be reached, is starting or is read-only; 0 fails at once",
    },
    Setting {
        flag: "listen",
        default: "127.0.0.1:8000",
        about: "Address and port to listen on; port 0 picks a free one",
    },
    Setting {
        flag: "base-url",
        default: "",
        about: "URL that clients use, without a path; by default that of `listen`",
    },
    Setting {
        flag: "data-dir",
        default: "./data",
        about: "Folder for the SQLite database, attached files and the secret key",
    },
    Setting {
        flag: "storage",
        default: "",
        about: "Storage of attached files: `s3://<bucket>` or `s3://<bucket>/<prefix>`; by default the data folder",
    },
    Setting {
        flag: "storage-endpoint",
        default: "",
        about: "URL of the S3-compatible service, such as `https://minio.example.com:9000`; by default Amazon's in the region",
    },
    Setting { flag: "storage-region", default: "us-east-1", about: "Region of the bucket" },
    Setting { flag: "storage-access-key", default: "", about: "Access key id for the bucket" },
    Setting { flag: "storage-secret-key", default: "", about: "Secret access key for the bucket" },
    Setting {
        flag: "secret-key",
        default: "",
        about: "Key of at least 32 bytes that signs links and encrypts secrets; by default generated at the first start and stored in the data folder",
    },
    Setting {
        flag: "admin-email",
        default: "admin@example.com",
        about: "E-mail address of the administrator that the first start creates",
    },
    Setting {
        flag: "oidc-issuer",
        default: "",
        about: "URL of the identity provider with which users [sign in to the panel](panel.md#sign-in-with-an-identity-provider) by OpenID Connect",
    },
    Setting { flag: "oidc-client-id", default: "", about: "Id of this service at the identity provider" },
    Setting {
        flag: "oidc-client-secret",
        default: "",
        about: "Client secret at the identity provider; a public client has none",
    },
    Setting {
        flag: "oidc-name",
        default: "",
        about: "Name of the identity provider on the sign-in page; by default the host of `oidc-issuer`",
    },
    Setting {
        flag: "oidc-scopes",
        default: "email profile",
        about: "Scopes that are requested besides `openid`, separated by spaces",
    },
    Setting {
        flag: "oidc-trust-emails",
        default: "false",
        about: "Accept email addresses that the identity provider does not mark as verified; only if its users cannot choose them",
    },
    Setting {
        flag: "oidc-create-users",
        default: "false",
        about: "Create an account for each user of the identity provider who signs in without one",
    },
    Setting {
        flag: "oidc-role-claim",
        default: "",
        about: "Claim with the groups of a user, such as `groups`, for `oidc-roles`",
    },
    Setting {
        flag: "oidc-roles",
        default: "",
        about: "Roles of the groups: `sales=Member,audit=Reader`. Each sign-in by the identity provider assigns and removes these roles",
    },
    Setting {
        flag: "panel-name",
        default: "",
        about: "Name of the application in the [panel](panel.md#brand) and in mails; by default the name of its command",
    },
    Setting {
        flag: "panel-logo",
        default: "",
        about: "File with the logo of the panel: SVG, PNG, JPEG or WebP, at most 64 KiB",
    },
    Setting {
        flag: "panel-color",
        default: "",
        about: "Color of links and buttons in the panel, such as `#3446c2`; dark enough for white text",
    },
    Setting {
        flag: "database-pool",
        default: "8",
        about: "Number of PostgreSQL connections, or of SQLite readers. Exports open up to 4 more. On PostgreSQL, the server opens up to 2 more while it starts",
    },
    Setting { flag: "threads", default: "", about: "Worker threads; by default one for each processor" },
    Setting {
        flag: "body-limit",
        default: "1048576",
        about: "Maximum size of a JSON or form body in bytes; a larger one is 413",
    },
    Setting {
        flag: "request-concurrency",
        default: "",
        about: "Maximum number of requests in flight; by default 4 × `database-pool`. Further requests queue for at most 500 ms. The queue holds 16 times this number of requests. If more requests than that started in the last 250 ms, it holds that many, but at most 4096. When it is full, the answer is 503",
    },
    Setting {
        flag: "client-concurrency",
        default: "",
        about: "Maximum number of requests in flight of one token or signed-in user, so that it delays no other; by default half of `request-concurrency`. Further requests of it queue",
    },
    Setting {
        flag: "request-timeout",
        default: "30",
        about: "Timeout of a request in seconds; then the answer is 503, or 408 if the head (after at most 30 seconds) or the body has not arrived",
    },
    Setting {
        flag: "slow-statement-ms",
        default: "500",
        about: "SQL statements that take at least this many milliseconds are logged, without their values; 0 disables the log",
    },
    Setting { flag: "rate-limit", default: "1000", about: "Requests per minute and token; 0 disables the limit" },
    Setting {
        flag: "rate-limit-anonymous",
        default: "60",
        about: "Requests per minute and address without a valid token; 0 disables the limit",
    },
    Setting {
        flag: "address-connections",
        default: "1000",
        about: "Open connections per address, except those of `trusted-proxies`; further ones are closed at once; 0 disables the limit",
    },
    Setting {
        flag: "trusted-proxies",
        default: "",
        about: "Networks of the reverse proxies, such as `10.0.0.0/8`, whose `X-Forwarded-For` is trusted",
    },
    Setting {
        flag: "cors-origins",
        default: "",
        about: "Origins of web pages whose scripts may use the API with a token, such as `https://app.example.com`, separated by commas; `*` for every origin; by default none",
    },
    Setting {
        flag: "mcp",
        default: "false",
        about: "Serve the [MCP endpoint](mcp.md) at `/mcp`, by which agents use the API with a token",
    },
    Setting {
        flag: "webhook-allow-http",
        default: "false",
        about: "Allow webhooks with http:// URLs, whose deliveries are not encrypted",
    },
    Setting {
        flag: "webhook-allow-networks",
        default: "",
        about: "Non-public networks that webhooks may reach, such as `10.0.0.0/8,fd00::/8`",
    },
    Setting {
        flag: "webhook-concurrency",
        default: "256",
        about: "Concurrent webhook deliveries of this process; 0 leaves them to other processes",
    },
    Setting {
        flag: "webhook-endpoint-concurrency",
        default: "32",
        about: "Concurrent deliveries of this process to one webhook",
    },
    Setting {
        flag: "smtp-url",
        default: "",
        about: "Mail server: `smtp://host:25`, `smtp://user:password@host:587` (with STARTTLS) or `smtps://user:password@host:465`; by default no mail is sent",
    },
    Setting {
        flag: "mail-from",
        default: "",
        about: "Sender of mails: an address, also with a name, such as `Charter <charter@example.com>`; required with `smtp-url`",
    },
    Setting {
        flag: "user-storage-limit",
        default: "10000000000",
        about: "Bytes that the attached files of one user may have together; a further upload is 422; 0 disables the limit",
    },
    Setting {
        flag: "user-delivery-limit",
        default: "250000",
        about: "Pending deliveries that the webhooks of one user may have together; beyond it, the webhook with the most is disabled; 0 disables the limit",
    },
    Setting { flag: "log", default: "info", about: "Log level, or directives such as `charter_runtime=debug`" },
    Setting {
        flag: "log-format",
        default: "text",
        about: "Format of the log on standard error, one line for each event: `text` or `json`",
    },
];

impl Setting {
    /// The environment variable: `CHARTER_DATABASE_URL`.
    pub fn variable(&self) -> String {
        format!("CHARTER_{}", self.flag.replace('-', "_").to_ascii_uppercase())
    }

    /// The flag.
    pub fn argument(&self) -> Arg {
        let default = if self.default.is_empty() { String::new() } else { format!(" [default: {}]", self.default) };
        let help = format!("{} [env: {}]{default}", self.about, self.variable());
        Arg::new(self.flag).long(self.flag).value_name("VALUE").global(true).help(help).help_heading("Settings")
    }
}
