//! The lab process of the trial: two nodes, joined once through the engine and once by a plain veth pair.

use super::memory::{self, IDLE_NODES, Mark};
use super::{Kernel, Told};
use crate::traffic::{self, Sent, Streamed};
use netloom_dataplane::{Engine, EngineConfig, PortConfig, Precision};
use netloom_fabric::{Fabric, PipeSpec, PortId};
use netloom_host::jsonl::to_line;
use netloom_host::netlink::{InterfaceCounters, Netlink, Veth, VethEnd};
use netloom_host::node::{AgentClient, InterfaceConfig, Node, NodeConfig, NodeError, Spawn, SpawnError};
use netloom_host::{KernelError, Pid};
use netloom_judge::examination::Forwarding;
use netloom_link::PipeConfig;
use netloom_units::{Dilation, Duration, Seed};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader, Read, Write, pipe};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration as RealDuration;
use std::time::Instant;

const MTU: u32 = 1_500;
/// How long a flood and a pace last. The engine's ring holds a twentieth of a second of packets, and a pace that is too
/// fast must fill it.
const FLOOD_MS: u64 = 250;
const PACE_MS: u64 = 180;
/// Paces that are tried one after the other, as shares of what came out of the flood. A machine with few processors moves
/// more when it is not flooded.
const PACES: [f64; 8] = [1.2, 1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1];
/// What was sent has arrived after so long, unless it waits in the ring of an engine that does not keep up.
const DRAIN: RealDuration = RealDuration::from_millis(10);
const STREAM_MS: u64 = 650;

/// Why the trial came to no figures.
struct Failure {
    message: String,
    errno: Option<i32>,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), errno: None }
    }
}

impl From<KernelError> for Failure {
    fn from(error: KernelError) -> Self {
        Self { message: error.to_string(), errno: Some(error.errno()) }
    }
}

impl From<NodeError> for Failure {
    fn from(error: NodeError) -> Self {
        let message = error.to_string();
        let errno = if let NodeError::Refused { error, .. } = error { Some(error.errno()) } else { None };
        Self { message, errno }
    }
}

/// From the beginning of the lab process to its exit code. `ends`: the processors of sender and receiver.
pub(super) fn main(mut channel: UnixStream, ends: [Option<usize>; 2], kernel: Option<&Kernel<'_>>) -> i32 {
    let told = match trial(&channel, ends) {
        Ok(forwarding) => Told::Carried { forwarding, booted: kernel.map(|kernel| boot(&channel, kernel)) },
        Err(Failure { message, errno }) => Told::Failed { message, errno },
    };
    // If the channel is closed, the failure cannot be reported.
    i32::from(channel.write_all(&to_line(&told)).is_err())
}

/// How long a kernel may take to boot: it takes 0.1 s, and more on a machine that is busy.
const BOOTED_WITHIN: RealDuration = RealDuration::from_secs(15);

/// Boots the kernel of kernel nodes in this lab.
fn boot(mut channel: &UnixStream, kernel: &Kernel<'_>) -> Result<f64, String> {
    let text = "booting a kernel node".to_owned();
    // The thread that watches the channel ends this process when it is closed.
    let _ = channel.write_all(&to_line(&Told::Step { text }));
    attempt(kernel, false)
}

fn attempt(kernel: &Kernel<'_>, is_bare: bool) -> Result<f64, String> {
    let booted = netloom_guest::node::trial::attempt(kernel.program, kernel.folder, BOOTED_WITHIN, is_bare);
    booted.map(|took| took.as_secs_f64() * 1e3)
}

/// From the beginning of a lab process without namespaces to its exit code: it boots a kernel, and does nothing else.
pub(super) fn main_bare(mut channel: &UnixStream, kernel: &Kernel<'_>) -> i32 {
    let told = match end_with(channel) {
        Ok(()) => Told::Bare { booted: attempt(kernel, true) },
        Err(Failure { message, errno }) => Told::Failed { message, errno },
    };
    i32::from(channel.write_all(&to_line(&told)).is_err())
}

fn trial(channel: &UnixStream, ends: [Option<usize>; 2]) -> Result<Forwarding, Failure> {
    let tell = |text: &str| {
        // The thread that watches the channel ends this process when it is closed.
        let mut listener = channel;
        let _ = listener.write_all(&to_line(&Told::Step { text: text.to_owned() }));
    };
    tell("making a lab of two nodes");
    let begun = Instant::now();
    let before = Mark::now();
    let mut nodes = Node::create_all(configs())?;
    let ports = join(&nodes)?;
    nodes[..2].iter_mut().try_for_each(Node::begin_configure)?;
    nodes[..2].iter_mut().try_for_each(Node::finish_configure)?;
    let own = memory::of_processes(nodes.iter().map(Node::pid));
    let (node_memory_bytes, files_per_node) = Mark::now().per_node(before, nodes.len(), own);
    end_with(channel)?;
    let engine = start_engine(&ports)?;
    let setup_ms = begun.elapsed().as_secs_f64() * 1e3;
    let mut bench = Bench { nodes, engine, ends, served: None };
    bench.serve()?;

    tell("sending small packets through the engine");
    let flood = bench.packets(0, FLOOD_MS)?;
    let mut lossless = 0.0;
    for share in PACES {
        let paced = bench.packets((flood.delivered_per_second * share) as u64, PACE_MS)?;
        if paced.lost == 0 && paced.delivered_per_second > 0.0 {
            lossless = paced.delivered_per_second;
            break;
        }
    }
    tell("sending a TCP stream over a plain veth pair, and one through the engine");
    let (plain, _) = bench.stream(PLAIN)?;
    let (emulated, sizes) = bench.stream(EMULATED)?;
    // The kernel ends all of it at once when this process exits, which is faster than one after the other.
    std::mem::forget(bench);
    Ok(Forwarding {
        setup_ms,
        lossless_packets_per_second: lossless,
        flooded_packets_per_second: flood.delivered_per_second,
        tcp_bits_per_second: emulated,
        plain_tcp_bits_per_second: plain,
        mean_sent_bytes: sizes[0],
        mean_received_bytes: sizes[1],
        node_memory_bytes,
        files_per_node,
    })
}

/// Ends this process, and with it the lab, when the process that forked it has died.
fn end_with(channel: &UnixStream) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("watching the process that asked for the lab: {error}"));
    let mut watched = channel.try_clone().map_err(failed)?;
    let watch = move || {
        let mut nothing = [0];
        while watched.read(&mut nothing).is_ok_and(|length| length > 0) {}
        std::process::exit(1);
    };
    thread::Builder::new().name("netloom-watch".into()).spawn(watch).map_err(failed)?;
    Ok(())
}

/// Two nodes for the traffic, and some that only show what a node takes.
fn configs() -> Vec<NodeConfig> {
    let mut configs: Vec<NodeConfig> = (0..2_u8).map(busy).collect();
    configs.extend((0..IDLE_NODES).map(|number| NodeConfig {
        lab: "doctor".into(),
        name: format!("idle{number}"),
        ..NodeConfig::default()
    }));
    configs
}

/// The networks of the two ways from node to node.
const EMULATED: u8 = 0;
const PLAIN: u8 = 1;

fn address(network: u8, node: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 78, network, node + 1)
}

fn mac(network: u8, node: u8) -> [u8; 6] {
    [2, 0, 0, 0, network, node + 1]
}

fn busy(node: u8) -> NodeConfig {
    let interface = |network: u8| InterfaceConfig {
        name: format!("eth{network}"),
        mac: mac(network, node),
        mtu: MTU,
        addresses: vec![format!("{}/24", address(network, node)).parse().expect("an address and its prefix")],
        leased: Vec::new(),
        neighbors: vec![(address(network, 1 - node).into(), mac(network, 1 - node))],
        engine: false,
        speed_mbit: None,
    };
    NodeConfig {
        lab: "doctor".into(),
        name: format!("n{node}"),
        interfaces: vec![interface(EMULATED), interface(PLAIN)],
        ..NodeConfig::default()
    }
}

/// Makes all interfaces; the indexes of those where the engine finds the two busy nodes.
fn join(nodes: &[Node]) -> Result<[u32; 2], Failure> {
    let port = |name: String| VethEnd { name, mac: None, namespace: None, up: true };
    let inside = |network: u8, mac: Option<[u8; 6]>, pid: Pid| VethEnd {
        name: format!("eth{network}"),
        mac,
        namespace: Some(pid.into()),
        up: false,
    };
    let mut pairs: Vec<Veth> = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let mac = u8::try_from(number).ok().filter(|number| *number < 2).map(|number| mac(EMULATED, number));
        pairs.push(Veth { ends: [port(format!("p{number}")), inside(EMULATED, mac, node.pid())], mtu: MTU });
    }
    let plain = [0, 1].map(|node: u8| inside(PLAIN, Some(mac(PLAIN, node)), nodes[usize::from(node)].pid()));
    pairs.push(Veth { ends: plain, mtu: MTU });
    let indexes = Netlink::open()?.create_veths(&pairs)?;
    Ok([indexes[0], indexes[1]])
}

/// A link without limits, in the precision that labs have unless they say otherwise.
fn start_engine(ports: &[u32; 2]) -> Result<Engine, Failure> {
    let pipe = |name: &str, from: u32, to: u32| PipeSpec {
        name: name.to_owned(),
        config: PipeConfig::default(),
        coalesce: Duration::from_micros(20),
        from: PortId(from),
        filter: None,
        medium: Vec::new(),
        to: PortId(to),
    };
    let fabric = Fabric::new(Seed::new(1), &[pipe("forward", 0, 1), pipe("backward", 1, 0)]);
    let port =
        |(port, ifindex): (u32, &u32)| PortConfig::Interface { port: PortId(port), ifindex: *ifindex, whole: false };
    let config = EngineConfig {
        precision: Precision::default(),
        processors: Vec::new(),
        dilation: Dilation::ONE,
        epoch: None,
        memory: None,
        ports: (0..).zip(ports).map(port).collect(),
    };
    Engine::start(fabric, config).map_err(|error| Failure::new(error.to_string()))
}

/// What a number of small packets came to.
struct Passed {
    delivered_per_second: f64,
    /// Packets that the engine did not get, or could not deliver.
    lost: u64,
}

/// The lab as it stands there.
struct Bench {
    nodes: Vec<Node>,
    engine: Engine,
    ends: [Option<usize>; 2],
    /// What the receiver writes.
    served: Option<BufReader<PipeReader>>,
}

impl Bench {
    /// Starts the receiver.
    fn serve(&mut self) -> Result<(), Failure> {
        let mut output = self.start(1, vec!["serve".into()])?;
        let ready = read_line(&mut output)?;
        self.served = Some(output);
        if ready == traffic::READY { Ok(()) } else { Err(Failure::new(format!("the receiver said: {ready}"))) }
    }

    /// Sends `per_second` small packets (0: as many as possible) for a while.
    fn packets(&mut self, per_second: u64, milliseconds: u64) -> Result<Passed, Failure> {
        let (before, lost_before) = (self.counters(1)?, self.lost()?);
        let words =
            ["packets".into(), address(EMULATED, 1).to_string(), milliseconds.to_string(), per_second.to_string()];
        let mut output = self.start(0, words.to_vec())?;
        let sent: Sent = parsed(&read_line(&mut output)?)?;
        thread::sleep(DRAIN);
        let (after, lost_after) = (self.counters(1)?, self.lost()?);
        let delivered = after.rx_packets - before.rx_packets;
        Ok(Passed {
            delivered_per_second: delivered as f64 / (sent.took_ns.max(1) as f64 / 1e9),
            lost: (lost_after - lost_before).max(sent.packets.saturating_sub(delivered)),
        })
    }

    /// One TCP stream: its payload in bits per second, and the mean sizes of what its sender sent and its receiver got.
    fn stream(&mut self, network: u8) -> Result<(f64, [f64; 2]), Failure> {
        let before = [self.counters(0)?, self.counters(1)?];
        let words = ["stream".into(), address(network, 1).to_string(), STREAM_MS.to_string()];
        let mut output = self.start(0, words.to_vec())?;
        let served = self.served.as_mut().ok_or_else(|| Failure::new("the receiver is not there"))?;
        let streamed: Streamed = parsed(&read_line(served)?)?;
        // The sender has nothing to tell, but its end, or why it came early.
        let said = read_line(&mut output)?;
        if said != traffic::READY {
            return Err(Failure::new(format!("the sender said: {said}")));
        }
        let after = [self.counters(0)?, self.counters(1)?];
        let mean = |bytes: u64, packets: u64| bytes as f64 / packets.max(1) as f64;
        let sizes = [
            mean(after[0].tx_bytes - before[0].tx_bytes, after[0].tx_packets - before[0].tx_packets),
            mean(after[1].rx_bytes - before[1].rx_bytes, after[1].rx_packets - before[1].rx_packets),
        ];
        Ok((streamed.bytes as f64 * 8.0 / (streamed.took_ns.max(1) as f64 / 1e9), sizes))
    }

    /// Of the interface that leads to the engine.
    fn counters(&mut self, node: usize) -> Result<InterfaceCounters, Failure> {
        let all = self.nodes[node].interface_counters()?;
        let found = all.into_iter().find(|(name, _)| name == "eth0").map(|(_, counters)| counters);
        found.ok_or_else(|| Failure::new("the interface of a node is gone"))
    }

    fn lost(&mut self) -> Result<u64, Failure> {
        let snapshot = self.engine.snapshot().map_err(|error| Failure::new(error.to_string()))?;
        Ok(snapshot.engine.lost_receiving + snapshot.engine.lost_sending)
    }

    /// Starts this very program in a node, as a source or sink of traffic; what it will write.
    fn start(&mut self, node: usize, mut words: Vec<String>) -> Result<BufReader<PipeReader>, Failure> {
        let failed = |error: std::io::Error| Failure::new(format!("starting a source of traffic: {error}"));
        words.extend(self.ends[node].map(|processor| processor.to_string()));
        let mut argv: Vec<OsString> = vec!["/proc/self/exe".into(), traffic::COMMAND.into()];
        argv.extend(words.into_iter().map(OsString::from));
        let null = || File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from).map_err(failed);
        let (reader, writer) = pipe().map_err(failed)?;
        let spawn = Spawn {
            argv,
            env: Vec::new(),
            clear_env: false,
            cwd: Some("/".into()),
            stdin: null()?,
            stdout: writer.into(),
            stderr: null()?,
            tty: false,
            user: None,
        };
        self.nodes[node].spawn(spawn).map_err(|error| match error {
            SpawnError::Node(error) => error.into(),
            other => Failure::new(other.to_string()),
        })?;
        Ok(BufReader::new(reader))
    }
}

fn read_line(output: &mut BufReader<PipeReader>) -> Result<String, Failure> {
    let mut line = String::new();
    match output.read_line(&mut line) {
        Ok(0) => Err(Failure::new("a source of traffic ended without a message")),
        Ok(_) => Ok(line.trim_end().to_owned()),
        Err(error) => Err(Failure::new(format!("reading from a source of traffic: {error}"))),
    }
}

/// A line of figures, or what went wrong instead.
fn parsed<T: serde::de::DeserializeOwned>(line: &str) -> Result<T, Failure> {
    serde_json::from_str(line).map_err(|_| Failure::new(format!("a source of traffic said: {line}")))
}
