//! What scripts ask of the init of a system, which nodes do not have, and which must never be that of the machine.

use crate::commands::{self, Command, Word};

/// Programs that talk to the init of a system, or to what runs beside it.
const INITS: [&str; 22] = [
    "systemctl",
    "service",
    "rc-service",
    "invoke-rc.d",
    "initctl",
    "update-rc.d",
    "rc-update",
    "chkconfig",
    "telinit",
    "shutdown",
    "reboot",
    "poweroff",
    "halt",
    "hostnamectl",
    "timedatectl",
    "localectl",
    "loginctl",
    "machinectl",
    "resolvectl",
    "systemd-run",
    "busctl",
    "systemd-resolve",
];
/// The folders of scripts that do.
const FOLDERS: [&str; 3] = ["/etc/init.d/", "/etc/rc.d/", "/usr/lib/systemd/"];
/// What runs such a script as a file.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "zsh", ".", "source"];

/// A script without what it asks of an init, wherever that stands, and what that is.
pub(crate) fn without(text: &str) -> (String, Vec<String>) {
    let mut asked: Vec<(usize, usize, String)> = Vec::new();
    for command in commands::commands(text).all {
        let words = command.run();
        if let (Some(first), true) = (words.first(), asks(words)) {
            let said: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            asked.push((first.span.start, end(&command, first), said.join(" ")));
        }
    }
    asked.sort();
    let (mut made, mut found, mut at) = (String::new(), Vec::new(), 0);
    for (begin, end, command) in asked {
        // What stands in another one goes with it.
        if begin >= at && end >= begin {
            made.push_str(&text[at..begin]);
            made.push_str("true");
            found.push(command);
            at = end;
        }
    }
    made.push_str(&text[at..]);
    (made, found)
}

/// Where what is replaced of a command ends. A here-document stays, so that its lines do not become commands.
fn end(command: &Command, first: &Word) -> usize {
    if command.has_document { first.span.end } else { command.end }
}

/// Whether a plain command asks something of an init.
pub(crate) fn asks_plainly(command: &str) -> bool {
    matches!(&commands::commands(command).all[..], [one] if asks(one.run()))
}

/// Whether a command does, by its words.
fn asks(words: &[Word]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let first = first.text.as_str();
    let name = first.rsplit('/').next().unwrap_or(first);
    let is_of_system = |path: &str| FOLDERS.iter().any(|folder| path.starts_with(folder));
    let is_plain = ["/bin/", "/sbin/"].iter().any(|folder| first.contains(folder)) || !first.contains('/');
    let script = rest.iter().find(|word| !word.text.starts_with('-'));
    let is_run = SHELLS.contains(&name) && script.is_some_and(|word| is_of_system(&word.text));
    is_of_system(first) || is_run || is_plain && INITS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, usize) {
        let (made, asked) = without(text);
        (made, asked.len())
    }

    #[test]
    fn nothing_reaches_an_init() {
        for (said, made) in [
            ("sleep 1 && systemctl start a >/dev/null 2>&1; b", "sleep 1 && true; b"),
            ("if true; then\n service x start\nfi\n", "if true; then\n true\nfi\n"),
            ("(/etc/init.d/ssh start) # systemctl; x", "(true) # systemctl; x"),
            ("sudo /usr/bin/systemctl stop x|cat", "sudo true|cat"),
            ("A=1 env B=2 service x start", "A=1 env B=2 true"),
            ("sh -c \"systemctl start x\"", "sh -c \"true\""),
            ("bash -lc 'a; service x start && b'", "bash -lc 'a; true && b'"),
            ("bash -c \"echo \\\"a; b\\\"; systemctl x \\\"y z\\\"; c\"", "bash -c \"echo \\\"a; b\\\"; true; c\""),
            ("sh -c \"bash -c 'service x start'\"", "sh -c \"bash -c 'true'\""),
            ("echo $(systemctl is-active x) \"`service y status`\" done", "echo $(true) \"`true`\" done"),
            ("x=\"$(echo \"$(/etc/init.d/x status)\")\"", "x=\"$(echo \"$(true)\")\""),
            ("f() { systemctl start $1; }; f x", "f() { true; }; f x"),
            ("for s in a b; do service $s restart; done", "for s in a b; do true; done"),
            ("case $1 in start) service x start ;; *) reboot;; esac", "case $1 in start) true ;; *) true;; esac"),
            ("while ! systemctl is-active x; do sleep 1; done", "while ! true; do sleep 1; done"),
            (
                "timeout -k 5 10 systemctl start x || sudo -u root service y start",
                "timeout -k 5 10 true || sudo -u root true",
            ),
            (
                "sudo -n systemctl x; nice -n 5 systemctl y; xargs -n 1 systemctl start",
                "sudo -n true; nice -n 5 true; xargs -n 1 true",
            ),
            ("eval \"systemctl start x\"; eval service x start", "eval \"true\"; eval true x start"),
            ("sh /etc/init.d/x start; . /etc/init.d/functions", "true; true"),
            ("bash <<E\nsystemctl start x\nE\nservice y start", "bash <<E\ntrue\nE\ntrue"),
            ("cat <<'E' | sudo sh\nservice x start\nE\n", "cat <<'E' | sudo sh\ntrue\nE\n"),
            ("cat > f <<E\n$(systemctl x) systemctl\nE\n", "cat > f <<E\n$(true) systemctl\nE\n"),
            ("systemctl x <<E\nservice y start\nE\nb", "true x <<E\nservice y start\nE\nb"),
            ("\"systemctl\" x; \\service y z", "true; true"),
            ("systemctl start \\\n  x\nb", "true\nb"),
            ("(a; (b; service x start)) & hostnamectl set-hostname r1", "(a; (b; true)) & true"),
        ] {
            assert_eq!(of(said).0, made, "{said}");
        }
    }

    #[test]
    fn what_only_speaks_of_an_init_stays() {
        for kept in [
            "echo \"a; systemctl x\"",
            "echo service",
            "my/service x",
            "echo ${service} x",
            "cat > x << E\nservice integrated-vtysh-config\nE",
            "tee /etc/frr/frr.conf <<-'E'\n\tservice x start\n\tE\nip a",
            "vtysh -c 'service password-encryption'",
            "grep -q systemctl f && sudo -E grep service f",
            "# é systemctl",
            "é|`x`",
            "a=$((1 << 2)); service_x start; x=\"service\"",
            "sh -c 'echo \"systemctl; service x start\"'",
        ] {
            assert_eq!(of(kept), (kept.to_owned(), 0), "{kept}");
        }
    }
}
