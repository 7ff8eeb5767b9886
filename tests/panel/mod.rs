//! The panel: journeys in a real browser, and responses over plain HTTP.

mod accessibility;
mod account_log;
mod account_page;
mod admin_pages;
mod brand;
mod bulk_all_matching;
mod cells;
mod confirmations;
mod cookie_client;
mod declared_columns;
mod edit_conflicts;
mod exports;
mod extensions;
mod first_run;
mod form_numbers;
mod form_recovery;
mod identity_provider;
mod imports;
mod invitation_mail;
mod keyboard;
mod labels;
mod languages;
mod list_params;
mod lists;
mod navigation;
mod page_content;
mod passkeys;
mod password_reset;
mod peek;
mod permissions;
mod phone;
mod pictures;
mod plain_forms;
mod protected_records;
mod reachability;
mod records;
mod reference_picker;
mod references;
mod related_rows;
mod relative_filters;
mod remembered_columns;
mod saved_view_form;
mod search;
mod second_factor;
mod selection;
mod sessions;
mod sign_in;
mod sign_in_limits;
mod styles;
mod totals;
mod trash;
mod undo;
mod uploads;

use serde_json::{Value, json};

use crate::support::{Browser, Server};
pub use cookie_client::CookieClient;

const PASSWORD: &str = "correct horse battery staple";

/// The invitation link of a user.
async fn invitation(server: &Server, user_id: i64) -> String {
    let user = server.admin().post(&format!("/users/{user_id}/invite"), json!({})).await.record("user");
    user["invitation_url"].as_str().expect("a link").to_string()
}

/// A browser with a signed-in administrator.
async fn admin(server: &Server) -> Browser {
    browser_of(server, 1).await
}

/// A browser with a session of the user.
async fn browser_of(server: &Server, user_id: i64) -> Browser {
    let link = invitation(server, user_id).await;
    let mut browser = Browser::start(&server.url());
    browser.open(&link);
    browser.fill("#password", PASSWORD);
    browser.follow("form button");
    browser.sees("Overview");
    browser
}

/// An HTTP client with a session of the user.
pub async fn signed_in(server: &Server, user: &Value) -> CookieClient {
    let link = invitation(server, user["id"].as_i64().expect("an id")).await;
    let path = link.strip_prefix(&server.url()).expect("a link of this server").to_string();
    let mut panel = CookieClient::new(&server.url());
    panel.post(&path, &[("password", PASSWORD)]).await.status(303);
    panel
}
