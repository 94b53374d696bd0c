//! Archives of initial file systems: cpio in its "newc" form.

/// Alignment of headers and contents, in bytes.
const ALIGNMENT: usize = 4;
const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// An archive that the kernel unpacks behind others before it.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    /// A folder; its parents have to be there.
    pub(crate) fn folder(&mut self, name: &str) {
        self.entry(name, FOLDER, &[]);
    }

    /// A file that can be executed.
    pub(crate) fn program(&mut self, name: &str, content: &[u8]) {
        self.entry(name, PROGRAM, content);
    }

    /// All of it.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let size = u32::try_from(content.len()).expect("a program is shorter than 4 GiB");
        let name_size = u32::try_from(name.len() + 1).expect("a short name");
        // Inode, mode, owner, group, links, time, size, device, device of a special file, length of the name, checksum.
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        pad(&mut self.bytes);
        self.bytes.extend_from_slice(content);
        pad(&mut self.bytes);
    }
}

/// Fills up with zeros, which the kernel also skips between two archives.
pub(crate) fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the format's description: headers of 110 bytes, everything on multiples of 4.
    #[test]
    fn an_archive_is_as_the_kernel_reads_it() {
        let mut archive = Archive::default();
        archive.folder("d");
        archive.program("d/x", b"hello");
        let bytes = archive.finish();
        let folder = "070701\
            00000001000041ED00000000000000000000000100000000\
            0000000000000000000000000000000000000000\
            0000000200000000d\0";
        assert_eq!(&bytes[..112], folder.as_bytes());
        assert_eq!(&bytes[112..118], b"070701");
        assert_eq!(&bytes[112 + 110..112 + 114], b"d/x\0");
        assert_eq!(&bytes[228..233], b"hello");
        assert!(bytes.len().is_multiple_of(4) && bytes.windows(11).any(|name| name == b"TRAILER!!!\0"));
    }
}
