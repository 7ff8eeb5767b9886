//! Cookies of the panel: session, theme, and flash message.

use salvo::http::header::{COOKIE, HeaderMap};

use crate::server::ServerState;

pub(crate) const SET_COOKIE: &str = "set-cookie";
const THEME: &str = "charter_theme";
const FLASH: &str = "charter_said";
/// `Max-Age` of a flash message, in seconds.
const FLASH_MAX_AGE: u32 = 20;
/// `Max-Age` of a sign-in at the identity provider, in seconds.
const PENDING_MAX_AGE: u32 = 15 * 60;
/// `Max-Age` of a session, in seconds: its longest lifetime.
const SESSION_MAX_AGE: u32 = 30 * 24 * 60 * 60;

/// Over HTTPS the name has the `__Host-` prefix: browsers refuse it from other hosts and paths (RFC 6265bis, section
/// 4.1.3.2).
fn session_name(state: &ServerState) -> &'static str {
    if is_secure(state) { "__Host-charter_session" } else { "charter_session" }
}

fn is_secure(state: &ServerState) -> bool {
    state.base_url().starts_with("https://")
}

/// The session secret that a browser sent.
pub(crate) fn read_session(state: &ServerState, headers: &HeaderMap) -> Option<String> {
    read(headers, session_name(state)).filter(|secret| !secret.is_empty())
}

/// The chosen theme, `light` or `dark`; `None` to follow the browser.
pub(crate) fn read_theme(headers: &HeaderMap) -> Option<&'static str> {
    let theme = read(headers, THEME)?;
    ["light", "dark"].into_iter().find(|known| *known == theme)
}

/// The code of the flash message.
pub(crate) fn read_flash(headers: &HeaderMap) -> Option<String> {
    read(headers, FLASH)
}

/// Sets the flash message of the next page; an empty code removes it.
pub(crate) fn set_flash(code: &str) -> String {
    let max_age = if code.is_empty() { 0 } else { FLASH_MAX_AGE };
    format!("{FLASH}={code}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age}")
}

fn read(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_string()).next()
}

/// Sets the session. `SameSite=Lax` lets a link from an email open its page; writes are also protected by the CSRF
/// token.
pub(crate) fn set_session(state: &ServerState, secret: &str) -> String {
    let secure = if is_secure(state) { "; Secure" } else { "" };
    format!("{}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={SESSION_MAX_AGE}{secure}", session_name(state))
}

/// Returns true if a `Set-Cookie` header sets or removes the session.
pub(crate) fn sets_session(set_cookie: &str) -> bool {
    set_cookie.contains("charter_session=")
}

pub(crate) fn clear_session(state: &ServerState) -> String {
    let secure = if is_secure(state) { "; Secure" } else { "" };
    format!("{}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{secure}", session_name(state))
}

fn pending_name(state: &ServerState) -> &'static str {
    if is_secure(state) { "__Host-charter_sign_in" } else { "charter_sign_in" }
}

/// The sign-in that the browser began at the identity provider.
pub(crate) fn read_pending(state: &ServerState, headers: &HeaderMap) -> Option<String> {
    read(headers, pending_name(state))
}

/// Sets the sign-in that begins at the identity provider; an empty one removes it. The provider leads back from another
/// site, which `SameSite=Lax` allows.
pub(crate) fn set_pending(state: &ServerState, sealed: &str) -> String {
    let secure = if is_secure(state) { "; Secure" } else { "" };
    let max_age = if sealed.is_empty() { 0 } else { PENDING_MAX_AGE };
    format!("{}={sealed}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age}{secure}", pending_name(state))
}

/// Sets the theme; any other value than `light` and `dark` removes the cookie.
pub(crate) fn set_theme(theme: &str) -> String {
    match theme {
        "light" | "dark" => format!("{THEME}={theme}; Path=/; SameSite=Lax; Max-Age=31536000"),
        _ => format!("{THEME}=; Path=/; SameSite=Lax; Max-Age=0"),
    }
}
