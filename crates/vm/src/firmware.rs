//! The firmware of machines that boot their own disk.

use crate::error::VmError;
use std::path::{Path, PathBuf};

/// The firmware that looks for a system on a machine's disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Firmware {
    /// A PC's firmware, which QEMU brings along (SeaBIOS).
    Bios,
    /// UEFI: OVMF, in two files.
    Uefi {
        /// The program.
        code: PathBuf,
        /// Its variables, as a machine has them that was never used.
        variables: PathBuf,
    },
}

/// Where distributions have OVMF, without Secure Boot: Debian and Ubuntu, Fedora, Arch, openSUSE.
const PLACES: [(&str, &str); 5] = [
    ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"),
    ("/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"),
    ("/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd"),
    ("/usr/share/edk2/x64/OVMF_CODE.4m.fd", "/usr/share/edk2/x64/OVMF_VARS.4m.fd"),
    ("/usr/share/qemu/ovmf-x86_64-code.bin", "/usr/share/qemu/ovmf-x86_64-vars.bin"),
];

impl Firmware {
    /// The UEFI of this machine's packages.
    ///
    /// # Errors
    /// When there is none, with the package that brings it.
    pub fn uefi() -> Result<Self, VmError> {
        among(&PLACES).ok_or_else(|| {
            VmError::Wrong(format!(
                "the firmware OVMF is not here ({} and places of other distributions): install it (Debian, Ubuntu: apt-get \
                 install ovmf), or write `firmware: bios`",
                PLACES[0].0
            ))
        })
    }

    /// In a few words.
    pub fn name(&self) -> String {
        match self {
            Self::Bios => "SeaBIOS".to_owned(),
            Self::Uefi { code, .. } => format!("UEFI ({})", code.display()),
        }
    }
}

fn among(places: &[(&str, &str)]) -> Option<Firmware> {
    let is_there = |(code, variables): &&(&str, &str)| Path::new(code).is_file() && Path::new(variables).is_file();
    let (code, variables) = places.iter().find(is_there)?;
    Some(Firmware::Uefi { code: code.into(), variables: variables.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_there_whole_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let all = ["a", "b", "c", "d"].map(path);
        let places = [(all[0].as_str(), all[1].as_str()), (all[2].as_str(), all[3].as_str())];
        assert_eq!(among(&places), None);
        for name in [&all[0], &all[2], &all[3]] {
            std::fs::write(name, "").unwrap();
        }
        assert_eq!(among(&places), Some(Firmware::Uefi { code: (&all[2]).into(), variables: (&all[3]).into() }));
    }
}
