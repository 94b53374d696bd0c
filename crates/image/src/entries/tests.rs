use super::*;
use crate::testing::Layer;
use proptest::prelude::*;

fn all(bytes: &[u8]) -> Result<Vec<(Entry, Vec<u8>)>, ImageError> {
    let mut entries = Entries::new(bytes, "layer");
    let mut found = Vec::new();
    while let Some(entry) = entries.next()? {
        let mut contents = Vec::new();
        entries.read_to_end(&mut contents).map_err(|error| entries.broken(&error.to_string()))?;
        found.push((entry, contents));
    }
    Ok(found)
}

fn why(bytes: &[u8]) -> String {
    all(bytes).unwrap_err().to_string()
}

#[test]
fn entries_are_read_with_their_contents() {
    let layer = Layer::default().folder("a/").file("a/one", "1").symlink("l", "a/one").file("empty", "");
    let found = all(&layer.end()).unwrap();
    let brief: Vec<_> = found.iter().map(|(entry, text)| (&entry.path[..], entry.kind, &text[..])).collect();
    let expected: [(&[u8], Kind, &[u8]); 4] = [
        (b"a/", Kind::Folder, b""),
        (b"a/one", Kind::File, b"1"),
        (b"l", Kind::Symlink, b""),
        (b"empty", Kind::File, b""),
    ];
    assert_eq!(brief, expected);
    assert_eq!(
        (found[2].0.link.as_slice(), found[1].0.mode, found[1].0.modified),
        (&b"a/one"[..], 0o644, (1_000_000_000, 0))
    );
}

#[test]
fn headers_of_pax_and_gnu_come_before() {
    let long = "n".repeat(300);
    let records: [(&str, &[u8]); 5] = [
        ("path", long.as_bytes()),
        ("uid", b"3000000"),
        ("mtime", b"12.5"),
        ("SCHILY.xattr.user.a", b"one\ntwo=\0"),
        ("comment", b"x"),
    ];
    let (entry, text) = all(&Layer::default().pax(&records).file("short", "12").end()).unwrap().remove(0);
    assert_eq!(
        (entry.path, entry.owner, entry.modified, text),
        (long.clone().into(), 3_000_000, (12, 500_000_000), b"12".to_vec())
    );
    assert_eq!(entry.attributes, [(b"user.a".to_vec(), b"one\ntwo=\0".to_vec())]);
    let name = format!("{long}\0");
    let gnu = Layer::default()
        .entry("././@LongLink", EntryType::GNULongName, 0, "", name.as_bytes())
        .file("short", "1")
        .file("b", "");
    let found = all(&gnu.end()).unwrap();
    assert_eq!((found[0].0.path.as_slice(), found[1].0.path.as_slice()), (long.as_bytes(), &b"b"[..]));
}

#[test]
fn what_a_global_header_says_holds_for_all() {
    let global = Layer::default().pax(&[("gid", b"7")]);
    let bytes = [&global.0[..], &Layer::default().file("a", "").file("b", "").end()].concat();
    let mut bytes = bytes;
    // The type of a header stands at 156; its sum at 148.
    bytes[156] = b'g';
    let mut header = Header::new_old();
    header.as_mut_bytes().copy_from_slice(&bytes[..512]);
    header.set_cksum();
    bytes[..512].copy_from_slice(header.as_bytes());
    assert!(all(&bytes).unwrap().iter().all(|(entry, _)| entry.group == 7));
}

#[test]
fn damage_is_found() {
    let good = Layer::default().file("a", &"x".repeat(1000)).end();
    assert!(why(&good[..300]).ends_with("it ends within a header"));
    assert!(why(&good[..700]).ends_with("it ends within a file"));
    let mut bad = good.clone();
    bad[0] = b'b';
    assert_eq!(why(&bad), "layer (at its header 1) is damaged: the sum of a header is wrong");
    assert!(
        why(&Layer::default().pax(&[("size", b"many")]).file("a", "").end())
            .ends_with("size of an extended header is no number")
    );
    let odd = Layer::default().entry("x", EntryType::XHeader, 0, "", b"99 a=b\n").file("a", "");
    assert!(why(&odd.end()).ends_with("an extended header is not of the form of pax"));
    assert!(
        why(&Layer::default().entry("x", EntryType::new(b'V'), 0, "", b"").end())
            .ends_with("it is of the unknown type 'V'")
    );
}

#[test]
fn headers_that_fill_the_memory_are_refused() {
    for kind in [EntryType::XHeader, EntryType::XGlobalHeader, EntryType::GNULongName, EntryType::GNULongLink] {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0);
        header.set_size(10_000_000_000);
        assert!(
            why(&Layer::default().raw(header, b"").end())
                .ends_with("a header has 10000000000 bytes, and 1048576 are possible")
        );
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[0] = b'a';
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(u64::MAX);
    let mut entries = Entries::new(&[][..], "layer");
    let bytes = Layer::default().raw(header, b"").end();
    entries.input = &bytes;
    assert_eq!(entries.next().unwrap().unwrap().size, u64::MAX);
    assert!(entries.next().is_err());
}

proptest! {
    /// Whatever is in an archive, it is read or refused.
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..4096), at in 0_usize..2000, byte: u8) {
        let _ = all(&bytes);
        let records: [(&str, &[u8]); 2] = [("path", b"long"), ("SCHILY.xattr.user.x", b"y")];
        let mut good = Layer::default().folder("a/").pax(&records).file("a/one", "1").symlink("l", "a").end();
        let place = at % good.len();
        good[place] = byte;
        // With a sum that fits, so that it is looked at.
        let start = place / 512 * 512;
        let mut header = Header::new_old();
        header.as_mut_bytes().copy_from_slice(&good[start..start + 512]);
        header.set_cksum();
        good[start..start + 512].copy_from_slice(header.as_bytes());
        let _ = all(&good);
    }
}
