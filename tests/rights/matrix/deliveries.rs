//! Events of all records, as the webhook of each caller receives them.

use std::fmt::Write;

use super::oracle::Forbidden;
use super::world::World;
use crate::delivery::{Receiver, deliver};

/// The last segment of the URL of a caller's webhook.
pub fn segment(caller: &str) -> String {
    caller.replace(' ', "-")
}

/// Events with a marker that the owner of their webhook may not see.
pub async fn problems(world: &World) -> String {
    let receiver = Receiver::answering(200);
    while deliver(&world.server, &receiver).await > 0 {}
    let attempts = receiver.take();
    let mut found = String::new();
    for caller in &world.callers {
        let forbidden = Forbidden::of(world, caller);
        let end = format!("/{}", segment(caller.name));
        let own: Vec<_> = attempts.iter().filter(|attempt| attempt.url.ends_with(&end)).collect();
        assert!(!caller.is_admin() || own.len() >= 20, "the administrator receives {} events", own.len());
        for attempt in own {
            if let Some((_, marker)) = forbidden.find(&attempt.body, "") {
                writeln!(
                    found,
                    "{} | webhook | {} shows {}.{} of the {:?} record: {}",
                    caller.name, attempt.event, marker.resource, marker.field, marker.role, attempt.body
                )
                .expect("text grows");
            }
        }
    }
    found
}
