//! The life of a server: it listens, says where, and ends when it is told to.

use crate::air_logs::AirLogs;
use crate::air_maps::AirMaps;
use crate::app::{App, CAPTURES, MOST_OF_OTHERS, SOCKETS, TERMINALS};
use crate::connections::Connections;
use crate::jobs::Jobs;
use crate::journals::Journals;
use crate::lab_files::LabFiles;
use crate::listen::listen;
use crate::looks::look_on;
use crate::names::Names;
use crate::options::{Opened, Options};
use crate::results_index::ResultsIndex;
use crate::route::router;
use crate::scope::Scope;
use crate::serve_error::ServeError;
use crate::shares::Shares;
use crate::token::Role;
use crate::turns::Turns;
use crate::visitors::Visitors;
use crate::world::World;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

/// Threads that serve connections, and threads that may wait for files and labs: more than all requests of others, and all terminals that wait for a lab whose time
/// stands still, can take.
const WORKERS: usize = 2;
const MOST_WAITING: usize = 256;
/// How long pages have to hear that the server ends.
const HEARD_WITHIN: Duration = Duration::from_millis(300);
/// How long commands that go on may take to end; a lab may take longer, and then goes on by itself to end.
const ENDED_WITHIN: Duration = Duration::from_secs(30);

/// The addresses at which the server is reached.
#[derive(Debug)]
pub struct Served {
    /// The addresses to open, each with its role; the first is for whoever has started the server.
    pub addresses: Vec<(Role, String)>,
}

/// Serves until it is interrupted, and calls `ready` when it listens.
///
/// # Errors
/// When it cannot listen, or the folder cannot be read.
pub fn serve(options: Options, ready: impl FnOnce(&Served)) -> Result<(), ServeError> {
    let runtime =
        Builder::new_multi_thread().worker_threads(WORKERS).max_blocking_threads(MOST_WAITING).enable_all().build();
    let runtime: Runtime = runtime.map_err(ServeError::Threads)?;
    let served = runtime.block_on(run(options, ready));
    // What still waits for a file or a lab is not waited for.
    runtime.shutdown_background();
    served
}

/// More than all that may be open takes: connections, their labs, and five of each terminal.
const MOST_DESCRIPTORS: u64 = 4_096;

async fn run(options: Options, ready: impl FnOnce(&Served)) -> Result<(), ServeError> {
    let Options { opened, folder: home, results, port: wanted, share, keep, program } = options;
    let address = share.as_ref().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |share| share.address);
    let place = SocketAddr::new(address, wanted);
    let refused = |error| ServeError::Listen(place, error);
    take_descriptors()?;
    // Signals are taken from before anybody can ask for anything.
    let mut signals = Signals::take().map_err(ServeError::Signals)?;
    let listener = TcpListener::bind(place).await.map_err(refused)?;
    let port = listener.local_addr().map_err(refused)?.port();
    let is_shared = share.is_some();
    let roles: &[Role] = if is_shared { &[Role::Edit, Role::Use, Role::Look] } else { &[Role::Edit] };
    let visitors = Visitors::new(roles).map_err(ServeError::Random)?;
    let (names, tls, pin) = match share {
        Some(share) => {
            let pin = share.certificate.pin().map(str::to_owned);
            let config = share.certificate.into_config().map_err(ServeError::Certificate)?;
            (share.names, Some(TlsAcceptor::from(config)), pin)
        }
        None => (Vec::new(), None, None),
    };
    let names =
        Names { scheme: if tls.is_some() { "https" } else { "http" }, port, is_shared, names, at: address, pin };
    let given = match &opened {
        Some(Opened::Results(given)) => Some(given.as_path()),
        _ => None,
    };
    let results_index = ResultsIndex::new(&results, given);
    let labs = home.map(|path| {
        let failed = |error| ServeError::Folder(path.clone(), error);
        LabFiles::open(&path, results_index.root()).map_err(failed)
    });
    let labs = labs.transpose()?;
    let scope = scope(opened.as_ref(), labs.as_ref(), &results_index);
    let (end, ending) = watch::channel(false);
    let addresses = visitors.links().iter().map(|(role, token)| (*role, names.address(token))).collect();
    let served = Served { addresses };
    let app = Arc::new(App {
        names,
        visitors: Arc::new(visitors),
        opened,
        scope,
        labs: labs.map(Arc::new),
        results_index,
        journals: Journals::default(),
        air_maps: AirMaps::default(),
        air_logs: AirLogs::default(),
        jobs: Arc::new(Jobs::new(program, keep)),
        world: World::new(),
        connections: Connections::new(),
        sockets: Shares::new("WebSockets", SOCKETS),
        terminals: Shares::new("terminals", TERMINALS),
        captures: Shares::new("captures", CAPTURES),
        shells: Arc::default(),
        others: Arc::new(Semaphore::new(MOST_OF_OTHERS)),
        turns: Turns::new(),
        ending: ending.clone(),
    });
    tokio::spawn(look_on(Arc::clone(&app)));
    tokio::spawn(listen(listener, tls, router(Arc::clone(&app)), Arc::clone(&app.connections), ending));
    ready(&served);
    signals.next().await;
    let _ = end.send(true);
    tokio::select! {
        () = finish(&app) => {}
        // Whoever asks twice does not wait. What was brought up ends with this process all the same.
        () = signals.next() => {}
    }
    Ok(())
}

/// Ends what this server has begun, if it is not kept.
async fn finish(app: &Arc<App>) {
    tokio::time::sleep(HEARD_WITHIN).await;
    if app.jobs.keep {
        return;
    }
    app.jobs.stop_all();
    let down = app.jobs.brought_up().into_iter().map(|(lab, results)| {
        let app = Arc::clone(app);
        tokio::task::spawn_blocking(move || {
            // Another lab may have this name by now.
            let there = netloom_control::find(&lab).ok().and_then(|lab| lab.state).and_then(|state| state.results);
            if there.and_then(|there| app.results_index.id(&there)) == Some(results) {
                let _ = netloom_control::take_down(&lab);
            }
        })
    });
    let down: Vec<_> = down.collect();
    let all = async {
        for one in down {
            let _ = one.await;
        }
        while app.jobs.is_any_going_on() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let _ = tokio::time::timeout(ENDED_WITHIN, all).await;
}

/// What others may reach of what was opened.
fn scope(opened: Option<&Opened>, labs: Option<&LabFiles>, results_index: &ResultsIndex) -> Scope {
    match opened {
        None | Some(Opened::File(_)) => Scope::Folder,
        Some(Opened::Lab(name)) => {
            let file = netloom_control::find(name).ok().and_then(|lab| lab.state).map(|state| state.lab_file);
            let file = labs.zip(file).and_then(|(labs, file)| labs.inside(&file));
            Scope::Lab { name: name.clone(), file }
        }
        Some(Opened::Results(folder)) => Scope::Results(results_index.id(folder).unwrap_or_default()),
    }
}

/// Lets this process have as many descriptors as it may: each connection, terminal and lab takes some.
fn take_descriptors() -> Result<(), ServeError> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(ServeError::Descriptors)?;
    let wanted = MOST_DESCRIPTORS.clamp(soft, hard.max(soft));
    setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).map_err(ServeError::Descriptors)
}

/// What ends a server.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

impl Signals {
    fn take() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
