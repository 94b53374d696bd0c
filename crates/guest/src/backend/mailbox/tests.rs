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

/// The lab has samples at whole hundreds: a kernel that stood still takes the next one there, by its own time.
#[test]
fn samples_stay_where_the_lab_has_them() {
    // None was taken at 4,600, since nothing happened from then on; it stands still from 5,000 to 10,000, or to 10,030.
    assert_eq!(next_sample(4_600, 100, (5_000, 5_000)), 5_000);
    assert_eq!(next_sample(4_600, 100, (5_000, 5_030)), 10_100 - 5_030);
    // The next one is far away.
    assert_eq!(next_sample(20_000, 100, (5_000, 5_000)), 15_000);
}

#[test]
fn carriers_come_before_frames() {
    let mut pool = Pool::new(0, 0);
    let (mut mailbox, _file) = Mailbox::create(3, 0, 0).unwrap();
    let change = |device, on| CarrierChange { at: Instant::from_nanos(5), device: Device(device), on };
    let mut carriers = vec![change(2, false), change(1, true)];
    mailbox.put_carriers(&mut carriers);
    mailbox.fill(&mut [timed_frame(5, 1, &[7; 60], &mut pool)].into(), &mut pool);
    let used = mailbox.used(TO_KERNEL).load(Ordering::Acquire) as usize;
    assert_eq!((carriers.len(), used), (0, 2 * FRAME_HEADER + room(60)));
    let header = |place: usize| -> [u8; 16] { mailbox.memory.read(TO_KERNEL + LANE_HEADER + place) };
    let told = |place: usize| {
        let header = header(place);
        let half = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        (u64::from_ne_bytes(header[..8].try_into().unwrap()), half(12), half(14))
    };
    assert_eq!([0, 32, 64].map(told), [(5, 2, CARRIER_OFF), (5, 1, CARRIER_ON), (5, 1, 0)]);
    mailbox.clear();
    mailbox.put_carriers(&mut carriers);
    assert_eq!(mailbox.used(TO_KERNEL).load(Ordering::Acquire), 0);
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

/// A frame to the router of [`both_sides_agree_on_what_is_passed_on`], as far as it is right; with a virtio header.
fn packet_of(choice: u64, length: usize) -> (VirtioHeader, Vec<u8>) {
    let pick = |shift: u32, of: usize| usize::try_from(choice >> shift & 0xff).unwrap() % of;
    let is_v6 = pick(0, 3) == 0;
    let mut frame = vec![0; 14 + length.max(if is_v6 { 48 } else { 28 })];
    let payload = u16::try_from(frame.len() - 14).unwrap();
    frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, if pick(8, 8) == 0 { 2 } else { 1 }]);
    let time_to_live = [64, 2, 1, 0][pick(16, 4)];
    let last = [0, 1, 2, 254, 255][pick(24, 5)];
    if is_v6 {
        frame[12..15].copy_from_slice(&[0x86, 0xdd, 0x60]);
        frame[18..20].copy_from_slice(&(payload - 40).to_be_bytes());
        frame[20..22].copy_from_slice(&[17, time_to_live]);
        frame[22..24].copy_from_slice(&[if pick(32, 8) == 0 { 0xfe } else { 0xfd }, 0x80]);
        frame[38..40].copy_from_slice(&[0xfd, 0]);
        frame[53] = last;
    } else {
        frame[12..15].copy_from_slice(&[8, 0, if pick(32, 8) == 0 { 0x46 } else { 0x45 }]);
        frame[16..18].copy_from_slice(&payload.to_be_bytes());
        frame[22..24].copy_from_slice(&[time_to_live, 17]);
        frame[30..34].copy_from_slice(&[10, 0, [1, 2][pick(40, 2)], last]);
    }
    frame[13] ^= u8::from(pick(48, 16) == 0);
    (VirtioHeader::COMPLETE, frame)
}

/// What the device backend takes for passed on is passed on; of whole packets, both sides say the same.
#[test]
fn both_sides_agree_on_what_is_passed_on() {
    let address = |text: &str| match text.parse().unwrap() {
        std::net::IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        std::net::IpAddr::V6(v6) => v6.to_bits(),
    };
    let from = [("::", false), ("10.0.1.1", true), ("10.0.1.255", false), ("10.0.2.254", true), ("fd00::2", false)];
    let stretches = from.into_iter().map(|(first, is_passed)| (address(first), is_passed)).collect();
    let rule = ForwardingRule { mac: [2, 0, 0, 0, 0, 1], mtu: netloom_units::Bytes::new(1_000), stretches };
    let (mut mailbox, _file) = Mailbox::create(2, 0, 0).unwrap();
    assert!(mailbox.describe(Device(1), &rule));
    assert!(!mailbox.describe(Device(16), &rule));
    let mut file = vec![0; PASSAGE];
    mailbox.memory.copy_out(PASSAGES + PASSAGE, &mut file);
    let (mut pool, mut ours) = (Pool::new(0, 0), String::new());
    let mut choice: u64 = 1;
    for length in (0..4_000).map(|number| number % 1_010) {
        choice = choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (virtio, bytes) = packet_of(choice, length);
        let mut header = [0; FRAME_HEADER];
        header[8..12].copy_from_slice(&u32::try_from(bytes.len()).unwrap().to_ne_bytes());
        header[16..16 + VIRTIO_HEADER_LEN].copy_from_slice(&virtio.bytes());
        file.extend(header);
        file.extend(&bytes);
        ours.push(if rule.passes(&pool.packet(virtio, &bytes)) { '1' } else { '0' });
    }
    let folder = tempfile::tempdir().unwrap();
    let (program, frames) = (folder.path().join("heed"), folder.path().join("frames"));
    std::fs::write(&frames, file).unwrap();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/backend/heed.c");
    let compiler = std::process::Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .status();
    assert!(compiler.unwrap().success());
    let output = std::process::Command::new(&program).arg(&frames).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), ours);
    assert!(["0", "1"].iter().all(|digit| ours.matches(digit).count() > 300), "{ours}");
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
        ("processor", PROCESSOR),
        ("turn", TURN),
        ("answer", ANSWER),
        ("sample_at", SAMPLE_AT),
        ("sample_step", SAMPLE_STEP),
        ("sample_owners", SAMPLE_OWNERS),
        ("to_kernel", TO_KERNEL),
        ("from_kernel", FROM_KERNEL),
        ("passages", PASSAGES),
        ("passage", PASSAGE),
        ("passage_starts", 16),
        ("passage_passed", 16 + 16 * MOST_STRETCHES),
        ("passages_at_most", MOST_PASSAGES),
        ("stretches_at_most", MOST_STRETCHES),
        ("size", SIZE),
        ("lane_header", LANE_HEADER),
        ("frame_header", FRAME_HEADER),
        ("carrier_off", usize::from(CARRIER_OFF)),
        ("carrier_on", usize::from(CARRIER_ON)),
        ("room", ROOM),
        ("rung", super::super::doorbell::RUNG),
        ("asleep", super::super::doorbell::ASLEEP),
        ("processors", super::super::doorbell::LANES),
        ("running", super::super::doorbell::RUNNING),
        ("most_processors", super::super::doorbell::MOST_LANES),
    ];
    assert_eq!(theirs, ours.into());
}
