use super::*;
use netloom_fuzz::{fuzz, mutated};

/// What tcpdump 4.99.3 makes of `tcp port 80` for Ethernet.
const TCP_PORT_80: &str = "20\n40 0 0 12\n21 0 6 34525\n48 0 0 20\n21 0 15 6\n40 0 0 54\n21 12 0 80\n40 0 0 56\n21 10 11 80\n\
    21 0 10 2048\n48 0 0 23\n21 0 8 6\n40 0 0 20\n69 6 0 8191\n177 0 0 14\n72 0 0 14\n21 2 0 80\n72 0 0 16\n21 0 1 80\n\
    6 0 0 262144\n6 0 0 0\n";

/// Ethernet, IPv4 with so many words of header, and a segment with these ports.
fn packet(protocol: u8, words: u8, ports: [u16; 2]) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    bytes.extend([8, 0, 0x40 | words]);
    bytes.resize(14 + 4 * usize::from(words), 0);
    bytes[23] = protocol;
    ports.iter().for_each(|port| bytes.extend(port.to_be_bytes()));
    bytes.resize(bytes.len() + 40, 0);
    bytes
}

#[test]
fn a_program_of_tcpdump_chooses_packets() {
    let program = FilterProgram::parse(TCP_PORT_80).unwrap();
    assert!(program.wants(&packet(6, 5, [80, 5_000])) && program.wants(&packet(6, 5, [5_000, 80])));
    assert!(program.wants(&packet(6, 7, [5_000, 80])), "options before the ports");
    assert!(!program.wants(&packet(17, 5, [80, 80])) && !program.wants(&packet(6, 5, [81, 8_080])));
    let mut fragment = packet(6, 5, [80, 80]);
    fragment[21] = 1;
    assert!(!program.wants(&fragment));
    assert!(!program.wants(&packet(6, 5, [80, 80])[..30]), "too short to tell");
    assert!(!program.wants(&[]));
}

/// Each operation, worked out by hand; the result is what the program returns for the packet 1, 2, 3, 4, 5.
#[test]
fn every_operation_does_what_it_should() {
    let run = |lines: &[&str]| {
        let text = format!("{}\n{}\n22 0 0 0\n", lines.len() + 1, lines.join("\n"));
        FilterProgram::parse(&text).unwrap().run(&[1, 2, 3, 4, 5])
    };
    assert_eq!(run(&["32 0 0 0"]), Some(0x0102_0304));
    assert_eq!(run(&["40 0 0 3"]), Some(0x0405));
    assert_eq!(run(&["48 0 0 4"]), Some(5));
    assert_eq!(run(&["48 0 0 5"]), None);
    assert_eq!(run(&["128 0 0 0"]), Some(5));
    assert_eq!(run(&["1 0 0 2", "80 0 0 1"]), Some(4));
    assert_eq!(run(&["1 0 0 4294967295", "80 0 0 4294967295"]), None);
    assert_eq!(run(&["0 0 0 9", "2 0 0 15", "0 0 0 1", "96 0 0 15"]), Some(9));
    assert_eq!(run(&["1 0 0 7", "3 0 0 0", "97 0 0 0", "135 0 0 0"]), Some(7));
    assert_eq!(run(&["129 0 0 0", "135 0 0 0"]), Some(5));
    assert_eq!(run(&["177 0 0 4", "135 0 0 0"]), Some(20));
    assert_eq!(run(&["0 0 0 6", "7 0 0 0", "0 0 0 7", "12 0 0 0"]), Some(13));
    assert_eq!(run(&["0 0 0 6", "132 0 0 0", "4 0 0 7"]), Some(1));
    for (code, b, expected) in [
        (4, 3, 13),
        (20, 5, 5),
        (36, 3, 30),
        (52, 2, 5),
        (68, 3, 11),
        (84, 3, 2),
        (100, 2, 40),
        (116, 2, 2),
        (148, 3, 1),
        (164, 3, 9),
    ] {
        assert_eq!(run(&["0 0 0 10", &format!("{code} 0 0 {b}")]), Some(expected), "{code}");
    }
    assert_eq!(run(&["0 0 0 1", "100 0 0 32"]), Some(0));
    // Divided by X, which is zero.
    assert_eq!(run(&["0 0 0 1", "60 0 0 0"]), None);
    for (code, (jumps, stays)) in [(21, (7, 8)), (37, (8, 7)), (53, (7, 6)), (69, (7, 8))] {
        for (value, expected) in [(jumps, 1), (stays, 0)] {
            let test = [&format!("0 0 0 {value}"), &format!("{code} 1 0 7"), "6 0 0 0", "6 0 0 1"].map(str::to_owned);
            let lines: Vec<&str> = test.iter().map(String::as_str).collect();
            assert_eq!(run(&lines), Some(expected), "{code} {value}");
        }
    }
    assert_eq!(run(&["5 0 0 1", "6 0 0 0", "6 0 0 1"]), Some(1));
}

#[test]
fn what_would_not_end_or_leaves_its_bounds_is_no_program() {
    let wrong = |text: &str| FilterProgram::parse(text).unwrap_err().to_string();
    for (text, expected) in [
        ("", "line 1 is not one of a program"),
        ("0\n", "it does not end"),
        ("1\n0 0 0\n", "line 2 is not one of a program"),
        ("1\n70000 0 0 0\n", "line 2 is not one of a program"),
        ("2\n6 0 0 0\n", "there are 1 instructions, not 2"),
        ("1\n0 0 0 1\n", "it does not end"),
        ("1\n24 0 0 1\n", "instruction 0 is unknown"),
        ("2\n5 0 0 1\n6 0 0 0\n", "instruction 0 leads out of the program"),
        ("2\n5 0 0 4294967295\n6 0 0 0\n", "instruction 0 leads out of the program"),
        ("2\n21 0 1 1\n6 0 0 0\n", "instruction 0 leads out of the program"),
        ("2\n2 0 0 16\n6 0 0 0\n", "instruction 0 uses memory that there is not"),
        ("2\n52 0 0 0\n6 0 0 0\n", "instruction 0 divides by zero"),
    ] {
        assert_eq!(wrong(text), expected, "{text:?}");
    }
    let long = format!("5000\n{}", "6 0 0 0\n".repeat(5_000));
    assert!(FilterProgram::parse(&long).is_err());
}

/// A program with a number changed is refused, or ends and touches nothing else.
#[test]
fn fuzz_filter_programs() {
    fuzz("filter_programs", 500, &mutated(vec![TCP_PORT_80.to_owned()]), |text| {
        if let Ok(program) = FilterProgram::parse(&text) {
            for length in [0, 13, 34, 94] {
                program.wants(&packet(6, 10, [80, 5_000])[..length]);
            }
        }
    });
}
