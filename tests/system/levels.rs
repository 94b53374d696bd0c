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
