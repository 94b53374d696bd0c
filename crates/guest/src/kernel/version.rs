//! Versions of kernels, and which is newer.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A kernel's version: numbers, and what follows them ("-netloom", "-rc3").
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    numbers: Vec<u32>,
    rest: String,
}

impl Version {
    /// The version in the first lines of a kernel's own `Makefile`; `None` if they are not there.
    pub(crate) fn of_makefile(makefile: &str) -> Option<Self> {
        let value = |key: &str| {
            makefile.lines().take(12).find_map(|line| {
                let (name, value) = line.split_once('=')?;
                (name.trim() == key).then(|| value.trim())
            })
        };
        let numbers = [value("VERSION")?, value("PATCHLEVEL")?, value("SUBLEVEL")?];
        format!("{}{}", numbers.join("."), value("EXTRAVERSION").unwrap_or("")).parse().ok()
    }
}

impl FromStr for Version {
    type Err = ();

    /// Reads "7.3.4-netloom": numbers between dots, then anything that starts with another character.
    fn from_str(text: &str) -> Result<Self, ()> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (numbers, rest) = text.split_at(end);
        let numbers = numbers.split('.').map(str::parse).collect::<Result<Vec<u32>, _>>().map_err(|_| ())?;
        Ok(Self { numbers, rest: rest.to_owned() })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
        write!(f, "{}{}", numbers.join("."), self.rest)
    }
}

impl Ord for Version {
    /// By the numbers; a candidate ("-rc3") comes before the release that it precedes.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |version: &Self| (version.numbers.clone(), !version.rest.starts_with("-rc"), version.rest.clone());
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_order_by_number() {
        let mut versions = ["7.3.4", "6.12.107", "7.3-rc2", "7.10", "7.3", "7.3.4-1~bpo13+1"].map(version);
        versions.sort();
        let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["6.12.107", "7.3-rc2", "7.3", "7.3.4", "7.3.4-1~bpo13+1", "7.10"]);
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", "linux", "7..3", "7.3.", ".7", "99999999999"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_kernel_says_its_version_in_its_makefile() {
        let makefile =
            "# SPDX-License-Identifier: GPL-2.0\nVERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\nEXTRAVERSION =\n";
        assert_eq!(Version::of_makefile(makefile), Some(version("7.3.4")));
        assert_eq!(
            Version::of_makefile(&makefile.replace("EXTRAVERSION =", "EXTRAVERSION = -rc1")),
            Some(version("7.3.4-rc1"))
        );
        assert_eq!(Version::of_makefile("all:\n\tcc main.c\n"), None);
    }
}
