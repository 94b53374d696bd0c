use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn timed_frame(at: u64, device: u16, bytes: &[u8], pool: &mut Pool) -> TimedFrame {
    let packet = pool.packet(VirtioHeader::COMPLETE, bytes);
    TimedFrame { at: Instant::from_nanos(at), device: Device(device), packet }
}

/// What the device backend would do if it sent back all that it gets.
fn echo(mailbox: &mut Mailbox) {
    let used = mailbox.used(TO_KERNEL).load(Ordering::Acquire);
    let mut bytes = vec![0; used as usize];
    mailbox.memory.copy_out(TO_KERNEL + LANE_HEADER, &mut bytes);
    mailbox.memory.write(FROM_KERNEL + LANE_HEADER, &bytes);
    mailbox.used(FROM_KERNEL).store(used, Ordering::Release);
}

#[test]
fn frames_cross_as_they_are() {
    let mut pool = Pool::new(0, 0);
    let (mut mailbox, _file) = Mailbox::create(3, 0, 0).unwrap();
    let mut frames: VecDeque<_> =
        [timed_frame(5, 1, &[7; 61], &mut pool), timed_frame(9, 2, &[8; 1500], &mut pool)].into();
    mailbox.fill(&mut frames, &mut pool);
    assert!(frames.is_empty());
    echo(&mut mailbox);
    let mut sent = Vec::new();
    mailbox.take(&mut sent, &mut pool, &mut Samples::default()).unwrap();
    let seen: Vec<_> = sent.iter().map(|p| (p.at.as_nanos(), p.device.0, p.packet.bytes().to_vec())).collect();
    assert_eq!(seen, [(5, 1, vec![7; 61]), (9, 2, vec![8; 1500])]);
}

#[test]
fn what_does_not_fit_waits() {
    let mut pool = Pool::new(0, 0);
    let (mut mailbox, _file) = Mailbox::create(1, 0, 0).unwrap();
    let mut frames: VecDeque<_> = (0..100).map(|at| timed_frame(at, 0, &[0; 60_000], &mut pool)).collect();
    mailbox.fill(&mut frames, &mut pool);
    let left = frames.len();
    assert!(left > 0 && left < 100);
    mailbox.clear();
    mailbox.fill(&mut frames, &mut pool);
    assert!(frames.len() < left);
}

/// Reading memory that is not there any more ends a process.
#[test]
fn nobody_can_cut_the_memory_off() {
    let (_mailbox, file) = Mailbox::create(1, 0, 0).unwrap();
    assert_eq!(rustix::fs::ftruncate(&file, 4_096), Err(rustix::io::Errno::PERM));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a kernel writes into its lane, frames come out that can be worked with, or an error.
    #[test]
    fn any_lane_is_taken_or_refused(
        frames in vec((any::<u64>(), 0..70_000_u32, any::<[u8; 12]>(), any::<bool>()), 0..20),
        bytes in vec(any::<u8>(), 1..2_000),
        used in prop::option::of(any::<u32>()),
    ) {
        let mut pool = Pool::new(0, 0);
        let (mut mailbox, _file) = Mailbox::create(1, 0, 0).unwrap();
        let mut place = 0;
        for (at, length, rest, lies) in frames {
            let mut header = [0; FRAME_HEADER];
            header[..8].copy_from_slice(&at.to_ne_bytes());
            header[8..12].copy_from_slice(&length.to_ne_bytes());
            header[12..24].copy_from_slice(&rest);
            mailbox.memory.write(FROM_KERNEL + LANE_HEADER + place, &header);
            mailbox.memory.write(FROM_KERNEL + LANE_HEADER + place + FRAME_HEADER, &bytes[..bytes.len().min(length as usize)]);
            place += if lies { 8 } else { room(length as usize) };
        }
        let told = used.map_or(u32::try_from(place).unwrap(), |used| used % (2 * ROOM as u32));
        mailbox.used(FROM_KERNEL).store(told, Ordering::Release);
        let mut sent = Vec::new();
        if mailbox.take(&mut sent, &mut pool, &mut Samples::default()).is_ok() {
            for TimedFrame { mut packet, .. } in sent {
                let segments = packet.segments().min(100);
                (1..segments).for_each(|_| drop(packet.split_front(1)));
                packet.complete(&mut Vec::new());
            }
        }
    }
}

#[test]
fn a_kernel_that_writes_nonsense_breaks_the_protocol() {
    let mut pool = Pool::new(0, 0);
    let (mut mailbox, _file) = Mailbox::create(1, 0, 0).unwrap();
    let lies: [(u32, u32); 5] = [(u32::MAX, 0), (64, 100), (16, 0), (40, u32::MAX), (1 << 20, 1 << 19)];
    for (used, length) in lies {
        mailbox.used(FROM_KERNEL).store(used, Ordering::Release);
        mailbox.memory.write(FROM_KERNEL + LANE_HEADER + 8, &length.to_ne_bytes());
        let result = mailbox.take(&mut Vec::new(), &mut pool, &mut Samples::default());
        assert!(matches!(result, Err(MachineError::Protocol(_))), "{used} bytes, a frame of {length}");
    }
}

/// What the C compiler makes of `shim/mailbox.h`.
#[test]
fn both_sides_agree_on_the_layout() {
    let crate_folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("layout");
    let compiler = std::process::Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(crate_folder.join("tests/backend/layout.c"))
        .status()
        .unwrap();
    assert!(compiler.success());
    let output = std::process::Command::new(&program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs: std::collections::BTreeMap<&str, usize> =
        text.lines().map(|line| line.split_once(' ').unwrap()).map(|(name, at)| (name, at.parse().unwrap())).collect();
    let ours = [
        ("version_number", VERSION as usize),
        ("version", 0),
        ("devices", 4),
        ("start", 8),
        ("epoch", 16),
        ("unheard", UNHEARD),
        ("whose", WHOSE),
        ("turn", TURN),
        ("answer", ANSWER),
        ("sample_at", SAMPLE_AT),
        ("sample_step", SAMPLE_STEP),
        ("sample_owners", SAMPLE_OWNERS),
        ("to_kernel", TO_KERNEL),
        ("from_kernel", FROM_KERNEL),
        ("size", SIZE),
        ("lane_header", LANE_HEADER),
        ("frame_header", FRAME_HEADER),
        ("room", ROOM),
        ("rung", super::super::doorbell::RUNG),
        ("asleep", super::super::doorbell::ASLEEP),
    ];
    assert_eq!(theirs, ours.into());
}
