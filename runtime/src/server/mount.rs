//! Paths of an application that are not resources: how they are described, and what is checked before their handler.

use std::fmt;
use std::sync::Arc;

use charter_core::error::{Error, Result};
use salvo::{Request, Router, async_trait};
use serde_json::Value;

use super::{Endpoint, Handler, JSON, Response, ServerState, authenticate};

/// Whose requests a path answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountAccess {
    /// Those with a valid token.
    AnyToken,
    /// Those with a token that has this ability.
    Ability(&'static str),
    /// All: the handler authenticates its callers itself, such as by a signature.
    Public,
}

/// A path of the application with its handler, added by `App::mount`. It is in the OpenAPI document, in `charter routes` and in
/// the typed clients.
#[derive(Clone)]
pub struct Mount {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    pub(crate) access: MountAccess,
    pub(crate) takes: Option<fn() -> Value>,
    /// The content type of the response, and the JSON Schema of a JSON response.
    pub(crate) returns: (&'static str, Option<fn() -> Value>),
    handler: Arc<dyn Handler>,
}

impl Mount {
    /// Answers `GET /<path>`. The path has no leading `/`; `{name}` is a parameter: `reports/{year}`. Without
    /// [`Mount::ability`] it needs any valid token.
    pub fn get(path: &'static str, handler: impl Handler) -> Mount {
        Mount::new("GET", path, handler)
    }

    /// The same for `POST`.
    pub fn post(path: &'static str, handler: impl Handler) -> Mount {
        Mount::new("POST", path, handler)
    }

    fn new(method: &'static str, path: &'static str, handler: impl Handler) -> Mount {
        let (summary, description, access) = ("", "", MountAccess::AnyToken);
        let handler = Arc::new(handler);
        Mount { method, path, summary, description, access, takes: None, returns: (JSON, None), handler }
    }

    /// The ability that is checked before the handler runs: `loans:read`, or one of its own, such as `reports:read`.
    pub fn ability(self, ability: &'static str) -> Mount {
        Mount { access: MountAccess::Ability(ability), ..self }
    }

    /// Answers requests without a token, such as the callback of a payment service.
    pub fn public(self) -> Mount {
        Mount { access: MountAccess::Public, ..self }
    }

    /// A title of a few words.
    pub fn summary(self, summary: &'static str) -> Mount {
        Mount { summary, ..self }
    }

    /// A description in a sentence or two.
    pub fn description(self, description: &'static str) -> Mount {
        Mount { description, ..self }
    }

    /// The JSON Schema of the request body.
    pub fn takes(self, schema: fn() -> Value) -> Mount {
        Mount { takes: Some(schema), ..self }
    }

    /// The JSON Schema of the response.
    pub fn returns(self, schema: fn() -> Value) -> Mount {
        Mount { returns: (JSON, Some(schema)), ..self }
    }

    /// The content type of a response that is not JSON: `text/plain`.
    pub fn returns_type(self, content_type: &'static str) -> Mount {
        Mount { returns: (content_type, None), ..self }
    }

    /// `/reports/{year}`
    pub(crate) fn full_path(&self) -> String {
        format!("/{}", self.path)
    }

    /// `reports/{}`: the path without the names of its parameters, which do not distinguish paths in the OpenAPI document.
    pub(crate) fn shape(&self) -> String {
        let segments = self.path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
        segments.collect::<Vec<_>>().join("/")
    }

    /// The parameters of the path.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }

    /// The word of its access for people: the ability, `any token` or `none`.
    pub(crate) fn access_text(&self) -> &'static str {
        match self.access {
            MountAccess::Ability(ability) => ability,
            MountAccess::AnyToken => "any token",
            MountAccess::Public => "none",
        }
    }

    /// Checks its declaration.
    ///
    /// # Errors
    /// An internal error that names the path.
    pub(crate) fn check(&self) -> Result<()> {
        let problem = |what: &str| Err(Error::internal(format!("the mounted path `{}`: {what}", self.path)));
        if self.path.is_empty() || self.path.starts_with('/') || self.path.ends_with('/') {
            return problem("write it without `/` at its start and end");
        }
        let is_plain = |segment: &str| match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => is_word(name),
            None => is_literal(segment),
        };
        if !self.path.split('/').all(is_plain) {
            return problem(
                "a segment has letters, digits, `-`, `.`, `_` and `~`, and a parameter is one segment with a name, such as `{year}`",
            );
        }
        let parameters: Vec<&str> = self.parameters().collect();
        if let Some(name) =
            parameters.iter().enumerate().find_map(|(at, name)| parameters[..at].contains(name).then_some(name))
        {
            return problem(&format!("two parameters have the name `{name}`"));
        }
        match self.access {
            MountAccess::Ability(ability) if !is_ability(ability) => {
                problem("an ability is a word and a verb: `reports:read` or `reports:write`")
            }
            _ if self.summary.is_empty() => problem("it has no `summary`, which the OpenAPI document shows"),
            _ => Ok(()),
        }
    }

    pub(crate) fn router(&self, state: &Arc<ServerState>) -> Router {
        let endpoint = || Endpoint::new(state.clone(), Guarded(self.clone()));
        let router = Router::with_path(self.path);
        if self.method == "POST" { router.post(endpoint()) } else { router.get(endpoint()).head(endpoint()) }
    }

    /// Refuses the other methods of its path. Resources come first, because they may have them.
    pub(crate) fn other_methods(&self, state: &Arc<ServerState>) -> Router {
        let same_path = state.mounts.iter().filter(|other| other.path == self.path);
        let methods = same_path.map(|other| other.method).collect();
        Router::with_path(self.path).goal(Endpoint::new(state.clone(), OtherMethod(methods)))
    }
}

/// A segment that needs no escapes in a URL (RFC 3986, section 2.3) and leads to no other segment.
fn is_literal(segment: &str) -> bool {
    let is_unreserved = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    !matches!(segment, "" | "." | "..") && segment.bytes().all(is_unreserved)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// `reports:read`
fn is_ability(text: &str) -> bool {
    text.split_once(':').is_some_and(|(word, verb)| is_word(word) && ["read", "write"].contains(&verb))
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount").field("method", &self.method).field("path", &self.path).finish_non_exhaustive()
    }
}

/// The handler behind the check of its access.
struct Guarded(Mount);

#[async_trait]
impl Handler for Guarded {
    async fn handle(&self, state: &Arc<ServerState>, request: &mut Request) -> Result<Response> {
        match self.0.access {
            MountAccess::Public => {}
            MountAccess::AnyToken => drop(authenticate(state, request).await?),
            MountAccess::Ability(ability) => authenticate(state, request).await?.need_ability(ability)?,
        }
        self.0.handler.handle(state, request).await
    }

    fn has_no_timeout(&self, state: &ServerState, request: &Request) -> bool {
        self.0.handler.has_no_timeout(state, request)
    }

    fn redact_path<'p>(&self, path: &'p str) -> &'p str {
        self.0.handler.redact_path(path)
    }

    fn route(&self, request: &Request) -> Option<&'static str> {
        self.0.handler.route(request)
    }

    fn cache_control(&self) -> Option<&'static str> {
        self.0.handler.cache_control()
    }

    fn lane(&self, request: &Request) -> charter_core::client::Lane {
        self.0.handler.lane(request)
    }

    fn is_write(&self, request: &Request) -> bool {
        self.0.handler.is_write(request)
    }

    fn limits_concurrency(&self) -> bool {
        self.0.handler.limits_concurrency()
    }
}

/// The handler of methods that a path does not have; it has these.
struct OtherMethod(Vec<&'static str>);

#[async_trait]
impl Handler for OtherMethod {
    async fn handle(&self, _: &Arc<ServerState>, _: &mut Request) -> Result<Response> {
        Err(Error::method_not_allowed(self.0.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    #[async_trait]
    impl Handler for Nothing {
        async fn handle(&self, _: &Arc<ServerState>, _: &mut Request) -> Result<Response> {
            Err(Error::NotFound)
        }
    }

    #[test]
    fn a_mount_needs_a_path_a_summary_and_an_ability_of_a_word_and_a_verb() {
        let mount = |path: &'static str| Mount::get(path, Nothing).summary("A report");
        assert!(mount("reports/{year}").ability("reports:read").check().is_ok());
        assert_eq!(mount("reports/{year}").parameters().collect::<Vec<_>>(), ["year"]);
        for (mount, expected) in [
            (mount("/reports"), "without `/`"),
            (mount(""), "without `/`"),
            (mount("reports/{id:num}"), "a parameter"),
            (mount("files/{**rest}"), "a parameter"),
            (mount("reports").ability("reports"), "a word and a verb"),
            (mount("reports").ability("reports:erase"), "a word and a verb"),
            (Mount::get("reports", Nothing), "no `summary`"),
        ] {
            let problem = mount.check().expect_err("a wrong declaration").to_string();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
