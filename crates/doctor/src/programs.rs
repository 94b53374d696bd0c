//! The programs that labs usually call, and how to get them.

use netloom_host::programs::{PATH, exists};

/// Programs by the name that is called, and the package that has it: on Debian and its kin, and elsewhere.
const USUAL: [(&str, &str, &str); 5] = [
    ("iperf3", "iperf3", "iperf3"),
    ("ping", "iputils-ping", "iputils"),
    ("tcpdump", "tcpdump", "tcpdump"),
    ("ip", "iproute2", "iproute2"),
    ("ethtool", "ethtool", "ethtool"),
];

/// All of them, for the table.
pub(super) fn usual() -> Vec<&'static str> {
    USUAL.iter().map(|(program, ..)| *program).collect()
}

/// Those that nodes here would not find.
pub(super) fn missing() -> Vec<&'static str> {
    usual().into_iter().filter(|program| !exists(program, PATH.as_ref())).collect()
}

/// The command that installs `programs` on a distribution with these names.
pub(super) fn install(programs: &[&str], distribution: &[String]) -> String {
    let is = |names: &[&str]| distribution.iter().any(|name| names.contains(&name.as_str()));
    let packages = |debian: bool| {
        let named = USUAL.iter().filter(|(name, ..)| programs.contains(name));
        let packages = named.map(|(_, on_debian, elsewhere)| if debian { *on_debian } else { *elsewhere });
        packages.collect::<Vec<_>>().join(" ")
    };
    if is(&["debian", "ubuntu"]) {
        return format!("sudo apt-get install {}", packages(true));
    }
    let others = [
        (&["fedora", "rhel", "centos"][..], "dnf install"),
        (&["arch"][..], "pacman -S"),
        (&["alpine"][..], "apk add"),
        (&["suse", "opensuse"][..], "zypper install"),
    ];
    match others.iter().find(|(names, _)| is(names)) {
        // The package of ip has another name there.
        Some((_, command)) => format!("sudo {command} {}", packages(false).replace("iproute2", iproute(command))),
        None => format!("install {}", programs.join(", ")),
    }
}

fn iproute(command: &str) -> &'static str {
    if command.starts_with("dnf") { "iproute" } else { "iproute2" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_those_of_the_distribution() {
        let on = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            install(&["ping", "ip"], &names)
        };
        assert_eq!(on(&["linuxmint", "ubuntu", "debian"]), "sudo apt-get install iputils-ping iproute2");
        assert_eq!(on(&["fedora"]), "sudo dnf install iputils iproute");
        assert_eq!(on(&["arch"]), "sudo pacman -S iputils iproute2");
        assert_eq!(on(&["unheard-of"]), "install ping, ip");
    }
}
