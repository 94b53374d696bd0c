//! Names of nodes inside nodes.

use crate::fixture::{Fixture, User};
use std::fmt::Write;

/// Hosts with a link between any two, of which each asks for all others by name. What this machine is late is of no
/// interest.
fn mesh(names: &[&str], clock: &str) -> String {
    let mut lab = format!(
        "name: mesh\nclock: {clock}\nbounds: {{lateness: 100 s, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}\n"
    );
    writeln!(lab, "nodes: [{}]\nlinks:", names.join(", ")).unwrap();
    for (place, one) in names.iter().enumerate() {
        for other in &names[place + 1..] {
            writeln!(lab, "  {one}{other}: {{ends: [{one}, {other}], delay: 1 ms}}").unwrap();
        }
    }
    lab.push_str("timeline:\n");
    for one in names {
        for other in names.iter().filter(|other| *other != one) {
            for family in [4, 6] {
                let run = format!("ping -{family} -c 1 -W 20 {other}");
                writeln!(lab, "  - {{on: {one}, run: '{run}', as: {one}{other}{family}}}").unwrap();
            }
        }
    }
    // What two nodes ask one another and answer crosses the link between them.
    let links = names.len() * (names.len() - 1) / 2;
    lab.push_str("expect:\n");
    for number in 0..links {
        let link = lab.lines().nth(5 + number).unwrap().trim().split(':').next().unwrap().to_owned();
        writeln!(lab, "  - {link}.packets >= 4 packets").unwrap();
    }
    lab
}

#[test]
fn every_host_of_a_mesh_finds_all_others() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("mesh.yaml", &mesh(&["a", "b", "c", "d", "e"], "real"));
        fixture.netloom(&["run", "mesh.yaml"]).expect_code(0);
        fixture.assert_nothing_is_left("mesh");
    }
}

/// In a file system of its own, too, of which the names are a part from the beginning.
#[test]
fn hosts_with_files_of_their_own_find_all_others() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let own = "nodes: {a: {root: overlay}, b: {files: {/etc/own: empty}}, c: {}}";
        fixture.write("mesh.yaml", &mesh(&["a", "b", "c"], "real").replace("nodes: [a, b, c]", own));
        fixture.netloom(&["run", "mesh.yaml"]).expect_code(0);
        fixture.assert_nothing_is_left("mesh");
    }
}

#[test]
fn kernel_nodes_of_a_mesh_find_all_others() {
    let fixture = Fixture::new(User::Own);
    fixture.write("mesh.yaml", &mesh(&["a", "b", "c"], "virtual"));
    fixture.netloom(&["run", "mesh.yaml"]).expect_code(0);
    fixture.assert_nothing_is_left("mesh");
}
