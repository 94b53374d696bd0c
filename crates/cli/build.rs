//! How the program is linked.

/// At fixed addresses: otherwise each process that is started as this program, and a kernel node's first one on a kernel of its
/// own, would write some 300 pages of pointers (relocations) before it begins, and keep them. Stack, heap and libraries are at
/// random addresses all the same.
fn main() {
    println!("cargo:rustc-link-arg-bin=netloom=-no-pie");
    println!("cargo:rerun-if-changed=build.rs");
}
