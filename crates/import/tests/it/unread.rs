//! Nothing is left out in silence: whatever is added to a file of another tool, the lab has it or a note says that it does not.

use netloom_import::{Format, Options, read};
use std::fs;
use std::path::{Path, PathBuf};

/// A word that no format knows.
const WORD: &str = "zzunknown";

/// What a line has where all below a section is noted in one, or only draws.
const COVERED: [&str; 18] = [
    "mgmt:",
    "vars: {",
    "endpoint: {",
    "\"controllers\": [",
    "<session_hooks",
    "<unknown",
    "\"canvases\"",
    "\"options\" :",
    "\"peers\" : \"n4 n1\"",
    "annotation a0",
    "canvas c0",
    "option show",
    "name=\"dashboard\"",
    "action=\"join\" latency",
    "<y:",
    "[cells.spy]",
    "[cells.unused]",
    "labels: {",
];

/// Where the lab file of `text` says nothing of the word that was added.
fn is_silent(format: Format, path: &Path, text: &str) -> bool {
    // What is refused is not left out in silence.
    read(format, &path.to_string_lossy(), text.to_owned(), &Options::default())
        .is_ok_and(|imported| !imported.yaml().to_lowercase().contains(WORD))
}

/// The file with the word added, once for each place where one more may stand.
fn extended(path: &Path, text: &str) -> Vec<String> {
    let insert = |at: usize, what: &str| format!("{}{what}{}", &text[..at], &text[at..]);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => lines(text, |line| line.starts_with('['))
            .into_iter()
            .map(|(at, _)| insert(at, &format!("{WORD} = 7\n")))
            .chain([format!("{WORD} = 7\n{text}")])
            .collect(),
        Some("yaml") => blocks(text)
            .into_iter()
            .chain(maps(text).into_iter().map(|at| insert(at, &format!("{WORD}: 7, "))))
            .chain(
                after(text, |rest| rest.strip_prefix("edge [").map(|_| 6))
                    .into_iter()
                    .map(|at| insert(at, &format!(" {WORD} 7 "))),
            )
            .collect(),
        Some("xml" | "graphml") => after(text, |rest| {
            let name = rest.strip_prefix('<').filter(|name| name.starts_with(|one: char| one.is_ascii_alphabetic()))?;
            let end = name.find(|one: char| one.is_whitespace() || one == '/' || one == '>')?;
            Some(1 + end)
        })
        .into_iter()
        .map(|at| insert(at, &format!(" {WORD}=\"7\"")))
        .collect(),
        Some("mn") => objects(text).into_iter().map(|at| insert(at, &format!("\"{WORD}\": \"7\","))).collect(),
        Some("imn") if text.trim_start().starts_with('{') => {
            objects(text).into_iter().map(|at| insert(at, &format!("\"{WORD}\": \"7\","))).collect()
        }
        Some("imn") => lines(text, |line| line.ends_with('{') || line.trim_start().starts_with("interface "))
            .into_iter()
            .map(|(at, _)| insert(at, &format!(" {WORD} 7\n")))
            .collect(),
        Some("yml") => {
            maps(text).into_iter().map(|at| insert(at, &format!("{WORD}: 7, "))).chain(blocks(text)).collect()
        }
        Some("gml") => {
            let begins = || after(text, |rest| rest.starts_with('[').then_some(1)).into_iter();
            let beside =
                [format!("{WORD} 7\n{text}"), format!("{text}\n{WORD} [ a 7 ]\n"), format!("{text}\n{WORD} [ ]\n")];
            begins()
                .map(|at| insert(at, &format!(" {WORD} 7 ")))
                .chain(begins().map(|at| insert(at, &format!(" {WORD} [ a 7 ] "))))
                .chain(begins().map(|at| insert(at, &format!(" {WORD} [ ] "))))
                .chain(beside)
                .collect()
        }
        Some("conf") => text
            .lines()
            .filter_map(|line| line.split_once('[').map(|(device, _)| device))
            .map(|device| format!("{text}\n{device}[{WORD}]=7\n"))
            .chain([format!("{text}\nLAB_{WORD}=7\n")])
            .collect(),
        _ => Vec::new(),
    }
}

/// The YAML file with the word in each of its maps that stand in lines.
fn blocks(text: &str) -> Vec<String> {
    let begins = lines(text, |line| line.ends_with(':') && !line.trim_start().starts_with('#'));
    let is_map = |(at, indent): &(usize, usize)| {
        let rest = &text[*at..];
        rest.starts_with(&" ".repeat(indent + 2)) && !rest.trim_start().starts_with('-')
    };
    let added =
        |(at, indent): (usize, usize)| format!("{}{}{WORD}: 7\n{}", &text[..at], " ".repeat(indent + 2), &text[at..]);
    begins.into_iter().filter(is_map).map(added).chain([format!("{WORD}: 7\n{text}")]).collect()
}

/// The places behind what `length` finds at the beginning of a rest of the text.
fn after(text: &str, length: impl Fn(&str) -> Option<usize>) -> Vec<usize> {
    text.char_indices().filter_map(|(at, _)| Some(at + length(&text[at..])?)).collect()
}

/// The places in maps of YAML that stand in braces.
fn maps(text: &str) -> Vec<usize> {
    let is_map = |rest: &str| rest.starts_with(|one: char| one.is_ascii_lowercase());
    let found = after(text, |rest| rest.strip_prefix('{').filter(|rest| is_map(rest)).map(|_| 1));
    found.into_iter().filter(|at| !text[..*at].ends_with("${")).collect()
}

/// The places in objects of JSON that have entries.
fn objects(text: &str) -> Vec<usize> {
    after(text, |rest| rest.strip_prefix('{').filter(|rest| rest.trim_start().starts_with('"')).map(|_| 1))
}

/// The places behind such lines, each with the indentation of its line.
fn lines(text: &str, is_such: impl Fn(&str) -> bool) -> Vec<(usize, usize)> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        at += line.len();
        if is_such(line.trim_end()) {
            found.push((at, line.len() - line.trim_start().len()));
        }
    }
    found
}

#[test]
fn nothing_that_is_added_to_a_file_is_left_out_in_silence() {
    let folder = Path::new("tests/files");
    let entries = fs::read_dir(folder).expect("the folder with foreign files");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.iter_mut().filter(|path| path.is_dir()).for_each(|path| path.push("lab.conf"));
    paths.sort();
    let (mut tried, mut silent) = (0, String::new());
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Some(format) = Format::of(&path, &text) else { continue };
        for changed in extended(&path, &text) {
            tried += 1;
            let (number, said) = changed
                .lines()
                .enumerate()
                .find(|(_, line)| line.to_lowercase().contains(WORD))
                .unwrap_or_else(|| panic!("{}: nothing was added", path.display()));
            let above = changed.lines().nth(number.saturating_sub(1)).unwrap_or_default();
            let is_covered = COVERED.iter().any(|covered| {
                let plain = said.replace(&format!(" {WORD}=\"7\""), "").replace(&format!("\"{WORD}\": \"7\","), "");
                let plain = plain.replace(&format!("{WORD}: 7, "), "");
                plain.contains(covered) || above.contains(covered)
            });
            if !is_covered && is_silent(format, &path, &changed) {
                let line = number + 1;
                silent.push_str(&format!("{}:{line}: {said}\n", path.display()));
            }
        }
    }
    assert!(tried > 100, "only {tried} files were tried");
    assert!(silent.is_empty(), "\n{silent}");
}

/// What a line of a script of ns-2 has that only draws, traces or measures, or is noted as a whole.
const WATCHED: [&str; 11] = [
    "initial_node_pos",
    "load_flatgrid",
    "color",
    "namtrace-all",
    "flush-trace",
    "monitor-queue",
    "trace cwnd_",
    "attach $file1",
    "frobnicate",
    "tb-set-node-os",
    "tb-set-hardware",
];

/// The lines that may stand in the place of one of a script: with a command more, with a method and an attribute that its object does
/// not have, and with a word more.
fn variants(line: &str) -> Vec<String> {
    let mut found = vec![format!("{WORD} 7\n{line}")];
    let plain = line.trim();
    if let Some(object) = plain.split_whitespace().next().filter(|word| word.starts_with('$')) {
        found.extend([format!("{object} {WORD} 7\n{line}"), format!("{object} set {WORD}_ 7\n{line}")]);
    }
    let is_class = plain.starts_with(|letter: char| letter.is_ascii_uppercase());
    let is_made = plain.contains("[$") || plain.contains("[new ");
    let is_command = is_class || is_made || plain.starts_with('$') || plain.starts_with("tb-");
    let is_whole = !plain.ends_with(['{', '}', '\\']) && !WATCHED.iter().any(|word| plain.contains(word));
    if is_command && is_whole {
        let end = match plain {
            _ if plain.ends_with(['"', ']']) && !plain.starts_with("tb-") => line.trim_end().len() - 1,
            _ => line.trim_end().len(),
        };
        found.push(format!("{} {WORD}{}", &line[..end], &line[end..]));
    }
    found
}

/// Every command, word, method and attribute that is added to a script of ns-2 where it runs is used or noted, with its line.
#[test]
fn nothing_that_is_added_to_a_script_of_ns_2_is_left_out_in_silence() {
    let (mut tried, mut silent) = (0, String::new());
    let entries = fs::read_dir("tests/files").expect("the folder with foreign files");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "tcl" || ending == "ns"));
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a text");
        let name = path.to_string_lossy();
        let made = |lines: &[&str], number: usize, line: &str| {
            let changed = [&lines[..number], &[line], &lines[number + 1..]].concat().join("\n");
            read(Format::Ns2, &name, changed, &Options::default())
        };
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            // Whether something runs: an error there is reported. What does not run means nothing in ns-2, either.
            let is_run = |probe: &str| match made(&lines, number, probe) {
                Ok(imported) => imported.notes().any(|note| note.contains("zzprobe")),
                Err(errors) => errors.to_string().contains("the script fails: zzprobe"),
            };
            let is_line_run = is_run(&format!("error zzprobe\n{line}"));
            // An event may come after the end.
            let event = line.split_once('"').filter(|_| line.contains(" at ") && line.trim_end().ends_with('"'));
            let is_event_run = event.is_none_or(|(before, _)| is_run(&format!("{before}\"error zzprobe\"")));
            let is_tried = |variant: &String| is_line_run && (is_event_run || variant.contains('\n'));
            for variant in variants(line).into_iter().filter(is_tried) {
                tried += 1;
                let is_silent = made(&lines, number, &variant).is_ok_and(|imported| {
                    let begin = format!("{name}:{}: ", number + 1);
                    !imported.notes().any(|note| note.starts_with(&begin) && note.to_lowercase().contains(WORD))
                });
                if is_silent {
                    silent.push_str(&format!("{name}:{}: {variant}\n", number + 1));
                }
            }
        }
    }
    assert!(tried > 300, "only {tried} scripts were tried");
    assert!(silent.is_empty(), "\n{silent}");
}

/// A copy of a folder, with a line more in each of its files.
fn copy(from: &Path, to: &Path, line: &str) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().expect("its kind").is_dir() {
            copy(&source, &target, line);
        } else if entry.file_type().expect("its kind").is_file() {
            let text = fs::read_to_string(&source).expect("a text");
            let is_lab = source.file_name().is_some_and(|name| name == "lab.conf");
            fs::write(target, if is_lab { text } else { format!("{text}\n{line}\n") }).expect("a file");
        }
    }
}

/// A word for each file of a lab of Kathará: its scripts, the files of its daemons and of its interfaces, its dependencies.
#[test]
fn nothing_that_is_added_to_a_script_is_left_out_in_silence() {
    for name in ["kathara", "inits-kathara", "routed-kathara", "debian-kathara", "flush-kathara", "shared-kathara"] {
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
        copy(&Path::new("tests/files").join(name), &to, &format!("{WORD} now"));
        let path = to.join("lab.conf");
        let text = fs::read_to_string(&path).expect("a text");
        let imported = read(Format::Kathara, &path.to_string_lossy(), text, &Options::default()).expect("a lab");
        let said = imported.yaml().matches(WORD).count();
        let mut wanted = 0;
        let mut left = vec![to.clone()];
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                let file = entry.to_string_lossy().into_owned();
                let is_read = [".startup", "lab.dep", "/interfaces", "/daemons", "/frr.conf", "ripd.conf"];
                wanted += usize::from(is_read.iter().any(|ending| file.ends_with(ending)));
                left.extend(Some(entry).filter(|entry| entry.is_dir()));
            }
        }
        fs::remove_dir_all(&to).expect("it goes");
        assert!(wanted > 0 && said >= wanted, "{name}: {said} of {wanted}\n{}", imported.yaml());
    }
}
