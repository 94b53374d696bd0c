//! Lists the files of the page, so that the program contains them as `make web` has made them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let home = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?).join("src/bundle");
    println!("cargo::rerun-if-changed={}", home.display());
    let mut names = vec!["index.html".to_owned()];
    for entry in fs::read_dir(home.join("assets")).into_iter().flatten() {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".gz").map(|name| format!("assets/{name}")));
    }
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        let path = home.join(format!("{name}.gz"));
        let bytes = fs::read(&path)?;
        let _ = writeln!(list, "    ({name:?}, include_bytes!({:?}), {:?}),", path, digest(&bytes));
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?).join("bundle.rs"), list)
}

/// Tells one content from another (FNV-1a, 128 bits); nobody is kept from making two that are alike.
fn digest(bytes: &[u8]) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    format!("{:032x}", bytes.iter().fold(BASIS, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME)))
}
