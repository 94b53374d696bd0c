//! `internet`: autonomous systems in tiers, one router each.
//!
//! Those of tier 1 are all joined to one another. Each transit provider buys from `homes` others that were there before it,
//! each stub from one to `homes` transit providers; who has many neighbours is chosen more often, in proportion.
//!
//! Sources: E. Zegura, K. Calvert, S. Bhattacharjee, "How to model an internetwork", INFOCOM 1996 (transit and stub);
//! A. Elmokashfi, A. Kvalbein, C. Dovrolis, "On the scalability of BGP: the role of topology growth", JSAC 28(8), 2010
//! (tiers, several homes, preference). Left out: peering beside tier 1, regions, several routers per system.

use super::builder::TopologyBuilder;
use super::random::distinct;

pub(super) fn internet(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let tier1 = builder.count("tier1");
    let transit = builder.count("transit");
    let stubs = builder.count("stubs");
    let homes = builder.count_or("homes", 2);
    let (tier1, transit, stubs, homes) = (tier1?, transit?, stubs?, homes?);
    if stubs == 0 && builder.has("hosts") {
        return builder.wrong("hosts", "hosts are at stubs, and there are none: leave it out, or write more `stubs`");
    }
    let hosts = builder.hosts_of(stubs.max(1), 1)?;
    let mut core = Vec::new();
    for number in 0..tier1 {
        let router = builder.node(format!("core{}", number + 1), None)?;
        for other in &core {
            builder.link(*other, router, "tier1")?;
        }
        core.push(router);
    }
    // Each as often as it has links, and once more, so that one without a link has a chance.
    let mut ends: Vec<usize> = core.iter().flat_map(|router| std::iter::repeat_n(*router, tier1)).collect();
    for number in 0..transit {
        let router = builder.node(format!("transit{}", number + 1), None)?;
        let count = homes.min(tier1 + number);
        for provider in distinct(&ends, count, &mut builder.random) {
            builder.link(provider, router, "transit")?;
            ends.extend([provider, router]);
        }
        ends.push(router);
    }
    // Stubs buy from transit providers where there are any.
    let mut sellers = ends;
    if transit > 0 {
        sellers.retain(|router| !core.contains(router));
    }
    let most = homes.min(if transit > 0 { transit } else { tier1 });
    for (number, count) in (0..stubs).zip(hosts) {
        let router = builder.node(format!("stub{}", number + 1), None)?;
        let own = 1 + builder.random.below(most);
        for provider in distinct(&sellers, own, &mut builder.random) {
            builder.link(provider, router, "stub")?;
            sellers.push(provider);
        }
        builder.add_hosts(router, count, |_| None)?;
    }
    Some(())
}
