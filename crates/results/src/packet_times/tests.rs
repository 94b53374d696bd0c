use super::*;

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// A capture file that is made by hand, in the big byte order, which netloom does not write.
struct File(Vec<u8>);

impl File {
    fn new(resolution: u8) -> Self {
        let mut file = Self(Vec::new());
        file.block(0x0a0d_0d0a, &[0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
        for name in [b"a:eth0\0\0", b"b:eth0\0\0"] {
            let options = [&[0, 2, 0, 6][..], name, &[0, 9, 0, 1, resolution, 0, 0, 0], &[0; 4]].concat();
            file.block(1, &[&[0, 1, 0, 0, 0, 0, 0, 0][..], &options].concat());
        }
        file
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        let length = u32::try_from(body.len() + 12).unwrap().to_be_bytes();
        self.0.extend([&kind.to_be_bytes()[..], &length, body, &length].concat());
    }

    /// A segment between 10.0.0.1:1000 and 10.0.0.2:80, of which only the headers are kept.
    fn segment(&mut self, interface: u32, at: u32, forward: bool, sequence: u32, flags: u8, payload: u16) {
        let total = (40 + payload).to_be_bytes();
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0, total[0], total[1], 0, 0, 0, 0, 64, 6, 0, 0]);
        let ends = [[10, 0, 0, 1, 10, 0, 0, 2], [10, 0, 0, 2, 10, 0, 0, 1]];
        frame.extend(ends[usize::from(!forward)]);
        frame.extend([[3, 232, 0, 80], [0, 80, 3, 232]][usize::from(!forward)]);
        frame.extend(sequence.to_be_bytes());
        frame.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        let size = u32::try_from(frame.len()).unwrap();
        let words = [interface, 0, at, size, size + u32::from(payload)];
        let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        body.extend(&frame);
        body.resize(body.len().next_multiple_of(4), 0);
        self.block(6, &body);
    }
}

#[test]
fn times_gaps_and_retransmissions_are_those_of_each_interface() {
    let mut file = File::new(6);
    file.segment(0, 1_000, true, 99, SYN, 0);
    file.segment(1, 2_000, false, 7, SYN | ACK, 0);
    for (at, sequence) in [(3_000, 100), (4_000, 1_100), (7_000, 100)] {
        file.segment(0, at, true, sequence, ACK, 1_000);
    }
    file.segment(1, 8_000, true, 100, ACK, 1_000);
    let flows = packet_times(&file.0).unwrap();
    assert_eq!(flows.len(), 2);
    let flow = &flows[0];
    assert_eq!((flow.at.as_str(), flow.from.to_string().as_str()), ("a:eth0", "10.0.0.1:1000"));
    assert_eq!(flow.syn_ns, Some(1_000_000));
    assert_eq!(flow.times_ns, [2_000_000, 3_000_000, 6_000_000]);
    assert_eq!((flow.data_packets, flow.data_bytes, flow.retransmitted_packets), (3, 3_120, 1));
    // Gaps of 1 and 3 ms: their mean is 2 ms, their deviation 1 ms.
    assert_eq!((flow.gap_mean_ns, flow.gap_variation), (Some(2e6), Some(0.5)));
    assert_eq!(flow.throughput_bits_per_second, Some(2_080.0 * 8.0 / 0.004));
    assert_eq!((flows[1].at.as_str(), flows[1].syn_ns), ("b:eth0", Some(2_000_000)));
    assert_eq!((flows[1].gap_mean_ns, flows[1].throughput_bits_per_second), (None, None));
}

#[test]
fn sequence_numbers_go_around() {
    let mut file = File::new(9);
    for (at, sequence) in [(1, u32::MAX - 499), (2, 500), (3, 1_500), (4, 500)] {
        file.segment(0, at, true, sequence, ACK, 1_000);
    }
    let flows = packet_times(&file.0).unwrap();
    assert_eq!(flows[0].retransmitted_packets, 1);
    assert_eq!((flows[0].syn_ns, &flows[0].times_ns[..]), (None, &[0, 1, 2, 3][..]));
}

#[test]
fn a_picture_shows_every_flow() {
    let mut file = File::new(9);
    (0..50).for_each(|number| file.segment(0, number * 1_000, true, number * 1_000, ACK, 1_000));
    let svg = plot(&packet_times(&file.0).unwrap());
    assert!(svg.contains("10.0.0.1:1000 &gt; 10.0.0.2:80 at a:eth0"), "{svg}");
    assert!(plot(&[]).contains("</svg>"));
}

#[test]
fn what_is_no_capture_is_refused() {
    assert!(packet_times(b"nodes: [a, b]\n").unwrap_err().contains("pcapng"));
    let mut file = File::new(9);
    file.segment(0, 1, true, 1, ACK, 1_000);
    let whole = file.0.len();
    for length in 0..whole {
        // Cut off anywhere, it is refused or shorter, and nothing panics.
        let _ = packet_times(&file.0[..length]);
    }
    assert!(packet_times(&file.0[..whole - 3]).unwrap_err().contains("is it complete"));
}
