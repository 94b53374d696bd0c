//! Connections: accepted and served, with times within which the head of a request must come and an answer must be taken.

use crate::connections::{Connection, Connections};
use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Sleep;
use tokio_rustls::TlsAcceptor;

/// Within which the head of a request must have come, also the next one of a connection, and TLS must have been agreed on.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Within which whoever asks takes something more of an answer.
const TAKEN_WITHIN: Duration = Duration::from_secs(120);
/// How much may wait in the kernel for a slow reader: the rest waits where it can be left out.
const SEND_BUFFER: usize = 128 << 10;

/// Serves until `ending` is true.
pub(crate) async fn listen(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    connections: Arc<Connections>,
    mut ending: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ending.wait_for(|is_ending| *is_ending) => return,
        };
        if let Ok((stream, from)) = accepted {
            let _ = rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER);
            let _ = stream.set_nodelay(true);
            let connection = Arc::new(connections.begin(from.ip()));
            let counted = Counted::new(stream, Arc::clone(&connection));
            tokio::spawn(serve_over(counted, connection, tls.clone(), router.clone()));
        } else {
            // No descriptor is left, or the browser has gone again: others may come.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn serve_over(stream: Counted, connection: Arc<Connection>, tls: Option<TlsAcceptor>, router: Router) {
    let Some(tls) = tls else { return serve(stream, connection, router).await };
    if let Ok(Ok(stream)) = tokio::time::timeout(HEAD_WITHIN, tls.accept(stream)).await {
        serve(stream, connection, router).await;
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: Arc<Connection>,
    router: Router,
) {
    let routed = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&connection));
        routed.call(request.map(Body::new))
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(64 << 10).max_headers(64);
    let served = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    // A browser that goes away in the middle is nobody's mistake.
    let _ = served.await;
}

/// A connection that is counted until it is closed, also as a WebSocket, and that closes when it is told to, or when nobody takes what is sent.
struct Counted {
    stream: TcpStream,
    _connection: Arc<Connection>,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_ended: bool,
    /// Runs while something waits to be taken.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Counted {
    fn new(stream: TcpStream, connection: Arc<Connection>) -> Self {
        let mut end = connection.end.clone();
        let ended = Box::pin(async move {
            // Without a sender, nobody ends it.
            if end.wait_for(|is_so| *is_so).await.is_err() {
                std::future::pending::<()>().await;
            }
        });
        Self { stream, _connection: connection, ended, is_ended: false, stalled: None }
    }

    /// Whether it is to be closed.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> bool {
        self.is_ended = self.is_ended || self.ended.as_mut().poll(cx).is_ready();
        self.is_ended
    }

    /// What became of an attempt to send: it fails if nothing was taken for too long.
    fn sent<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.stalled = None;
            return done;
        }
        let sleep = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(TAKEN_WITHIN)));
        if sleep.as_mut().poll(cx).is_ready() {
            Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
        } else {
            Poll::Pending
        }
    }
}

fn closed<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.poll_end(cx) { closed() } else { Pin::new(&mut self.stream).poll_read(cx, buffer) }
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.poll_end(cx) {
            return closed();
        }
        let done = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.sent(cx, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
