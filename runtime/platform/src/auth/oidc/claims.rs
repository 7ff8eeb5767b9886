//! Claims of an ID token or of the user info, as an identity.

use openidconnect::core::CoreGenderClaim;
use openidconnect::{
    AdditionalClaims, EndUserEmail, EndUserName, IdTokenClaims, LocalizedClaim, SubjectIdentifier, UserInfoClaims,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Identity, OidcConfig};

/// The claims that are not standard ones.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct AllClaims {
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl AdditionalClaims for AllClaims {}

/// The claims that make an identity.
pub(super) struct Claims<'a> {
    subject: &'a SubjectIdentifier,
    email: Option<&'a EndUserEmail>,
    email_verified: Option<bool>,
    name: Option<&'a LocalizedClaim<EndUserName>>,
    others: &'a AllClaims,
}

impl<'a> Claims<'a> {
    pub(super) fn of_token(claims: &'a IdTokenClaims<AllClaims, CoreGenderClaim>) -> Claims<'a> {
        Claims {
            subject: claims.subject(),
            email: claims.email(),
            email_verified: claims.email_verified(),
            name: claims.name(),
            others: claims.additional_claims(),
        }
    }

    pub(super) fn of_user_info(claims: &'a UserInfoClaims<AllClaims, CoreGenderClaim>) -> Claims<'a> {
        Claims {
            subject: claims.subject(),
            email: claims.email(),
            email_verified: claims.email_verified(),
            name: claims.name(),
            others: claims.additional_claims(),
        }
    }

    /// The identity, with a verified address only.
    pub(super) fn identity(&self, config: &OidcConfig) -> Identity {
        let is_verified = config.trusts_emails || self.email_verified == Some(true);
        let plain = |text: &str| Some(text.trim().to_string()).filter(|text| !text.is_empty());
        let groups_claim = config.role_claim.as_ref().and_then(|claim| self.others.others.get(claim));
        Identity {
            subject: self.subject.to_string(),
            email: self.email.filter(|_| is_verified).and_then(|email| plain(email)),
            name: self.name.and_then(|names| names.get(None)).and_then(|name| plain(name)),
            groups: groups_claim.map(groups).unwrap_or_default(),
        }
    }
}

/// The values of a claim, which is one text or a list of them.
fn groups(claim: &Value) -> Vec<String> {
    match claim {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).map(String::from).collect(),
        _ => Vec::new(),
    }
}

impl Identity {
    /// Takes what this identity lacks from another one of the same subject.
    pub(super) fn or(self, more: Identity) -> Identity {
        let groups = if self.groups.is_empty() { more.groups } else { self.groups };
        Identity { email: self.email.or(more.email), name: self.name.or(more.name), groups, ..self }
    }
}
