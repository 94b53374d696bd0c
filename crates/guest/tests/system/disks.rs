//! Disks of kernels that are killed.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use netloom_guest::disk::{Disk, DiskSpeed, Keep};
use netloom_guest::node::{KernelNode, SocketChannel};
use netloom_host::node::Identity;
use netloom_units::{Bytes, Seed};

use crate::fixture::{alone, config, in_lab, ok};

/// Boots a kernel with a disk, lets `body` do something in it, and kills it.
fn on(disk: &Rc<Disk>, folder: &Path, body: impl FnOnce(&mut KernelNode)) {
    std::fs::create_dir(folder).unwrap();
    let (mut boot, end, _pump) = alone(folder);
    boot.disk = Some(Rc::clone(disk));
    let mut node = KernelNode::start(&boot, Box::new(SocketChannel::new(end)), &mut |_| {}).unwrap();
    node.await_up(Duration::from_secs(20)).unwrap();
    node.begin_become(Identity { config: config("a"), cwd: "/".into() }).unwrap();
    node.finish_become().unwrap();
    body(&mut node);
}

/// Writes blocks of 4 KiB of this letter, from this one on.
fn write(node: &mut KernelNode, letter: char, block: u32, how: &str) {
    ok(node, &format!("head -c 8192 /dev/zero | tr '\\0' {letter} > /tmp/blocks"));
    ok(node, &format!("dd if=/tmp/blocks of=/dev/disk0 bs=4096 seek={block} conv=notrunc{how}"));
}

/// The letters with which blocks begin; `-` where there is none.
fn letters(node: &mut KernelNode) -> String {
    ok(
        node,
        "for b in 0 1 2 3 4 5; do dd if=/dev/disk0 bs=4096 skip=$b count=1 2>/dev/null | head -c 1 | tr '\\0' -; done",
    )
}

pub(crate) fn a_disk_keeps_what_was_flushed_and_the_rest_by_a_rule() {
    in_lab(|| {
        for (keep, kept) in [(Keep::Flushed, "aa----"), (Keep::All, "aabbcc")] {
            let folder = tempfile::tempdir().unwrap();
            let speed = DiskSpeed { latency: netloom_units::Duration::from_micros(50), ..DiskSpeed::default() };
            let disk = Rc::new(Disk::in_memory(Bytes::new(1 << 20), speed).unwrap());
            on(&disk, &folder.path().join("first"), |node| {
                assert_eq!(ok(node, "cat /sys/block/disk0/size /sys/block/disk0/queue/fua"), "2048\n1");
                write(node, 'a', 0, ",fsync");
                write(node, 'b', 2, " oflag=direct");
                write(node, 'c', 4, " oflag=direct");
                assert_eq!(letters(node), "aabbcc");
            });
            let crashed = disk.crash(keep, Seed::new(1)).unwrap();
            assert_eq!(crashed.cached, 2 * 2, "{crashed:?}");
            on(&disk, &folder.path().join("second"), |node| assert_eq!(letters(node), kept));
        }
    });
}

pub(crate) fn a_disk_takes_the_time_that_it_is_said_to_take() {
    in_lab(|| {
        let folder = tempfile::tempdir().unwrap();
        let millis = netloom_units::Duration::from_millis;
        let speed = DiskSpeed { latency: millis(20), rate: None, flush: millis(50) };
        let disk = Rc::new(Disk::in_memory(Bytes::new(1 << 20), speed).unwrap());
        on(&disk, &folder.path().join("node"), |node| {
            let begun = std::time::Instant::now();
            ok(node, "dd if=/dev/zero of=/dev/disk0 bs=4096 count=10 oflag=direct conv=notrunc,fsync");
            // Ten writes one after the other, and a flush: a busy machine takes longer.
            assert!(begun.elapsed() >= Duration::from_millis(10 * 20 + 50), "{:?}", begun.elapsed());
        });
    });
}
