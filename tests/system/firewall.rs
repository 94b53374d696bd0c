//! Firewalls of nodes.

use crate::fixture::{Fixture, User, is_root, ran};

/// A client, a router with a firewall and a server with two services.
const LAB: &str = "
name: walled
bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}
links: {a: {ends: [client, r]}, b: {ends: [r, server]}}
timeline:
  - {on: server, run: python3 -m http.server 80, as: open, ready: {tcp: 80}}
  - {on: server, run: python3 -m http.server 81, as: closed, ready: {tcp: 81}}
  - {on: client, run: ping -4 -c 1 server, as: ping}
  - {on: client, run: 'exec 3<>/dev/tcp/server/80', as: first}
  - {on: client, run: 'exec 3<>/dev/tcp/server/81', as: second}
expect: [ping.exit == 0, first.exit == 0, second.exit == 1]
";

/// The lab, whose commands are those of bash, with a firewall in the router.
fn lab(firewall: &str) -> String {
    let commands = LAB.replace("run: 'exec 3<>", "run: [bash, -c, 'exec 3<>").replace("', as: ", "'], as: ");
    format!("{commands}nodes:\n  client: {{}}\n  server: {{}}\n  r:\n    kind: router\n    firewall: {firewall}\n")
}

const NFT: &str = "table inet own {
  chain passing {
    type filter hook forward priority filter;
    tcp dport 81 reject with tcp reset
  }
}
";

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| format!("      {line}\n"));
    format!("|\n{}", lines.collect::<String>())
}

#[test]
fn a_firewall_lets_through_what_it_says_and_the_network_is_as_described() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("walled.yaml", &lab(&indented(NFT)));
        let run = ran(fixture.netloom(&["run", "walled.yaml"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        // From a file beside the lab file, from wherever netloom is started; and with iptables.
        fixture.run("mkdir", &["labs"]).expect_code(0);
        fixture.write("labs/rules.nft", NFT);
        fixture.write("labs/walled.yaml", &lab("rules.nft"));
        fixture.netloom(&["run", "labs/walled.yaml"]).expect_code(0);
        let rules = "*filter\n-A FORWARD -p tcp --dport 81 -j REJECT --reject-with tcp-reset\nCOMMIT\n";
        fixture.write("walled.yaml", &lab(&format!("\n      iptables: {}", indented(rules).replace("\n ", "\n   "))));
        ran(fixture.netloom(&["run", "walled.yaml"])).expect_code(0);
        fixture.assert_nothing_is_left("walled");
    }
}

#[test]
fn what_a_firewall_drops_is_no_fault_of_the_network() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let text = "
name: silent
nodes:
  a: {}
  b:
    firewall: |
      table inet own {
        chain in { type filter hook input priority filter; policy drop; icmp type echo-request limit rate 1/hour burst 1 packets accept; }
        chain out { type filter hook output priority filter; udp dport 9 drop; }
      }
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {on: a, run: 'ping -4 -q -i 0.1 -c 5 b', as: ping, may_fail: true}
expect: [ping.stdout contains \"1 received\"]
bounds: {lateness: 100 s, delay: 100 %, starts: 100 s, events: 100 s}
";
    fixture.write("silent.yaml", text);
    for clock in ["real", "virtual"] {
        let run =
            ran(fixture.netloom(&["run", "silent.yaml", "--clock", clock, "--wall-limit", "200s"])).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
    }
}

#[test]
fn a_wrong_rule_is_told_with_its_line_in_the_lab_file() {
    let fixture = Fixture::new(if is_root() { User::Nobody } else { User::Own });
    let text = lab(&indented(&NFT.replace("tcp dport 81", "tcp dprot 81")));
    let line = text.lines().position(|line| line.contains("dprot")).unwrap() + 1;
    fixture.write("walled.yaml", &text);
    let run = ran(fixture.netloom(&["run", "walled.yaml"])).expect_code(1);
    assert!(run.stderr.contains("setup of r: `firewall-r` ended with code 1"), "{run:#?}");
    assert!(run.stderr.contains(&format!("/dev/stdin:{line}:9-13: Error: syntax error")), "{line}: {run:#?}");
    fixture.write("rules.v4", "*filter\n-A FORWARD -p nothing\nCOMMIT\n");
    fixture.write("walled.yaml", &lab("{iptables: rules.v4}"));
    let other = fixture.netloom(&["run", "walled.yaml"]).expect_code(1);
    assert!(other.stderr.contains("Error occurred at line: 2"), "{other:#?}");
}
