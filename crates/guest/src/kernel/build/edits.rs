//! Changes that a build makes in its own copy of a kernel's source, where the kernel has no option for them.
//!
//! The changes are C. They stand in `kernel/edits`, one file for each purpose, whose head explains it. After
//! `netloom: file` comes the name of a file of the kernel's source; in that file, the text between `netloom: instead of` and
//! `netloom: put` gives way to the text between `netloom: put` and `netloom: end`. Text outside these marks is comment. A
//! line `#include "asked/process.c"` stands for that file of `kernel/edits`.

use super::BuildError;
use super::error::Attempt;
use std::path::Path;
use std::{fs, io};

/// Jiffies per second. TCP's coarse timers count in jiffies: with the usual 100 of User-Mode Linux a retransmission
/// timer would be a multiple of 10 ms whatever the dilation. One millisecond is what servers' kernels use.
pub(super) const JIFFIES: u32 = 1_000;

/// A purpose for which the source is changed.
struct Purpose {
    /// The changes, in the form that the module describes.
    text: &'static str,
    /// The warning for a kernel whose source has no place for the changes.
    without: &'static str,
}

/// All purposes in the order in which their changes are made: later ones find the text of earlier ones.
const PURPOSES: [Purpose; 18] = [
    Purpose {
        text: include_str!("../../../kernel/edits/clock.c"),
        without: "in virtual time, programs that wait by looking at the clock take long with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/costs.c"),
        without: "in virtual time, system calls take no time with this kernel, so that a program that waits in a loop of them \
                  waits for ever",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/looks.c"),
        without: "in virtual time, each look of a program at the clock is a system call with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/turns.c"),
        without: "system calls of programs take a little longer with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/counter.c"),
        without: "in virtual time, computing takes no time with this kernel, whatever `cpu: {branch: ...}` says",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/asked.c"),
        without: "system calls of programs take half as long again with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/ahead.c"),
        without: "programs that use much memory start a little slower with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/samples.c"),
        without: "in virtual time, samples of TCP connections shift packets by microseconds with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/tsc.c"),
        without: "in virtual and dilated time, programs that read the processor's own clock (`rdtsc`; Go's runtime does) see the \
                  machine's time with this kernel, and are not the same in every run",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/room.c"),
        without: "a node has at most 51 interfaces with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/copy.c"),
        without: "in virtual time, each node boots a kernel of its own with this kernel, which takes more memory",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/formats.c"),
        without: "a kernel node takes 0.1 s longer to boot with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/checks.c"),
        without: "a kernel node takes 6 ms longer to boot with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/tunnels.c"),
        without: "`ip tunnel add` fails with this kernel (`ip link add type` works)",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/idle.c"),
        without: "in virtual time, idle nodes compute twice a second with this kernel",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/disk.c"),
        without: "nodes have no disks with this kernel (`disk`)",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/orphans.c"),
        without: "a process of a node may stay behind with this kernel if that is killed in the instant in which the process begins",
    },
    Purpose {
        text: include_str!("../../../kernel/edits/faults.c"),
        without: "no system call fails on order with this kernel, and no program is starved (`fail`, `starve`, `schedule`)",
    },
];

/// Files that changes insert, by the names that `#include` has for them.
const PIECES: [(&str, &str); 16] = [
    ("asked/poll.c", include_str!("../../../kernel/edits/asked/poll.c")),
    ("asked/process.c", include_str!("../../../kernel/edits/asked/process.c")),
    ("asked/stub.c", include_str!("../../../kernel/edits/asked/stub.c")),
    ("asked/stub_exe.c", include_str!("../../../kernel/edits/asked/stub_exe.c")),
    ("copy/physmem.c", include_str!("../../../kernel/edits/copy/physmem.c")),
    ("counter/stub.c", include_str!("../../../kernel/edits/counter/stub.c")),
    ("counter/stub_exe.c", include_str!("../../../kernel/edits/counter/stub_exe.c")),
    ("counter/time.c", include_str!("../../../kernel/edits/counter/time.c")),
    ("disk/device.c", include_str!("../../../kernel/edits/disk/device.c")),
    ("disk/driver.c", include_str!("../../../kernel/edits/disk/driver.c")),
    ("disk/faults.c", include_str!("../../../kernel/edits/disk/faults.c")),
    ("faults/calls.c", include_str!("../../../kernel/edits/faults/calls.c")),
    ("faults/orders.c", include_str!("../../../kernel/edits/faults/orders.c")),
    ("faults/turns.c", include_str!("../../../kernel/edits/faults/turns.c")),
    ("samples/tcp_diag.c", include_str!("../../../kernel/edits/samples/tcp_diag.c")),
    ("tsc/trap.c", include_str!("../../../kernel/edits/tsc/trap.c")),
];

/// The changes of one purpose in one file of the kernel's source.
struct Edits {
    file: &'static str,
    /// Pairs of a text, which the file has once, and of the text that takes its place.
    edits: Vec<(&'static str, String)>,
    /// See [`Purpose::without`].
    without: &'static str,
}

fn all() -> impl Iterator<Item = Edits> {
    PURPOSES.iter().flat_map(Purpose::edits)
}

/// Makes all changes. Returns, as warnings, what a source is like that has no place for some of them.
pub(super) fn make(tree: &Path) -> Result<Vec<String>, BuildError> {
    edit(&tree.join("arch/um/Kconfig"), |text| Some(with_jiffies(text)))?;
    let mut warnings = Vec::new();
    for edits in all() {
        if !edit(&tree.join(edits.file), |text| edits.apply(text))?
            && warnings.iter().all(|known| known != edits.without)
        {
            warnings.push(edits.without.to_owned());
        }
    }
    Ok(warnings)
}

/// Writes out all changes as one text, which stands for what they make of a source.
pub(super) fn text() -> String {
    let pairs = all().flat_map(|edits| edits.edits);
    pairs.fold(String::new(), |text, (from, to)| text + from + &to)
}

/// Whether there was something to change.
fn edit(path: &Path, change: impl FnOnce(&str) -> Option<String>) -> Result<bool, BuildError> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        read => read.attempted(|| format!("read {}", path.display()))?,
    };
    let Some(changed) = change(&text) else { return Ok(false) };
    fs::write(path, changed).attempted(|| format!("write {}", path.display()))?;
    Ok(true)
}

impl Purpose {
    /// Reads the changes from the text, in its order.
    fn edits(&self) -> impl Iterator<Item = Edits> {
        self.text.split("\n/* netloom: file ").skip(1).map(move |part| {
            let (file, rest) = part.split_once(" */\n").expect("the name of a file ends the line");
            let edits = rest.split("/* netloom: instead of */\n").skip(1).map(pair).collect();
            Edits { file, edits, without: self.without }
        })
    }
}

/// Reads a change: the text that gives way, and the text that takes its place.
fn pair(change: &'static str) -> (&'static str, String) {
    let (change, _) = change.split_once("\n/* netloom: end */\n").expect("each change has an end");
    let (from, to) = change.split_once("\n/* netloom: put */\n").expect("each change says what to put");
    let lines: Vec<&str> = to.split('\n').map(|line| piece(line).unwrap_or(line)).collect();
    (from, lines.join("\n"))
}

/// The file for which a line stands, if it stands for one.
fn piece(line: &str) -> Option<&'static str> {
    let name = line.strip_prefix("#include \"")?.strip_suffix('"')?;
    let (_, text) = PIECES.iter().find(|(known, _)| *known == name)?;
    Some(text.strip_suffix('\n').unwrap_or(text))
}

impl Edits {
    /// The text with all of them; none if one has no place or several.
    fn apply(&self, text: &str) -> Option<String> {
        self.edits.iter().try_fold(text.to_owned(), |text, (from, to)| {
            (text.matches(from).count() == 1).then(|| text.replacen(from, to, 1))
        })
    }
}

/// The same `Kconfig` with another default of `HZ`, which User-Mode Linux fixes there and offers no option for. Where there is
/// none to change, the check of the result tells.
fn with_jiffies(kconfig: &str) -> String {
    let mut inside = false;
    let mut text = String::with_capacity(kconfig.len() + 1);
    for line in kconfig.lines() {
        if line.starts_with("config ") {
            inside = line.trim_end() == "config HZ";
        }
        if inside && line.trim_start().starts_with("default ") {
            text.push_str(&format!("\tdefault {JIFFIES}"));
            inside = false;
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jiffies_are_changed_in_their_own_entry_alone() {
        let before = "config STACK\n\tint\n\tdefault 1\n\nconfig HZ\n\tint\n\tdefault 100\n\nconfig SMP\n\tdefault n\n";
        assert_eq!(with_jiffies(before), before.replace("default 100", "default 1000"));
        assert_eq!(with_jiffies(&with_jiffies(before)), with_jiffies(before));
        assert_eq!(with_jiffies("config SMP\n\tdefault n\n"), "config SMP\n\tdefault n\n");
    }

    #[test]
    fn a_file_is_changed_only_where_all_places_are_found_once() {
        for edits in all() {
            let before: Vec<&str> = edits.edits.iter().map(|(from, _)| *from).collect();
            let before = before.join("\n/* between */\n");
            let after = edits.apply(&before).unwrap();
            assert!(edits.edits.iter().all(|(_, to)| after.contains(to)), "{}", edits.file);
            assert_eq!(edits.apply(&format!("{before}\n{}", edits.edits[0].0)), None, "{}", edits.file);
            assert_eq!(edits.apply("int main(void)\n"), None, "{}", edits.file);
        }
    }

    #[test]
    fn all_marks_are_read_and_all_pieces_are_inserted() {
        for purpose in &PURPOSES {
            let edits: usize = purpose.edits().map(|edits| edits.edits.len()).sum();
            let marks =
                ["file ", "instead of */\n", "put */\n", "end */\n"].map(|mark| format!("\n/* netloom: {mark}"));
            let [files, from, put, end] = marks.map(|mark| purpose.text.matches(&mark).count());
            assert!(files > 0 && files == purpose.edits().count());
            assert_eq!([from, put, end], [edits; 3]);
            assert_eq!(purpose.text.matches("/* netloom: ").count(), files + 3 * edits);
        }
        let whole = text();
        assert!(
            PIECES
                .iter()
                .all(|(name, piece)| whole.contains(piece.trim_end()) && !whole.contains(&format!("\"{name}\"")))
        );
        assert!(!whole.contains("/* netloom: "));
    }

    #[test]
    fn each_file_says_under_which_licence_it_may_become_a_part_of_a_kernel() {
        let texts = PURPOSES.iter().map(|purpose| purpose.text).chain(PIECES.iter().map(|(_, text)| *text));
        for text in texts {
            assert!(text.starts_with("/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */\n"), "{text}");
        }
    }

    /// The kernel and its vDSO share no header that both could include, so each has the structure as a text of its own.
    #[test]
    fn kernel_and_vdso_agree_on_the_structure_that_they_share() {
        let begin = "struct netloom_clock {\n";
        let looks = PURPOSES.iter().flat_map(|purpose| purpose.text.split(begin).skip(1));
        let definitions: Vec<&str> = looks.map(|rest| rest.split_once("};\n").expect("a structure ends").0).collect();
        let [kernel, vdso] = definitions[..] else { panic!("{definitions:#?}") };
        assert_eq!(kernel, vdso);
        assert_eq!(kernel.lines().count(), 5);
    }

    #[test]
    fn a_source_without_the_places_is_built_with_a_warning() {
        const FILE: &str = "arch/um/kernel/time.c";
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("arch/um/kernel")).unwrap();
        fs::write(tree.path().join("arch/um/Kconfig"), "config HZ\n\tdefault 100\n").unwrap();
        fs::write(tree.path().join(FILE), "/* another clock */\n").unwrap();
        assert_eq!(make(tree.path()).unwrap(), PURPOSES.each_ref().map(|purpose| purpose.without));
        assert_eq!(fs::read_to_string(tree.path().join(FILE)).unwrap(), "/* another clock */\n");
    }
}
