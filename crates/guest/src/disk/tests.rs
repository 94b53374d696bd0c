use super::log::{BEGIN, DURABLE, FLUSHED, MAGIC, WRITE};
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const SECTORS: u64 = 64;

/// A kernel that uses a disk as `kernel/edits/disk/driver.c` does, and all that is known of the disk.
struct Kernel {
    disk: Disk,
    log: u64,
    end: u64,
    writes: u64,
    /// The bytes that are durable.
    base: Vec<u8>,
    /// The writes after that: number, place, bytes, whether durable by FUA.
    later: Vec<Known>,
}

#[derive(Clone, Debug)]
struct Known {
    number: u64,
    sector: u64,
    bytes: Vec<u8>,
    is_durable: bool,
}

/// A step of a workload.
#[derive(Clone, Debug)]
enum Step {
    Write {
        sector: u64,
        sectors: u64,
        fua: bool,
    },
    Flush,
    /// A flush begins, a write comes, and the flush ends.
    FlushBehind {
        sector: u64,
    },
}

impl Kernel {
    fn boot() -> Self {
        let disk = Disk::in_memory(Bytes::new(SECTORS * SECTOR), DiskSpeed::default()).unwrap();
        Self::boot_on(disk)
    }

    fn boot_on(disk: Disk) -> Self {
        let mut base = vec![0; (SECTORS * SECTOR) as usize];
        disk.medium.read_exact_at(&mut base, 0).unwrap();
        let mut kernel = Self { disk, log: 0, end: 0, writes: 0, base, later: Vec::new() };
        kernel.begin_log();
        kernel
    }

    fn record(&mut self, kind: u32, number: u64, sector: u64, sectors: u64) {
        let words = [MAGIC, self.log, number, 7, sector].map(u64::to_ne_bytes);
        let halves = [sectors as u32, kind].map(u32::to_ne_bytes);
        let bytes = [words.as_flattened(), halves.as_flattened()].concat();
        self.disk.log.write_all_at(&bytes, self.end).unwrap();
        self.end += bytes.len() as u64;
    }

    fn begin_log(&mut self) {
        (self.log, self.end) = (self.log + 1, 0);
        self.record(BEGIN, self.log, 0, 0);
    }

    /// The bytes that the medium shows.
    fn shown(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.base.len()];
        self.disk.medium.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    fn write(&mut self, sector: u64, sectors: u64) -> u64 {
        self.writes += 1;
        let number = self.writes;
        let mut replaced = vec![0; (sectors * SECTOR) as usize];
        self.disk.medium.read_exact_at(&mut replaced, sector * SECTOR).unwrap();
        self.disk.log.write_all_at(&replaced, self.end + log::RECORD).unwrap();
        self.record(WRITE, number, sector, sectors);
        self.end += replaced.len() as u64;
        // All sectors of all writes differ.
        let bytes: Vec<u8> =
            (0..sectors).flat_map(|one| [number.to_ne_bytes(), one.to_ne_bytes()].concat().repeat(32)).collect();
        self.disk.medium.write_all_at(&bytes, sector * SECTOR).unwrap();
        self.later.push(Known { number, sector, bytes, is_durable: false });
        number
    }

    fn play(&mut self, step: &Step) {
        match *step {
            Step::Write { sector, sectors, fua } => {
                let number = self.write(sector, sectors);
                if fua {
                    self.record(DURABLE, number, 0, 0);
                    self.later.last_mut().unwrap().is_durable = true;
                }
            }
            Step::Flush => {
                self.flushed(self.later.len());
                self.begin_log();
            }
            Step::FlushBehind { sector } => {
                let (covers, count) = (self.end, self.later.len());
                self.write(sector, 1);
                self.record(FLUSHED, 0, covers, 0);
                self.flushed(count);
            }
        }
    }

    /// So many of the writes are durable by now.
    fn flushed(&mut self, count: usize) {
        for known in self.later.drain(..count) {
            put(&mut self.base, known.sector, &known.bytes);
        }
    }

    /// Returns the bytes of the medium if these writes are on it, beside what is durable.
    fn with(&self, is_kept: impl Fn(&Known) -> bool) -> Vec<u8> {
        let mut bytes = self.base.clone();
        self.later.iter().filter(|known| is_kept(known)).for_each(|known| put(&mut bytes, known.sector, &known.bytes));
        bytes
    }
}

fn put(medium: &mut [u8], sector: u64, bytes: &[u8]) {
    let from = (sector * SECTOR) as usize;
    medium[from..from + bytes.len()].copy_from_slice(bytes);
}

fn step() -> impl Strategy<Value = Step> {
    let write = (0..SECTORS, 1..20_u64, any::<bool>()).prop_map(|(sector, sectors, fua)| Step::Write {
        sector,
        sectors: sectors.min(SECTORS - sector),
        fua: fua && sector % 3 == 0,
    });
    prop_oneof![6 => write, 1 => Just(Step::Flush), 1 => (0..SECTORS).prop_map(|sector| Step::FlushBehind { sector })]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_survives_is_what_may(steps in prop::collection::vec(step(), 0..25), seed: u64) {
        for keep in [Keep::Flushed, Keep::All, Keep::Some, Keep::Torn] {
            let mut kernel = Kernel::boot();
            steps.iter().for_each(|step| kernel.play(step));
            prop_assert_eq!(&kernel.shown(), &kernel.with(|_| true));
            let crashed = kernel.disk.crash(keep, Seed::new(seed)).unwrap();
            let cached = kernel.later.iter().filter(|known| !known.is_durable).count();
            prop_assert_eq!(crashed.cached, cached as u64);
            let shown = kernel.shown();
            match keep {
                Keep::Flushed => prop_assert_eq!(shown, kernel.with(|known| known.is_durable)),
                Keep::All => prop_assert_eq!(shown, kernel.with(|_| true)),
                Keep::Some => {
                    // Whichever were kept: of each, all sectors that no later one of these has replaced.
                    let kept = visible(&shown);
                    let is_kept = |known: &Known| known.is_durable || kept.contains_key(&known.number);
                    prop_assert_eq!(&shown, &kernel.with(is_kept));
                }
                Keep::Torn => {
                    let last = kernel.later.iter().rposition(|known| !known.is_durable);
                    let cut = last.map(|last| kernel.later[last].clone());
                    prop_assert_eq!(crashed.is_torn, cut.is_some());
                    let fits = cut.is_none_or(|cut| (0..cut.bytes.len() / SECTOR as usize).any(|sectors| {
                        let mut other = Kernel { later: kernel.later.clone(), base: kernel.base.clone(), ..Kernel::boot() };
                        other.later[last.unwrap()].bytes.truncate(sectors * SECTOR as usize);
                        other.with(|_| true) == shown
                    }));
                    prop_assert!(fits);
                }
            }
        }
    }

    #[test]
    fn a_log_of_anything_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0..300_u64) {
        let mut kernel = Kernel::boot();
        kernel.write(3, 2);
        kernel.disk.log.write_all_at(&bytes, at).unwrap();
        let _ = kernel.disk.crash(Keep::Flushed, Seed::new(1));
    }
}

/// The numbers of the writes of which a sector is to be seen.
fn visible(medium: &[u8]) -> BTreeMap<u64, ()> {
    let sectors = medium.chunks(SECTOR as usize);
    sectors.map(|sector| (u64::from_ne_bytes(sector[..8].try_into().unwrap()), ())).collect()
}

#[test]
fn a_second_crash_knows_nothing_of_the_first() {
    let mut kernel = Kernel::boot();
    kernel.play(&Step::Write { sector: 0, sectors: 4, fua: false });
    kernel.play(&Step::Write { sector: 9, sectors: 1, fua: false });
    assert_eq!(kernel.disk.crash(Keep::All, Seed::new(1)).unwrap().cached, 2);
    let before = kernel.shown();
    let mut next = Kernel::boot_on(kernel.disk);
    assert_eq!(next.disk.crash(Keep::Flushed, Seed::new(1)).unwrap(), Crashed::default());
    assert_eq!(next.shown(), before);
    next.begin_log();
    next.play(&Step::Write { sector: 2, sectors: 3, fua: false });
    let crashed = next.disk.crash(Keep::Flushed, Seed::new(1)).unwrap();
    assert_eq!((crashed.lost, crashed.lost_bytes), (1, Bytes::new(3 * SECTOR)));
    assert_eq!(next.shown(), before);
}

#[test]
fn a_write_that_is_torn_ends_where_a_sector_does() {
    let lengths: Vec<u64> = (0..200)
        .map(|seed| {
            let mut kernel = Kernel::boot();
            kernel.play(&Step::Write { sector: 8, sectors: 32, fua: false });
            kernel.disk.crash(Keep::Torn, Seed::new(seed)).unwrap();
            kernel.shown().chunks(SECTOR as usize).skip(8).take_while(|sector| sector[0] != 0).count() as u64
        })
        .collect();
    assert!(lengths.iter().all(|length| (1..32).contains(length)), "{lengths:?}");
    assert!(lengths.iter().filter(|length| **length % 8 == 0).count() > 80, "{lengths:?}");
    assert!(lengths.iter().any(|length| length % 8 != 0), "{lengths:?}");
}

#[test]
fn what_is_zero_is_not_copied() {
    let from = tempfile::tempfile().unwrap();
    from.set_len(1 << 20).unwrap();
    from.write_all_at(b"end", (1 << 20) - 3).unwrap();
    from.write_all_at(&[0; 4096], 8192).unwrap();
    let disk = Disk::in_memory(Bytes::new(1 << 20), DiskSpeed::default()).unwrap();
    disk.fill(&from).unwrap();
    let mut end = [0; 3];
    disk.medium.read_exact_at(&mut end, (1 << 20) - 3).unwrap();
    assert_eq!(&end, b"end");
    let blocks = std::os::unix::fs::MetadataExt::blocks(&disk.medium.metadata().unwrap());
    assert!(blocks * 512 <= 64 << 10, "{blocks} blocks");
}

#[test]
fn a_kernel_is_told_how_fast_it_is() {
    let speed = DiskSpeed {
        latency: Duration::from_micros(80),
        rate: Rate::from_bits_per_second(1_600_000_000),
        flush: Duration::from_millis(5),
    };
    let disk = Disk::in_memory(Bytes::new(1 << 20), speed).unwrap();
    assert_eq!(disk.argument(), "netloom.disk=400,401,-1,2048,80000,1600000000,5000000");
    let noted = disk.with_journal().unwrap();
    assert_eq!(noted.argument(), "netloom.disk=400,401,402,2048,80000,1600000000,5000000");
}
