//! Typed clients (`cargo charter client`): every operation, failures of the network, verification of webhooks, and the
//! samples of `docs/typed-clients.md`.

mod answers;
mod faults;
mod guide;
mod retries;
mod tour;
mod webhooks;
