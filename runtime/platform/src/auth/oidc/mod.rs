//! Sign-in with OpenID Connect: the authorization code flow with PKCE against one identity provider (OpenID Connect
//! Core 1.0, section 3.1).

mod account;
mod claims;
mod http;
mod pending;
mod provider;

pub(super) use account::unlink;
pub use account::{Account, account_of};
pub use provider::{Answer, Finished, Provider, Start};

/// The identity provider, and how its users become users of this service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcConfig {
    /// The issuer, whose `/.well-known/openid-configuration` describes it.
    pub issuer: String,
    pub client_id: String,
    /// A public client has none.
    pub client_secret: Option<ClientSecret>,
    /// Name of the provider on the sign-in page.
    pub name: String,
    /// Scopes besides `openid`.
    pub scopes: Vec<String>,
    /// True if addresses count that the provider does not mark as verified.
    pub trusts_emails: bool,
    /// True if a user without an account gets one.
    pub creates_users: bool,
    /// The claim with the groups of a user, if they decide on roles.
    pub role_claim: Option<String>,
    /// Values of the claim with the name of a role.
    pub roles: Vec<(String, String)>,
}

/// A client secret. It has no readable `Debug`, which keeps it out of logs.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecret(pub String);

impl std::fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientSecret")
    }
}

/// A user as the identity provider describes them in a verified ID token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub subject: String,
    /// The address, if the provider has verified it.
    pub email: Option<String>,
    pub name: Option<String>,
    /// Values of the claim of roles.
    pub groups: Vec<String>,
}
