//! A program in several nodes at a time, each line of its output behind the node's name.

use super::{Failure, Outcome};
use crate::talk::say;
use netloom_control::{Client, ControlError, Exec, Topology};
use netloom_judge::ExitCode;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{scope, spawn};
use std::time::Duration;

/// Nodes in which the program runs at a time.
const AT_A_TIME: usize = 64;
/// The longest line that stays one.
const LONGEST_LINE: u64 = 64 << 10;
/// Lines that wait to be shown.
const WAITING: usize = 64;
/// What was started in the background may hold the outputs: after the program's end, the rest is waited for so long.
const REST: Duration = Duration::from_millis(300);

/// Whether this is no name of a node but a pattern of names.
pub(in crate::commands) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Those nodes of a lab that run programs and whose names match the pattern; all of them without one.
pub(super) fn matching(topology: &Topology, pattern: Option<&str>) -> Result<Vec<String>, Failure> {
    let runs = topology.nodes.iter().filter(|node| node.stack != "engine").map(|node| node.name.as_str());
    let found: Vec<String> =
        runs.clone().filter(|name| pattern.is_none_or(|pattern| matches(pattern, name))).map(str::to_owned).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let known: Vec<&str> = runs.take(20).collect();
    let what = pattern.map_or_else(|| "runs programs".to_owned(), |pattern| format!("has a name like `{pattern}`"));
    let message = format!("no node {what}: these run programs: {}", known.join(", "));
    Err(Failure::new(ExitCode::Usage, message))
}

/// `*` stands for any letters, `?` for one.
pub(in crate::commands) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[in_name] => (at, in_name) = (at + 1, in_name + 1),
            // The last star takes one letter more.
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, in_name) = (place + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

/// Runs the program in all these nodes, and ends with the greatest of its exit codes.
pub(super) fn run(lab: &str, nodes: &[String], exec: &Exec) -> Outcome {
    let width = nodes.iter().map(|node| node.chars().count()).max().unwrap_or(0);
    let (next, codes) = (AtomicUsize::new(0), Mutex::new(BTreeMap::<u8, Vec<&str>>::new()));
    scope(|threads| {
        for _ in 0..nodes.len().min(AT_A_TIME) {
            threads.spawn(|| {
                while let Some(node) = nodes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let label = format!("{node:width$}");
                    let code =
                        in_node(lab, &label, Exec { node: node.clone(), ..exec.clone() }).unwrap_or_else(|error| {
                            print(&mut anstream::stderr(), &label, '!', error.to_string().as_bytes());
                            error.exit_code().number()
                        });
                    codes.lock().expect("nobody panics while holding it").entry(code).or_default().push(node);
                }
            });
        }
    });
    let codes = codes.into_inner().expect("nobody panics while holding it");
    if codes.len() > 1 {
        for (code, ended) in codes.iter().filter(|(code, _)| **code > 0) {
            say(&format!("exit code {code} on {}", ended.join(", ")));
        }
    }
    Ok(codes.last_key_value().map_or(0, |(code, _)| *code))
}

/// What comes of a program.
enum Heard {
    /// A line of one of its outputs, with the mark of that.
    Line(char, Vec<u8>),
    /// All who held an output have closed it.
    Closed,
    Ended(Result<i32, ControlError>),
}

/// Runs the program in one of them; its exit code.
fn in_node(lab: &str, label: &str, exec: Exec) -> Result<u8, ControlError> {
    let nothing = File::open("/dev/null").map_err(ControlError::Join)?;
    let ((stdout, out), (stderr, errors)) = (pipe().map_err(ControlError::Join)?, pipe().map_err(ControlError::Join)?);
    let mut client = Client::connect(lab)?;
    client.exec(exec, [nothing.as_fd(), out.as_fd(), errors.as_fd()])?;
    drop((out, errors));
    let (sender, heard) = sync_channel(WAITING);
    // Nobody waits for those whose output something else holds open.
    for (output, mark) in [(stdout, '|'), (stderr, '!')] {
        let sender = sender.clone();
        spawn(move || read(output, mark, &sender));
    }
    spawn(move || sender.send(Heard::Ended(exit_code(&mut client))));
    let code = show(&heard, label, (&mut anstream::stdout(), &mut anstream::stderr()))?;
    // Exit codes have eight bits, as the kernel has it.
    Ok(u8::try_from(code & 0xff).expect("masked to eight bits"))
}

fn exit_code(client: &mut Client) -> Result<i32, ControlError> {
    let mut is_readable = false;
    loop {
        if let Some(code) = client.exit_code(is_readable)? {
            return Ok(code);
        }
        is_readable = true;
    }
}

/// Passes an output on, line by line.
fn read(output: impl Read, mark: char, to: &SyncSender<Heard>) {
    let mut lines = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        match (&mut lines).take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                line.pop_if(|last| *last == b'\n');
                if to.send(Heard::Line(mark, line)).is_err() {
                    return;
                }
            }
        }
    }
    let _ = to.send(Heard::Closed);
}

/// Shows what comes until the program has ended and its outputs are closed, or nothing more comes; its exit code.
fn show(
    heard: &Receiver<Heard>,
    label: &str,
    (out, errors): (&mut impl Write, &mut impl Write),
) -> Result<i32, ControlError> {
    let (mut code, mut open) = (None, 2);
    while code.is_none() || open > 0 {
        let next = if code.is_some() { heard.recv_timeout(REST).ok() } else { heard.recv().ok() };
        match next {
            Some(Heard::Line('|', line)) => print(out, label, '|', &line),
            Some(Heard::Line(mark, line)) => print(errors, label, mark, &line),
            Some(Heard::Closed) => open -= 1,
            Some(Heard::Ended(ended)) => code = Some(ended?),
            None => break,
        }
    }
    Ok(code.unwrap_or_default())
}

/// Writes a line in one go, so that those of several nodes do not mix.
fn print(to: &mut impl Write, label: &str, mark: char, line: &[u8]) {
    let mut whole = format!("{label} {mark} ").into_bytes();
    whole.extend_from_slice(line);
    whole.push(b'\n');
    // A reader that has gone wants no more; the exit code is still worth knowing.
    let _ = to.write_all(&whole);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        for (pattern, name, is_so) in [
            ("*", "h1", true),
            ("h*", "h1", true),
            ("h*", "r1", false),
            ("h?", "h1", true),
            ("h?", "h12", false),
            ("*-leaf*", "a-leaf", true),
            ("*1*2", "h1x1y2", true),
            ("*1*2", "h1x1y", false),
            ("", "h", false),
            ("**", "", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), is_so, "{pattern} {name}");
        }
    }

    #[test]
    fn lines_of_a_program_stand_behind_its_node() {
        let (from, mut to) = pipe().unwrap();
        to.write_all(b"one\ntwo\n").unwrap();
        let (sender, heard) = sync_channel(WAITING);
        let reader = sender.clone();
        spawn(move || read(from, '|', &reader));
        sender.send(Heard::Line('!', b"wrong".to_vec())).unwrap();
        sender.send(Heard::Ended(Ok(7))).unwrap();
        let (mut told, mut wrong) = (Vec::new(), Vec::new());
        // Something else holds the output open, and the program has ended.
        assert_eq!(show(&heard, "h1", (&mut told, &mut wrong)).unwrap(), 7);
        drop(to);
        assert_eq!(String::from_utf8(told).unwrap(), "h1 | one\nh1 | two\n");
        assert_eq!(String::from_utf8(wrong).unwrap(), "h1 ! wrong\n");
    }
}
