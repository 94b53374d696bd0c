use super::DiskServer;
use netloom_guest::disk::{Disk, DiskSpeed, Keep};
use netloom_units::{Bytes, Dilation, Duration, Seed};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Instant;

fn disk() -> Disk {
    let speed = DiskSpeed { latency: Duration::ZERO, rate: None, flush: Duration::from_millis(20) };
    Disk::in_memory(Bytes::new(1 << 20), speed).unwrap()
}

/// Speaks as QEMU does, after an option that is not known.
fn connect(path: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(path).unwrap();
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
    stream.write_all(&3_u32.to_be_bytes()).unwrap();
    let option = |number: u32, data: &[u8]| {
        [b"IHAVEOPT", &number.to_be_bytes()[..], &(data.len() as u32).to_be_bytes(), data].concat()
    };
    stream.write_all(&option(8, &[])).unwrap();
    let mut refusal = [0; 20];
    stream.read_exact(&mut refusal).unwrap();
    assert_eq!(refusal[12..16], [0x80, 0, 0, 1]);
    stream.write_all(&option(7, &[0; 6])).unwrap();
    let mut told = [0; 20 + 12 + 20 + 14 + 20];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(told[22..30], (1_u64 << 20).to_be_bytes());
    stream
}

/// The error of a request and what was read.
fn ask(stream: &mut UnixStream, kind: u16, place: u64, length: u32, data: &[u8]) -> (u32, Vec<u8>) {
    let head = [&0x2560_9513_u32.to_be_bytes()[..], &[0, 0], &kind.to_be_bytes(), &9_u64.to_be_bytes()].concat();
    stream.write_all(&[&head, &place.to_be_bytes()[..], &length.to_be_bytes(), data].concat()).unwrap();
    let mut reply = [0; 16];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[8..], 9_u64.to_be_bytes());
    let error = u32::from_be_bytes(reply[4..8].try_into().unwrap());
    let mut read = vec![0; if kind == 0 && error == 0 { length as usize } else { 0 }];
    stream.read_exact(&mut read).unwrap();
    (error, read)
}

#[test]
fn a_disk_is_read_written_and_flushed_in_its_time_and_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, path) = (disk(), folder.path().join("d"));
    let server = DiskServer::start(&disk, &path, Dilation::ONE).unwrap();
    let mut stream = connect(&path);
    assert_eq!(ask(&mut stream, 1, 512, 512, &[5; 512]).0, 0);
    let begun = Instant::now();
    assert_eq!(ask(&mut stream, 3, 0, 0, &[]).0, 0);
    assert!(begun.elapsed().as_millis() >= 20, "{:?}", begun.elapsed());
    assert_eq!(ask(&mut stream, 1, 0, 512, &[6; 512]).0, 0);
    assert_eq!(ask(&mut stream, 0, 0, 1024, &[]), (0, [[6; 512], [5; 512]].concat()));
    server.order("add 0 1 0 1 0 0 1").unwrap();
    assert_eq!([0, 1].map(|_| ask(&mut stream, 0, 0, 512, &[]).0), [libc::EIO as u32, 0]);
    assert!(server.order("sing").is_err());
    drop(server);
    assert!(!path.exists() && stream.read(&mut [0]).unwrap() == 0);
    assert_eq!(disk.crash(Keep::Flushed, Seed::new(1)).unwrap().lost, 1);
}

#[test]
fn another_qemu_may_follow_and_one_that_babbles_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, path) = (disk(), folder.path().join("d"));
    let server = DiskServer::start(&disk, &path, Dilation::ONE).unwrap();
    let mut babbler = UnixStream::connect(&path).unwrap();
    babbler.write_all(&[7; 100]).unwrap();
    let mut rest = Vec::new();
    // Whether the end comes as a reset depends on what was read.
    let _ = babbler.read_to_end(&mut rest);
    let mut greedy = connect(&path);
    let head = [&0x2560_9513_u32.to_be_bytes()[..], &[0; 12], &[0; 8], &u32::MAX.to_be_bytes()].concat();
    greedy.write_all(&head).unwrap();
    assert_eq!(greedy.read(&mut [0]).unwrap(), 0);
    assert_eq!(ask(&mut connect(&path), 0, 0, 512, &[]), (0, vec![0; 512]));
    drop(server);
}
