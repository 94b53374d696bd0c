//! The processor that the programs of kernel nodes see.

use crate::fixture::{Fixture, User};
use std::fs;

const LAB: &str = "
name: levels
clock: virtual
nodes:
  old: {cpu: {level: x86-64}}
  middle: {cpu: {level: x86-64-v2}}
  own: {env: {GODEBUG: 'cpu.avx2=off'}, cpu: {level: x86-64-v2}}
  host: {}
links:
  one: {ends: [old, middle], delay: 1 ms}
  other: {ends: [own, host], delay: 1 ms}
timeline:
";

/// What a program finds: the flags of its kernel, `AT_HWCAP`, the levels whose libraries the C library would take, and variables.
const LOOK: &str = "grep ^flags /proc/cpuinfo; grep ^host /proc/cpuinfo; LD_SHOW_AUXV=1 /bin/true | grep AT_HWCAP: | tr -s \" \"; \
                    ld.so --help | grep -o \"x86-64-v[234] (supported\"; echo $GODEBUG $OPENSSL_ia32cap";

#[test]
fn programs_see_a_processor_of_the_level_of_their_node() {
    let fixture = Fixture::new(User::Own);
    let nodes = ["old", "middle", "own", "host"];
    let look = |node: &&str| format!("  - {{on: {node}, run: '{LOOK}', save: {node}.txt}}\n");
    fixture.write("levels.yaml", &format!("{LAB}{}", nodes.iter().map(look).collect::<String>()));
    fixture.netloom(&["run", "levels.yaml"]).expect_code(0);
    let saved = |node| fs::read_to_string(fixture.latest("levels").join(format!("{node}.txt"))).unwrap();
    let [old, middle, own, host] = nodes.map(saved);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let flags = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 syscall nx lm";
    let flags_of = |text: &str| {
        let line = lines(text).remove(0);
        let mut all: Vec<String> = line.split_once(": ").unwrap().1.split(' ').map(str::to_owned).collect();
        all.sort();
        all
    };
    let mut expected: Vec<String> = flags.split(' ').map(str::to_owned).collect();
    // A kernel finds `ss` in `sse`, and `pn` in `pni`, wherever it runs.
    expected.push("ss".to_owned());
    expected.sort();
    assert_eq!(flags_of(&old), expected);
    expected.extend(["pn", "pni", "ssse3", "cx16", "sse4_1", "sse4_2", "popcnt", "lahf_lm"].map(str::to_owned));
    expected.sort();
    assert_eq!(flags_of(&middle), expected);
    assert_eq!(lines(&old)[1..3], ["host\t\t: Linux machine - - x86_64", "AT_HWCAP: 78bfbff"]);
    assert_eq!(lines(&old)[3], "cpu.all=off 0x78bfbff:0x0", "{old}");
    assert_eq!(lines(&middle)[3..], ["x86-64-v2 (supported", "cpu.all=off 0x982201078bfbff:0x0"], "{middle}");
    assert_eq!(lines(&own).last().unwrap(), "cpu.avx2=off 0x982201078bfbff:0x0");
    assert!(!host.contains("host\t\t: Linux machine") && lines(&host).last().unwrap().trim().is_empty(), "{host}");
}

/// How many system calls the agent and what it starts make before there is a program depends on the machine's C library; here on the
/// folders in which the program is looked for.
#[test]
fn how_a_program_is_found_takes_no_lab_time() {
    let fixture = Fixture::new(User::Own);
    let missing: String = (0..40).map(|number| format!("/missing/{number}:")).collect();
    let rest = "x".repeat(missing.len());
    let captured = [(missing.as_str(), ""), ("", rest.as_str())].map(|(first, fill)| {
        // The environment is as long, so that the stack begins at the same address.
        let lab = format!(
            "
name: found
clock: virtual
nodes: {{a: {{env: {{PATH: '{first}/usr/bin:/bin', FILL: '{fill}'}}}}, b: {{}}}}
links: {{l: {{ends: [a, b], delay: 1 ms}}}}
timeline:
  - {{on: a, run: [ping, -c, '3', -i, '0.1', b]}}
  - {{at: 50 ms, on: a, run: [ping, -c, '1', b]}}
capture: [l]
"
        );
        fixture.write("lab.yaml", &lab);
        fixture.netloom(&["run", "lab.yaml"]).expect_code(0);
        fs::read(fixture.latest("found").join("captures/l.pcapng")).unwrap()
    });
    let [far, near] = captured;
    assert!(far.len() > 1_000 && far == near);
}
