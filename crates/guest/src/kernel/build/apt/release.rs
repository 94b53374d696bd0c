//! Which distribution this is, and in which of its branches new kernels are found.

use super::super::BuildError;
use std::fs;

/// A release of Debian or Ubuntu, or of a distribution that uses one's packages.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Release {
    family: Family,
    /// Its code name; empty where there is none, as in Debian's development branch.
    codename: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Debian,
    Ubuntu,
}

impl Release {
    pub(super) fn of_system() -> Result<Self, BuildError> {
        let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
        Self::read(&text).ok_or_else(|| BuildError::Packages {
            why: "this is neither Debian nor Ubuntu, so no source package is known".to_owned(),
        })
    }

    fn read(os_release: &str) -> Option<Self> {
        let value = |key: &str| {
            let line = os_release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or("").trim_matches(['"', '\'']).to_owned()
        };
        let kinds = format!("{} {}", value("ID"), value("ID_LIKE"));
        let is = |name: &str| kinds.split_whitespace().any(|kind| kind == name);
        // Whatever is like Ubuntu is like Debian, too, and names Ubuntu's release beside its own.
        let (family, codename) = if is("ubuntu") {
            (Family::Ubuntu, [value("UBUNTU_CODENAME"), value("VERSION_CODENAME")])
        } else if is("debian") {
            (Family::Debian, [value("DEBIAN_CODENAME"), value("VERSION_CODENAME")])
        } else {
            return None;
        };
        let codename = codename.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        Some(Self { family, codename })
    }

    /// The branches in which kernels newer than the release's own are found. `trixie` stands by its name, because
    /// mirrors may bring `stable` up to date later.
    fn branches(&self) -> Vec<String> {
        let own = |suffix: &str| (!self.codename.is_empty()).then(|| format!("{}{suffix}", self.codename));
        let (own, others): (_, &[&str]) = match self.family {
            Family::Debian => (vec![own("-backports")], &["trixie-backports", "stable-backports", "sid"]),
            Family::Ubuntu => (vec![own(""), own("-updates")], &["devel"]),
        };
        let mut branches: Vec<String> = own.into_iter().flatten().collect();
        for other in others {
            if !branches.iter().any(|branch| branch == other) {
                branches.push((*other).to_owned());
            }
        }
        branches
    }

    /// The `sources.list` for these branches, with the first of the system's mirrors that has the distribution.
    pub(super) fn sources(&self, mirrors: &[String]) -> String {
        let (last, default, keys) = match self.family {
            Family::Debian => ("debian", "http://deb.debian.org/debian", "debian-archive-keyring.gpg"),
            Family::Ubuntu => ("ubuntu", "http://archive.ubuntu.com/ubuntu", "ubuntu-archive-keyring.gpg"),
        };
        let has_it = |address: &&str| address.rsplit('/').next() == Some(last) && !address.contains("//security.");
        let mirror = mirrors.iter().map(|address| address.trim_end_matches('/')).find(has_it).unwrap_or(default);
        let keys = format!("/usr/share/keyrings/{keys}");
        let signed = if fs::exists(&keys).unwrap_or(false) { format!("signed-by={keys} ") } else { String::new() };
        let line = |branch: &String| format!("deb [{signed}target=Packages lang=none] {mirror} {branch} main\n");
        self.branches().iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_and_ubuntu_and_their_kin_are_known() {
        let bookworm = Release::read("NAME=\"Debian GNU/Linux\"\nVERSION_CODENAME=bookworm\nID=debian\n").unwrap();
        assert_eq!(bookworm.branches(), ["bookworm-backports", "trixie-backports", "stable-backports", "sid"]);
        let sid = Release::read("ID=debian\n").unwrap();
        assert_eq!(sid.branches(), ["trixie-backports", "stable-backports", "sid"]);
        let mint = "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n";
        assert_eq!(Release::read(mint).unwrap().branches(), ["noble", "noble-updates", "devel"]);
        assert_eq!(Release::read("ID=fedora\n"), None);
        assert_eq!(Release::read(""), None);
    }

    #[test]
    fn the_systems_own_mirror_is_used() {
        let trixie = Release { family: Family::Debian, codename: "trixie".to_owned() };
        let mirrors = ["https://deb.nodesource.com/node_20.x/", "http://ftp.example.org/debian/", "http://x/debian"];
        let sources = trixie.sources(&mirrors.map(str::to_owned));
        assert_eq!(sources.lines().count(), 3);
        assert!(sources.lines().all(|line| line.contains(" http://ftp.example.org/debian ")), "{sources}");
        assert!(
            trixie
                .sources(&["http://deb.debian.org/debian-security/".to_owned()])
                .contains(" http://deb.debian.org/debian ")
        );
    }
}
