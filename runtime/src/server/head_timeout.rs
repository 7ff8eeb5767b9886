//! 408 for a client that sends the head of its first request too slowly.
//!
//! hyper closes such a connection without an answer, and has no hook for one (RFC 9110, section 15.5.9). This stream answers
//! shortly before hyper's own timeout, which also applies to later requests and to idle connections, and stays silent there.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use charter_core::error::Error;

/// A stream that answers 408 and ends if the first head is not complete in time.
#[derive(Debug)]
pub(crate) struct HeadTimeout<S> {
    stream: S,
    /// `None` after the first head.
    pending: Option<PendingHead>,
}

/// A head that is not complete.
#[derive(Debug)]
struct PendingHead {
    deadline: Pin<Box<Sleep>>,
    /// Ends of lines without anything between them. The second one ends the head (RFC 9112, section 2.2).
    line_ends: u8,
    /// The rest of the answer, once the time is over.
    answer: Option<Vec<u8>>,
}

impl<S> HeadTimeout<S> {
    pub(crate) fn new(stream: S, limit: Duration) -> HeadTimeout<S> {
        let pending = PendingHead { deadline: Box::pin(sleep(limit)), line_ends: 0, answer: None };
        HeadTimeout { stream, pending: Some(pending) }
    }
}

impl PendingHead {
    /// Returns true if the head ends in these bytes.
    fn ends_in(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            match byte {
                b'\n' => self.line_ends += 1,
                b'\r' => {}
                _ => self.line_ends = 0,
            }
            if self.line_ends == 2 {
                return true;
            }
        }
        false
    }
}

fn answer() -> Vec<u8> {
    let body = Error::RequestTimeout.body("-").to_string();
    let head = "HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\nconnection: close";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for HeadTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let HeadTimeout { stream, pending } = &mut *self;
        let mut stream = Pin::new(stream);
        let Some(head) = pending else { return stream.poll_read(context, out) };
        if head.answer.is_none() {
            let before = out.filled().len();
            if let Poll::Ready(read) = stream.as_mut().poll_read(context, out) {
                if head.ends_in(&out.filled()[before..]) {
                    *pending = None;
                }
                return Poll::Ready(read);
            }
            ready!(head.deadline.as_mut().poll(context));
        }
        let rest = head.answer.get_or_insert_with(answer);
        while !rest.is_empty() {
            let written = ready!(stream.as_mut().poll_write(context, rest))?;
            rest.drain(..written.max(1));
        }
        // No bytes: the end of the stream, upon which hyper closes the connection.
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
