//! TCP proxy between a server and its database that can stall: open connections stay open without data, as after a
//! power loss of the host. New connections reach the database, as if another host had taken over.

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct TcpProxy {
    port: u16,
    stalls: watch::Sender<u32>,
}

impl TcpProxy {
    /// A proxy to a port of this machine.
    pub async fn to(database: u16) -> TcpProxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let (stalls, stalled) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut stalled = stalled.clone();
                stalled.mark_unchanged();
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(("127.0.0.1", database)).await.expect("the database listens");
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = stalled.changed() => std::future::pending().await,
                    }
                });
            }
        });
        TcpProxy { port, stalls }
    }

    /// The same database, through the proxy.
    pub fn url(&self, url: &str) -> String {
        let database = url.rsplit('/').next().expect("a URL has a last segment");
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Stalls the connections that are open now.
    pub fn stall(&self) {
        self.stalls.send_modify(|count| *count += 1);
    }
}
