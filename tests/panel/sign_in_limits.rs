//! Sign-in attempts from many networks, which must not lock the owner of an account out.

use std::time::Duration;

use super::sign_in::set_password;
use super::{CookieClient, PASSWORD};
use crate::support::{Server, on_both};

on_both!(attempts_from_eleven_networks_do_not_lock_the_owner_out);

async fn attempts_from_eleven_networks_do_not_lock_the_owner_out(server: Server) {
    let server =
        server.configured(|config| config.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")]).await;
    set_password(&server, 1, PASSWORD).await;
    let from = |address: &str| CookieClient::new(&server.url()).with("x-forwarded-for", Some(address));
    let correct = [("email", "admin@example.com"), ("password", PASSWORD)];
    from("203.0.113.7").post("/panel/sign-in", &correct).await.status(303);
    let mut admitted = 0;
    for network in 0..11 {
        let mut stranger = from(&format!("198.51.{network}.9"));
        for _ in 0..6 {
            let guess = [("email", "Admin@example.com"), ("password", "not the password")];
            admitted += u32::from(stranger.post("/panel/sign-in", &guess).await.status == 422);
        }
    }
    assert!((50..60).contains(&admitted), "{admitted} attempts were admitted");
    // Another address of the network from which the owner has signed in before.
    from("203.0.113.99").post("/panel/sign-in", &correct).await.status(303);
    let mut travelling = from("192.0.2.5");
    let refused = travelling.post("/panel/sign-in", &correct).await;
    let wait: u64 = refused.status(429).header("retry-after").parse().expect("seconds");
    assert!((1..=60).contains(&wait), "{wait} seconds");
    server.state.clock.advance(Duration::from_secs(wait));
    travelling.post("/panel/sign-in", &correct).await.status(303);
}
