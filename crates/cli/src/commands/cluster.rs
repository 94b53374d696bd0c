//! Runs on a cluster of Ray: the Python package hands them to it, and calls this program again.

/// The arguments of this command without those that say where runs are played.
pub(super) fn without_cluster(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--on" => drop(words.next()),
            _ if word.starts_with("--on=") => {}
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_cluster_is_left_out() {
        let made = |words: &str| without_cluster(words.split(' ').map(str::to_owned)).join(" ");
        assert_eq!(made("hunt a.yaml --on ray -o out"), "hunt a.yaml -o out");
        assert_eq!(made("hunt --on=ray://h:1 a.yaml --json"), "hunt a.yaml --json");
    }
}
