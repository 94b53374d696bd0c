//! An engine with two ports, mostly of guests, whose front-ends the tests play. Nothing here needs a privilege.
#![allow(dead_code, reason = "each test binary uses its own part of this module")]

#[path = "../../../vhost/tests/ports/frontend.rs"]
pub(crate) mod frontend;

use frontend::{FROM_GUEST, Frontend, OFFERED, SIZE, TO_GUEST};
use netloom_dataplane::{Engine, EngineConfig, EngineError, PortConfig, Precision};
use netloom_fabric::{Fabric, PipeSpec, PortId};
use netloom_figures::Snapshot;
use netloom_link::{DelayConfig, Distribution, PipeConfig};
use netloom_units::{Dilation, Duration, Seed};
use netloom_vhost::Listener;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration as RealDuration;

/// How long anything may take on a machine that is busy with other things.
pub(crate) const PATIENCE: u32 = 20_000;
pub(crate) const DELAY: Duration = Duration::from_millis(5);

/// A link of 5 ms between two guests.
pub(crate) fn engine(dilation: u64) -> (Engine, [PathBuf; 2]) {
    let (first, second) = (guest(0), guest(1));
    let engine = start(dilation, vec![first.0, second.0]).expect("no privilege is needed");
    (engine, [first.1, second.1])
}

/// A port for a guest that connects to this path.
pub(crate) fn guest(number: u32) -> (PortConfig, PathBuf) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("netloom-guests-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let listener = Listener::bind(&path).expect("a free path");
    (PortConfig::Guest { port: PortId(number), listener, has_share: false }, path)
}

/// A link of 5 ms between ports 0 and 1.
pub(crate) fn start(dilation: u64, ports: Vec<PortConfig>) -> Result<Engine, EngineError> {
    let pipe = |name: &str, from: u32, to: u32| PipeSpec {
        name: name.to_owned(),
        config: PipeConfig {
            delay: DelayConfig { distribution: Distribution::Constant(DELAY), ..DelayConfig::default() },
            ..PipeConfig::default()
        },
        coalesce: Duration::ZERO,
        from: PortId(from),
        filter: None,
        medium: Vec::new(),
        to: PortId(to),
    };
    let config = EngineConfig {
        precision: Precision::Balanced,
        processors: Vec::new(),
        dilation: Dilation::from_whole(dilation).expect("within bounds"),
        epoch: None,
        memory: None,
        ports,
    };
    let fabric = Fabric::new(Seed::new(1), &[pipe("forward", 0, 1), pipe("backward", 1, 0)]);
    Engine::start(fabric, config)
}

pub(crate) fn booted(paths: &[PathBuf; 2]) -> [Frontend; 2] {
    paths.each_ref().map(|path| boot(path))
}

/// Does all that User-Mode Linux does when it boots.
pub(crate) fn boot(path: &Path) -> Frontend {
    let mut guest = Frontend::connect(path);
    guest.socket.set_nonblocking(false).expect("a socket");
    guest.send(3, 1, &[], &[]);
    guest.send(1, 1, &[], &[]);
    assert_eq!(guest.answer(1), OFFERED);
    command(&mut guest, 16, &8_u64.to_ne_bytes(), None);
    command(&mut guest, 2, &OFFERED.to_ne_bytes(), None);
    let (table, file) = (guest.memory_table(), guest.file.as_raw_fd());
    command(&mut guest, 5, &table, Some(file));
    for (queue, number) in [(TO_GUEST, 0_u32), (FROM_GUEST, 1)] {
        let state = |value: u16| [number, u32::from(value)].map(u32::to_ne_bytes).concat();
        let name = u64::from(number).to_ne_bytes();
        let (call, kick) = (guest.calls[queue].as_raw_fd(), guest.kicks[queue].as_raw_fd());
        command(&mut guest, 13, &name, Some(call));
        command(&mut guest, 8, &state(SIZE), None);
        command(&mut guest, 10, &state(0), None);
        command(&mut guest, 9, &Frontend::addresses(queue), None);
        command(&mut guest, 12, &name, Some(kick));
        command(&mut guest, 18, &state(1), None);
    }
    guest
}

pub(crate) fn command(guest: &mut Frontend, request: u32, payload: &[u8], file: Option<RawFd>) {
    guest.send(request, 9, payload, file.as_slice());
    assert_eq!(guest.answer(request), 0, "request {request}");
}

/// Looks again and again until there is something.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..PATIENCE {
        if let Some(found) = look() {
            return found;
        }
        std::thread::park_timeout(RealDuration::from_millis(1));
    }
    panic!("{what} never came");
}

pub(crate) fn snapshot_when(engine: &mut Engine, what: &str, is_it: impl Fn(&Snapshot) -> bool) -> Snapshot {
    wait_for(what, || Some(engine.snapshot().expect("a running engine")).filter(&is_it))
}
