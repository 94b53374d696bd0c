use super::{PROFILES, Profile};
use crate::{models, parse};
use netloom_link::PipeConfig;

/// The keys and values of both directions of the link `l`.
fn became(settings: &str) -> [String; 2] {
    let text = format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b], {settings}}}}}\n");
    let lab = parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}"));
    lab.plan.links[0].pipes.each_ref().map(said)
}

fn said(pipe: &PipeConfig) -> String {
    models::written(pipe).into_iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", ")
}

fn wrong(text: &str) -> String {
    parse(text, "test.yaml").expect_err("it is wrong").to_string()
}

#[test]
fn every_profile_is_a_link() {
    for profile in PROFILES {
        let ways = became(&format!("profile: {}", profile.name));
        for (way, pipe) in ways.iter().zip(profile.pipes()) {
            assert_eq!(*way, said(&pipe), "{}", profile.name);
            assert!(way.contains("rate: "), "{}", profile.name);
        }
    }
}

/// Every row of the manual's table says what the code says, in its order.
#[test]
fn the_table_of_the_manual_is_the_code() {
    let page = include_str!("../../../../docs/models/profiles.md");
    let rows = page.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 6);
    let cell = |way: &[(&str, &str)]| {
        let keys: Vec<String> = way.iter().map(|(key, value)| format!("`{key}: {value}`")).collect();
        keys.join(", ")
    };
    let expected: Vec<String> = PROFILES
        .iter()
        .map(|Profile { name, about, ways: [up, down] }| {
            format!("| `{name}` | {about} | {} | {} |", cell(up), cell(down))
        })
        .collect();
    let found: Vec<&str> = rows.map(|row| row.rsplit_once("| [").map_or(row, |(row, _)| row).trim_end()).collect();
    let found: Vec<String> =
        found.into_iter().map(|row| if row.ends_with('|') { row.into() } else { format!("{row} |") }).collect();
    assert_eq!(found, expected);
    // Each row names a source, and each source is there.
    for row in page.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 6) {
        let (_, sources) = row.rsplit_once("| [").expect("a row ends with its sources");
        for part in sources.split("](#").skip(1) {
            let anchor = part.split(')').next().unwrap_or_default();
            assert!(page.contains(&format!("### {}", anchor.replace('-', " "))), "{anchor} of {row}");
        }
    }
}

#[test]
fn keys_of_the_link_override_those_of_its_profile() {
    assert_eq!(became("profile: geo"), ["rate: 2.96 Mbit/s, delay: 314.5 ms", "rate: 18.75 Mbit/s, delay: 314.5 ms"]);
    assert_eq!(
        became("profile: geo, delay: 300 ms, loss: 1 %, backward: {rate: 50 Mbit/s}"),
        ["rate: 2.96 Mbit/s, delay: 300 ms, loss: 1 %", "rate: 50 Mbit/s, delay: 300 ms, loss: 1 %"]
    );
    // A string stands for all that its tool says: for netem that is all but the rate.
    assert_eq!(
        became("profile: geo, netem: loss 2%"),
        ["rate: 2.96 Mbit/s, loss: 2 %", "rate: 18.75 Mbit/s, loss: 2 %"]
    );
}

#[test]
fn the_delay_of_a_profile_comes_before_that_of_a_generator() {
    let text = "generate: {kind: waxman, n: 3, hosts: 0, link: {profile: dsl}}\n";
    let lab = parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}"));
    for link in &lab.plan.links {
        assert_eq!(said(&link.pipes[0]), "rate: 384 kbit/s, delay: 25 ms", "{}", link.name);
    }
}

#[test]
fn errors_say_what_would_be_right() {
    let unknown = wrong("nodes: [a, b]\nlinks:\n  l: {ends: [a, b], profile: starlnk}\n");
    assert!(
        unknown.contains("there is no profile `starlnk`: did you mean `starlink`? known are dial-up, 2g,"),
        "{unknown}"
    );
    assert!(unknown.contains("test.yaml:3"), "{unknown}");
    let medium = wrong("nodes: [a, b, c]\nlinks:\n  l: {ends: [a, b, c], medium: shared, profile: dsl}\n");
    assert!(medium.contains("a profile has an uplink and a downlink"), "{medium}");
    let number = wrong("nodes: [a, b]\nlinks:\n  l: {ends: [a, b], profile: [dsl]}\n");
    assert!(number.contains("links.l.profile"), "{number}");
}
