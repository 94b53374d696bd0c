use super::*;

fn plan(top: &str, links: &str) -> Plan {
    let nodes = "a: {}, b: {}, c: {}, d: {}, r1: {kind: transit}, r2: {kind: transit}";
    let text = format!("name: x\n{top}\nnodes: {{{nodes}}}\nlinks: {{{links}}}\n");
    netloom_lab::parse(&text, "x.yaml").unwrap_or_else(|errors| panic!("{}", errors.render_styled())).plan
}

const PAIRS: &str = "ab: {ends: [a, b], rate: 1 Mbit/s}, cd: {ends: [c, d], rate: 1 Mbit/s}";
const CHAIN: &str = "in: {ends: [a, r1]}, mid: {ends: [r1, r2], delay: 1 ms}, out: {ends: [r2, b]}";

fn count(plan: &Plan, processors: usize) -> usize {
    Sharing::new(plan, processors).count()
}

#[test]
fn nobody_asks_for_shards_on_a_small_machine() {
    let pairs = plan("", PAIRS);
    assert_eq!([1, 2, 3, 4, 64].map(|processors| count(&pairs, processors)), [1, 1, 1, 2, 2]);
    // What transit routers hold together is not cut unless somebody wants it.
    assert_eq!(count(&plan("", CHAIN), 64), 1);
    let cut = Sharing::new(&plan("shards: 2", CHAIN), 2);
    assert_eq!((cut.count(), cut.note.as_deref()), (2, None));
    assert_eq!(cut.cut(&plan("", CHAIN)), ["mid"]);
}

#[test]
fn what_is_asked_for_is_done_as_far_as_it_goes() {
    let three = Sharing::new(&plan("shards: 3", PAIRS), 8);
    assert_eq!(three.count(), 2);
    assert!(
        three.note.unwrap().contains("3 shards were asked for, and there are 2: the lab cannot be divided further")
    );
    let exact = Sharing::new(&plan("shards: 2\nprecision: exact", PAIRS), 2);
    assert_eq!(exact.count(), 1);
    assert!(exact.note.unwrap().contains("there is 1: with precision exact"));
    let crowded = Sharing::new(&plan("shards: 2", PAIRS), 1);
    assert_eq!(
        (crowded.count(), crowded.note.unwrap().as_str()),
        (2, "2 shards share 1 processors and wait for one another")
    );
    assert_eq!(count(&plan("shards: 1", PAIRS), 64), 1);
}

#[test]
fn links_in_the_kernel_are_no_work() {
    let joined = plan("bypass: auto", "ab: {ends: [a, b]}, cd: {ends: [c, d]}, ac: {ends: [a, c], rate: 1 Mbit/s}");
    let sharing = Sharing::new(&joined, 64);
    assert_eq!(sharing.links(&joined), [["ac"]]);
}
