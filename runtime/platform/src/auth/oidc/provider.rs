//! The identity provider: its description, the address to which a browser is sent, and the verified ID token.

use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreClientAuthMethod, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreResponseType,
    CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AuthType, AuthenticationFlow, AuthorizationCode, Client, ClientId, CsrfToken, EmptyExtraTokenFields,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, IdTokenFields, IssuerUrl, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, StandardErrorResponse, StandardTokenResponse,
    TokenResponse, UserInfoClaims,
};

use super::claims::{AllClaims, Claims};
use super::http::ProviderHttp;
use super::pending::Pending;
use super::{Identity, OidcConfig};
use charter_core::error::{Error, Result, chain};
use charter_core::ops::State;

/// How long the description of the provider, with its keys, is kept. It is read again for an unknown key.
const METADATA_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// Path of the callback, which is registered with the provider.
const CALLBACK_PATH: &str = "/panel/sign-in/oidc/callback";

type Tokens = StandardTokenResponse<
    IdTokenFields<
        AllClaims,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;

type OidcClient = Client<
    AllClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The configured identity provider.
#[derive(Debug)]
pub struct Provider {
    pub config: OidcConfig,
    http: ProviderHttp,
    metadata: Mutex<Option<(Instant, Arc<CoreProviderMetadata>)>>,
}

/// The start of a sign-in.
pub struct Start {
    /// The page of the provider.
    pub url: String,
    /// The value of the cookie that the browser keeps meanwhile.
    pub sealed: String,
}

/// Parameters with which the provider sends the browser back.
#[derive(Debug, Default)]
pub struct Answer {
    pub code: Option<String>,
    pub state: Option<String>,
    /// The issuer (RFC 9207).
    pub issuer: Option<String>,
    pub error: Option<String>,
}

/// The end of a sign-in at the provider.
pub enum Finished {
    /// The identity, and the page to open.
    Identity(Box<Identity>, String),
    /// The sign-in was not begun in this browser, or took too long.
    Expired,
    /// The user or the provider refused.
    Denied,
    /// The provider cannot be reached, or its answer is invalid. The log has the cause.
    Failed,
}

impl Provider {
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(config: OidcConfig) -> Result<Provider> {
        Ok(Provider { config, http: ProviderHttp::new()?, metadata: Mutex::default() })
    }

    /// Begins a sign-in that ends on the page `to`; `None` if the provider cannot be reached.
    ///
    /// # Errors
    /// When the operating system has no randomness.
    pub async fn begin(&self, state: &State, to: &str) -> Result<Option<Start>> {
        let Some(client) = self.client(state, false).await? else { return Ok(None) };
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = AuthenticationFlow::<CoreResponseType>::AuthorizationCode;
        let mut request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        for scope in &self.config.scopes {
            request = request.add_scope(Scope::new(scope.clone()));
        }
        let (url, csrf, nonce) = request.set_pkce_challenge(challenge).url();
        let pending = Pending {
            state: csrf.into_secret(),
            nonce: nonce.secret().clone(),
            verifier: verifier.into_secret(),
            to: to.to_string(),
        };
        Ok(Some(Start { url: url.to_string(), sealed: pending.seal(state)? }))
    }

    /// Ends a sign-in: exchanges the code and verifies the ID token. `sealed` is the cookie.
    ///
    /// # Errors
    /// When the settings of this server do not make a valid request.
    pub async fn finish(&self, state: &State, sealed: &str, answer: Answer) -> Result<Finished> {
        let Some(pending) = Pending::open(state, sealed) else { return Ok(Finished::Expired) };
        if answer.state.as_deref() != Some(pending.state.as_str()) {
            return Ok(Finished::Expired);
        }
        if answer.issuer.as_deref().is_some_and(|issuer| issuer != self.config.issuer) {
            return Ok(failed("the answer comes from another issuer"));
        }
        let Some(code) = answer.code else {
            tracing::info!(error = answer.error.as_deref().unwrap_or("no code"), "the identity provider refused");
            return Ok(Finished::Denied);
        };
        let Some(client) = self.client(state, false).await? else { return Ok(Finished::Failed) };
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(Error::internal)?;
        let verifier = PkceCodeVerifier::new(pending.verifier);
        let tokens = match request.set_pkce_verifier(verifier).request_async(&self.http).await {
            Ok(tokens) => tokens,
            Err(error) => return Ok(failed(&chain(&error))),
        };
        let nonce = Nonce::new(pending.nonce);
        match self.identity(&client, &tokens, &nonce).await {
            Ok(identity) => return Ok(Finished::Identity(identity.into(), pending.to)),
            Err(Problem::Token(cause)) => return Ok(failed(&cause)),
            Err(Problem::UnknownKey) => {}
        }
        // The provider has replaced its keys since they were read.
        let Some(client) = self.client(state, true).await? else { return Ok(Finished::Failed) };
        match self.identity(&client, &tokens, &nonce).await {
            Ok(identity) => Ok(Finished::Identity(identity.into(), pending.to)),
            Err(Problem::Token(cause)) => Ok(failed(&cause)),
            Err(Problem::UnknownKey) => Ok(failed("the ID token is signed with an unknown key")),
        }
    }

    /// Verifies the ID token, and reads the claims that it lacks from the user info.
    async fn identity(&self, client: &OidcClient, tokens: &Tokens, nonce: &Nonce) -> Result<Identity, Problem> {
        let token = tokens.id_token().ok_or_else(|| Problem::Token("there is no ID token".into()))?;
        let claims = token.claims(&client.id_token_verifier(), nonce).map_err(|error| {
            use openidconnect::ClaimsVerificationError::SignatureVerification;
            use openidconnect::SignatureVerificationError::{CryptoError, NoMatchingKey};
            match error {
                SignatureVerification(NoMatchingKey | CryptoError(_)) => Problem::UnknownKey,
                error => Problem::Token(chain(&error)),
            }
        })?;
        let mut identity = Claims::of_token(claims).identity(&self.config);
        let lacks_groups = self.config.role_claim.is_some() && identity.groups.is_empty();
        if (identity.email.is_none() || lacks_groups) && client.user_info_url().is_some() {
            let subject = claims.subject().clone();
            let request = client.user_info(tokens.access_token().clone(), Some(subject)).map_err(problem)?;
            let info: UserInfoClaims<AllClaims, CoreGenderClaim> =
                request.request_async(&self.http).await.map_err(problem)?;
            identity = identity.or(Claims::of_user_info(&info).identity(&self.config));
        }
        Ok(identity)
    }

    /// The client for the provider; `None` if the provider cannot be reached. `anew` reads its description again.
    async fn client(&self, state: &State, anew: bool) -> Result<Option<OidcClient>> {
        let Some(metadata) = self.metadata(anew).await else { return Ok(None) };
        let methods = metadata.token_endpoint_auth_methods_supported();
        // The default of RFC 8414 is the header.
        let in_header = methods.is_none_or(|methods| methods.contains(&CoreClientAuthMethod::ClientSecretBasic));
        let auth_type = if in_header { AuthType::BasicAuth } else { AuthType::RequestBody };
        let secret =
            self.config.client_secret.as_ref().map(|secret| openidconnect::ClientSecret::new(secret.0.clone()));
        let redirect = RedirectUrl::new(format!("{}{CALLBACK_PATH}", state.base_url())).map_err(Error::internal)?;
        let id = ClientId::new(self.config.client_id.clone());
        let client = Client::from_provider_metadata((*metadata).clone(), id, secret);
        Ok(Some(client.set_redirect_uri(redirect).set_auth_type(auth_type)))
    }

    async fn metadata(&self, anew: bool) -> Option<Arc<CoreProviderMetadata>> {
        let known = self.metadata.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((read_at, metadata)) = known.filter(|_| !anew)
            && read_at.elapsed() < METADATA_LIFETIME
        {
            return Some(metadata);
        }
        let issuer = IssuerUrl::new(self.config.issuer.clone()).ok()?;
        match CoreProviderMetadata::discover_async(issuer, &self.http).await {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                let read = Some((Instant::now(), metadata.clone()));
                *self.metadata.lock().unwrap_or_else(PoisonError::into_inner) = read;
                Some(metadata)
            }
            Err(error) => {
                tracing::warn!(error = %chain(&error), issuer = self.config.issuer, "the identity provider cannot be used");
                None
            }
        }
    }
}

/// Why there is no identity.
enum Problem {
    /// The signature belongs to none of the known keys.
    UnknownKey,
    Token(String),
}

fn problem(error: impl StdError + 'static) -> Problem {
    Problem::Token(chain(&error))
}

/// Logs the cause. It names no token: the messages of the library have none.
fn failed(cause: &str) -> Finished {
    tracing::warn!(error = cause, "a sign-in by the identity provider failed");
    Finished::Failed
}
