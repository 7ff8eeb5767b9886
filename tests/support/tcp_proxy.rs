//! The wire between a server and its database, which can fall silent: what is open stays open, and nothing comes any more, as
//! when a host has lost its power. What is opened after that reaches the host that took its place.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Wire {
    port: u16,
    silences: watch::Sender<u32>,
}

impl Wire {
    /// A wire to what listens on a port of this machine.
    pub async fn to(database: u16) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let (silences, silent) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let mut silent = silent.clone();
                silent.mark_unchanged();
                tokio::spawn(async move {
                    let mut far = TcpStream::connect(("127.0.0.1", database)).await.expect("the database listens");
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        _ = silent.changed() => std::future::pending().await,
                    }
                });
            }
        });
        Wire { port, silences }
    }

    /// The same database, through the wire.
    pub fn url(&self, url: &str) -> String {
        let database = url.rsplit('/').next().expect("a URL has a last segment");
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Nothing comes any more over what is open now.
    pub fn silence(&self) {
        self.silences.send_modify(|count| *count += 1);
    }
}
