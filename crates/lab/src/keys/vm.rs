//! The table of virtual machines.

use super::{Key, Kind, Quantity, Section};

/// A virtual machine.
pub(crate) const VM: Section = Section {
    name: "vm",
    doc: "A virtual machine, run by QEMU: a Linux kernel with its initial file system and, if it has one, a disk; or a disk that boots by itself.",
    groups: &[&[
        Key::new(
            "kernel",
            Kind::Text("\\S"),
            "vm/vmlinuz",
            "The Linux kernel that it boots, for this machine's processor; a relative path starts at the lab file's folder. \
             Default: what the disk boots by itself.",
        ),
        Key::new(
            "initrd",
            Kind::Text("\\S"),
            "vm/root.cpio.gz",
            "The initial file system that the kernel boots with. Netloom adds its agent to a copy of it.",
        ),
        Key::new(
            "append",
            Kind::Scalar,
            "root=/dev/vda1 ro",
            "Further words of the kernel's command line. Default: none.",
        ),
        Key::new(
            "disk",
            Kind::Text("\\S"),
            "vm/disk.qcow2",
            "The disk, which the machine sees as /dev/vda. It is never written: what the machine writes is in this machine's \
             memory, and gone when the lab ends. Default: none.",
        ),
        Key::new(
            "format",
            Kind::Word(&["qcow2", "raw"]),
            "raw",
            "How the disk's bytes lie in its file: qcow2, or raw, byte by byte. Default: qcow2.",
        ),
        Key::new(
            "firmware",
            Kind::Word(&["bios", "uefi"]),
            "uefi",
            "What looks for a system on a disk that boots by itself: bios as in a PC, or uefi. Default: bios.",
        ),
        Key::new(
            "access",
            Kind::Word(&["agent", "none"]),
            "none",
            "How commands get into a system that boots from its disk: agent, which cloud-init or QEMU's guest agent starts there; or \
             none: any system with a virtio network device, which runs no commands. Default: agent.",
        ),
        Key::new(
            "ssh_key",
            Kind::Text("\\S"),
            "id_ed25519.pub",
            "A file of public keys that may log in by SSH to a system with cloud-init. Default: none.",
        ),
        Key::new("memory", Kind::Quantity(Quantity::Size), "1 GB", "Its memory, 64 MB to 1000 GB. Default: 512 MiB."),
        Key::new("cpus", Kind::Integer { least: 1, most: 64 }, "2", "Its processors, 1 to 64. Default: 1."),
        Key::new(
            "boot_within",
            Kind::Quantity(Quantity::Duration),
            "5 min",
            "How long it may take from its start until it serves the lab, in lab time. Default: 2 min.",
        ),
        Key::new(
            "passthrough",
            Kind::List { items: &Kind::Text("^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\\.[0-7]$"), least: 0, most: None },
            "[\"0000:01:00.0\"]",
            "Network cards of this machine that it gets whole, by their PCI addresses (VFIO); in real time only. Default: none.",
        ),
    ]],
};
