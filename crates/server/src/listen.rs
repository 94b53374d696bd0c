//! Connections: accepted up to a bound, with a time within which the head of a request must come.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

/// Connections at a time. A browser opens six and one for each WebSocket.
const MOST_CONNECTIONS: usize = 1_024;
/// Within which the head of a request must have come, also the next one of a connection, and TLS must have been agreed on.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How much may wait in the kernel for a slow reader: the rest waits where it can be left out.
const SEND_BUFFER: usize = 128 << 10;

/// Serves until `ending` is true.
pub(crate) async fn listen(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut ending: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let next = async {
            // The semaphore is never closed.
            let permit = Arc::clone(&room).acquire_owned().await.ok();
            (listener.accept().await, permit)
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            _ = ending.wait_for(|is_ending| *is_ending) => return,
        };
        match accepted {
            (Ok((stream, _)), Some(permit)) => {
                let _ = rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER);
                let _ = stream.set_nodelay(true);
                tokio::spawn(connection(Counted { stream, _permit: permit }, tls.clone(), router.clone()));
            }
            // No descriptor is left, or the browser has gone again: others may come.
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn connection(stream: Counted, tls: Option<TlsAcceptor>, router: Router) {
    let Some(tls) = tls else { return serve(stream, router).await };
    if let Ok(Ok(stream)) = tokio::time::timeout(HEAD_WITHIN, tls.accept(stream)).await {
        serve(stream, router).await;
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let service = TowerToHyperService::new(router);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(64 << 10).max_headers(64);
    let served = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    // A browser that goes away in the middle is nobody's mistake.
    let _ = served.await;
}

/// A connection that is counted until it is closed, also as a WebSocket.
struct Counted {
    stream: TcpStream,
    _permit: OwnedSemaphorePermit,
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
