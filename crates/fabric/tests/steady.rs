//! In steady state a packet costs no allocation, and idle pipes cost nothing.
//!
//! "Steady" is when buffers, rings and tables have grown to what the traffic needs, which it does in its first seconds.

use netloom_fabric::{DeviceSpec, Fabric, Neighbor, NextHop, PipeSpec, PortId, RouterInterface, RouterSpec};
use netloom_link::{PipeConfig, Prefix};
use netloom_packet::{MAX_HEAD, Pool, VirtioHeader};
use netloom_testing::loads::{Load, Transport};
use netloom_testing::models::{MODELS, change};
use netloom_units::{Bytes, Duration, Instant, Seed};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::Ipv4Addr;

/// The system's allocator, which counts what each thread asks it for.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator; the counter is a plain number that needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps to the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the contract of `GlobalAlloc::dealloc`, and `alloc` is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What arrives over and over: small and large packets and trains, of several flows.
struct Traffic {
    loads: Vec<(VirtioHeader, Vec<u8>)>,
    gap: Duration,
    now: Instant,
    sent: usize,
    left: u64,
}

impl Traffic {
    /// A little more than 100 Mbit/s: 20 kB every 1.5 ms.
    fn new() -> Self {
        let train = |transport, full| Load::Train { transport, full, payload: 1_000, last: 300 };
        let loads = [
            Load::Plain(60),
            train(Transport::Tcp, 8),
            Load::Plain(1_500),
            train(Transport::Udp, 5),
            Load::Plain(600),
            Load::Plain(1_500),
        ];
        let mut pool = Pool::default();
        let packet = |(index, load): (u16, Load)| {
            let packet = load.packet_of(&mut pool, 0, u8::try_from(index % 4).expect("two bits"), 5_000 + index % 5);
            let virtio = packet.write_head(&mut [0; MAX_HEAD]).virtio;
            (virtio, addressed(packet.bytes().to_vec()))
        };
        let loads = (0..).zip(loads.into_iter().cycle().take(60)).map(packet).collect();
        Self { loads, gap: Duration::from_micros(250), now: Instant::ZERO, sent: 0, left: 0 }
    }

    /// Sends so many packets into the fabric, and takes what leaves it; how many allocations that took.
    fn run(&mut self, fabric: &mut Fabric, pool: &mut Pool, count: u32) -> u64 {
        let before = ALLOCATIONS.get();
        for _ in 0..count {
            self.now = self.now + self.gap;
            self.take(fabric, pool, self.now);
            let (virtio, bytes) = &self.loads[self.sent % self.loads.len()];
            self.sent += 1;
            fabric.inject(self.now, PortId(0), pool.packet(*virtio, bytes)).expect("a known port");
            fabric.recycle(pool);
        }
        ALLOCATIONS.get() - before
    }

    fn take(&mut self, fabric: &mut Fabric, pool: &mut Pool, until: Instant) {
        while let Some(wake) = fabric.next_wake().filter(|wake| *wake <= until) {
            fabric.advance(wake, |delivery| {
                self.left += u64::from(delivery.departure.packet.segments());
                pool.recycle(delivery.departure.packet);
            });
        }
    }
}

/// From the first to the last host of [`chain`], with hops to live.
fn addressed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[..6].copy_from_slice(&mac(1));
    bytes[22] = 64;
    bytes[26..30].copy_from_slice(&address(0, 1).octets());
    bytes[30..34].copy_from_slice(&address(ROUTERS, 2).octets());
    let length = u16::try_from(bytes.len() - 14).expect("shorter than a packet");
    bytes[16..18].copy_from_slice(&length.to_be_bytes());
    // RFC 1071: routers look at it.
    bytes[24..26].fill(0);
    let words = bytes[14..34].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum = words.sum::<u32>();
    let checksum = !u16::try_from((sum & 0xffff) + (sum >> 16)).expect("ten words carry a little");
    bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

fn pipe(from: u32, to: u32, config: &PipeConfig) -> PipeSpec {
    PipeSpec {
        name: format!("{from}"),
        config: config.clone(),
        coalesce: Duration::from_micros(20),
        from: PortId(from),
        filter: None,
        medium: Vec::new(),
        to: PortId(to),
    }
}

/// Packets until everything has grown, and packets that are looked at.
const BEFORE: u32 = 100_000;
const MEASURED: u32 = 10_000;

/// A link of 100 Mbit/s and 1 ms that is a little too slow, with this model in this form.
fn with(key: &str, value: &str) -> PipeConfig {
    let base = [change("rate", "100 Mbit/s"), change("delay", "1 ms")];
    let changes = base.into_iter().chain([change(key, value)]);
    changes.fold(PipeConfig::default(), |config, change| change.applied_to(&config))
}

fn allocations_of(mut fabric: Fabric) -> u64 {
    // As many buffers as are ever in use, so that a queue that is a little longer than ever before takes none.
    let (mut traffic, mut pool) = (Traffic::new(), Pool::new(3_000, 1_500));
    traffic.run(&mut fabric, &mut pool, BEFORE);
    let before = traffic.left;
    let allocations = traffic.run(&mut fabric, &mut pool, MEASURED);
    assert!(traffic.left > before, "something gets through");
    allocations
}

/// What allocates for other things than packets: overtaking for each 65 us in which something is due, and for no packet that
/// is due with others; a cut for what it throws away.
const SOMETIMES: [&str; 3] = ["order: free", "by: ", "flap: "];

#[test]
fn no_model_allocates_for_a_packet() {
    for (key, form) in MODELS.iter().flat_map(|(key, forms)| forms.iter().map(move |form| (*key, *form))) {
        if key == "corrupt" {
            continue;
        }
        let allocations = allocations_of(Fabric::new(Seed::new(1), &[pipe(0, 1, &with(key, form))]));
        let sometimes = SOMETIMES.iter().any(|word| form.contains(word));
        let most = if sometimes { u64::from(MEASURED) / 2 } else { 0 };
        assert!(allocations <= most, "{key}: {form}: {allocations} allocations for {MEASURED} packets and trains");
    }
}

/// A flipped bit needs bytes of its own: they are all that is allocated.
#[test]
fn only_a_corrupted_packet_is_copied() {
    let fabric = Fabric::new(Seed::new(1), &[pipe(0, 1, &with("corrupt", "1 %"))]);
    let allocations = allocations_of(fabric);
    // About 38,000 segments, of which one in a hundred is copied, with its frame and some room to do it in.
    assert!((300..3_000).contains(&allocations), "{allocations}");
}

const ROUTERS: u32 = 8;

fn mac(port: u32) -> [u8; 6] {
    [2, 0, 0, 0, 0, u8::try_from(port).expect("few ports")]
}

fn address(link: u32, host: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits((10 << 24) + 4 * link + host)
}

/// Hosts at both ends, routers between; port 2 i is the end of link i that is nearer to the sender.
fn chain(config: &PipeConfig) -> Fabric {
    let subnet = |link: u32| Prefix::new(address(link, 0).into(), 30).expect("four addresses");
    let ends = (0..=ROUTERS).flat_map(|link| [(2 * link, 2 * link + 1), (2 * link + 1, 2 * link)]);
    let pipes: Vec<PipeSpec> = ends.map(|(from, to)| pipe(from, to, config)).collect();
    let interface = |port: u32| RouterInterface {
        port: PortId(port),
        mac: mac(port),
        mtu: Bytes::new(1_500),
        addresses: vec![address(port / 2, port % 2 + 1).into()],
        is_shared: false,
        neighbors: vec![Neighbor { mac: mac(port ^ 1), addresses: vec![address(port / 2, 2 - port % 2).into()] }],
        subnets: vec![subnet(port / 2)],
    };
    let router = |router: u32| RouterSpec {
        interfaces: vec![interface(2 * router + 1), interface(2 * router + 2)],
        routes: (0..=ROUTERS).map(|link| (subnet(link), NextHop::by(usize::from(link > router)))).collect(),
        ..RouterSpec::default()
    };
    let routers: Vec<DeviceSpec> = (0..ROUTERS).map(router).map(DeviceSpec::Router).collect();
    Fabric::new(Seed::new(1), &pipes).with_devices(&pipes, &routers)
}

#[test]
fn no_hop_allocates_for_a_packet() {
    assert_eq!(allocations_of(chain(&with("loss", "0.1 %"))), 0);
}

/// What one pipe does among ten thousand idle ones: it is woken as often, at the same instants, and delivers the same.
#[test]
fn idle_pipes_wake_nobody() {
    let wakes = |idle: u32| {
        let config = with("queue", "100 packets");
        let specs: Vec<PipeSpec> = (0..=idle).map(|port| pipe(port, port, &config)).collect();
        let mut fabric = Fabric::new(Seed::new(1), &specs);
        let (mut traffic, mut pool, mut wakes) = (Traffic::new(), Pool::default(), Vec::new());
        for _ in 0..1_000 {
            traffic.run(&mut fabric, &mut pool, 1);
            wakes.push((fabric.next_wake(), traffic.left));
        }
        wakes
    };
    assert_eq!(wakes(0), wakes(10_000));
}
