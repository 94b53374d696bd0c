//! The disk of a node with a kernel of its own.

use super::files::target;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::forms::{Maybe, OrZero, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::{DiskPlan, Filesystem};
use crate::scalar::{quantity, text};
use crate::section::Kind;
use crate::yaml::Node;
use netloom_units::{Bytes, Duration, Rate};
use std::path::PathBuf;

forms! {
    /// A disk, with its place.
    pub(crate) struct Disk = Spanned<DiskPlan>, DiskPlan::KIND, noting disk;
    /// The folder of a node at which its disk is.
    pub(crate) struct Folder = PathBuf, Kind::Text("^/+[^/]"), folder;
    /// The size of a disk.
    pub(crate) struct DiskSize = Bytes, Bytes::KIND, size;
}

sections! {
    /// A disk of a kernel node or a virtual machine, which outlives its kernel when the node crashes.
    read DiskPlan = "disk" {
        /// The folder of the node at which its file system is, which is empty in the beginning.
        at: Folder, required "/var/lib/etcd";
        /// Its size, 16 MB to 1000 GB (xfs: 320 MB and more; f2fs: 64 MB and more); it takes as much memory of this machine as is written
        /// to it. Default: 256 MB; with xfs, 512 MB.
        size: DiskSize, "1 GB" else DiskPlan::size_of(filesystem.unwrap_or_default());
        /// Its file system. Default: ext4.
        filesystem: Word<Filesystem>, "xfs" else Filesystem::default();
        /// The time from the transfer of a request to its end. Default: 80 us.
        latency: OrZero<Duration>, "100 us" else DiskPlan::LATENCY;
        /// The rate at which requests are transferred, one after the other. Default: no limit.
        rate: Maybe<Rate>, "200 MB/s" else None;
        /// The time that a flush of its cache takes (fsync). Default: 1 ms.
        flush: OrZero<Duration>, "5 ms" else DiskPlan::FLUSH;
        /// Whether what is on it is kept for the next run. Default: false.
        keep: bool, "true" else false;
        /// Whether all requests to it become a table in the results, disks.csv, in virtual time. Default: false.
        journal: bool, "true" else false;
    }
}

/// More than any machine has: the user mistyped the unit.
const MOST: Bytes = Bytes::new(1_000_000_000_000);

/// The block size of the file system, of which the size of a disk is a multiple.
const BLOCK: u64 = 4096;

fn disk(node: &Node, errors: &mut Errors) -> Option<Spanned<DiskPlan>> {
    let plan = DiskPlan::open(node, errors)?;
    let (name, size, least) = (plan.filesystem.name(), plan.size, plan.filesystem.least());
    if size < least {
        let said = node.value("size").unwrap_or(node);
        errors.push(said.error(format!("a disk with {name} has {least} at least, not {size}")));
    }
    Some(node.spanned(plan))
}

fn folder(node: &Node) -> Result<PathBuf, Diagnostic> {
    target(&text(node)?).map_err(|what| node.error(what))
}

fn size(node: &Node) -> Result<Bytes, Diagnostic> {
    let (size, least): (Bytes, Bytes) = (quantity(node)?, Filesystem::default().least());
    if size < least || size > MOST {
        return Err(node.error(format!("a disk of a node has {least} to {MOST}, not {size}")));
    }
    Ok(Bytes::new(size.get() / BLOCK * BLOCK))
}

#[cfg(test)]
mod tests {
    use crate::plan::DiskPlan;
    use netloom_units::{Bytes, Duration};

    fn parsed(head: &str, node: &str) -> Result<DiskPlan, String> {
        let text = format!("{head}nodes: {{a: {node}, b: }}\nlinks: {{l: {{ends: [a, b]}}}}\n");
        let lab = crate::parse(&text, "test.yaml").map_err(|wrong| wrong.to_string())?;
        Ok(lab.plan.nodes[0].disk.clone().expect("a disk"))
    }

    #[test]
    fn a_disk_has_defaults() {
        let disk = parsed("clock: virtual\n", "{disk: {at: //var//db/, size: 100 MB, flush: 0}}").unwrap();
        assert_eq!(disk.at, std::path::Path::new("/var/db"));
        assert_eq!((disk.size, disk.rate, disk.keep), (Bytes::new(100_000_000 / 4096 * 4096), None, false));
        assert_eq!((disk.latency, disk.flush), (Duration::from_micros(80), Duration::ZERO));
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        let refused = |head, node, why: &str| {
            let said = parsed(head, node).expect_err(node);
            assert!(said.contains(why), "{node}: {said}");
        };
        refused("", "{disk: {at: /db}}", "a namespace node writes to this machine's disks");
        refused("", "{stack: kernel, disk: {size: 100 MB}}", "at");
        refused("", "{stack: kernel, disk: {at: db}}", "is not an absolute path");
        refused("", "{stack: kernel, disk: {at: /db, size: 1 MB}}", "16 MB to 1000 GB");
        refused("", "{stack: kernel, disk: {at: /db, filesystem: btrfs}}", "ext4, xfs or f2fs");
        refused(
            "",
            "{stack: kernel, disk: {at: /db, filesystem: xfs, size: 64 MB}}",
            "a disk with xfs has 320 MB at least",
        );
        refused("", "{stack: kernel, disk: {at: /db, journal: true}}", "clock: virtual");
        refused("", "{stack: kernel, disk: {at: /db}, files: {/db/x: empty}}", "the disk hides /db/x");
        let machine = "{vm: {kernel: /k, initrd: /i}, disk: {at: /db, journal: true}}";
        refused("", machine, "`journal` is for kernel nodes in virtual time: leave it out");
        assert!(parsed("clock: {dilation: 2}\n", &machine.replace(", journal: true", "")).is_ok());
        refused("", "{kind: switch, disk: {at: /db}}", "is not a machine and has no `disk`");
    }
}
