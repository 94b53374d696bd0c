//! `cloud`: regions of a public cloud, each a router with hosts, joined so that each pair has the round trip that its provider publishes.
//!
//! Sources, with the figures as a table: `docs/generators.md`. Microsoft, "Azure network round-trip latency statistics", 30 days until
//! 2026-07-30, 95th percentile; IBM, "Network latency dashboards" of IBM Cloud VPC, 2026-07-18 to 2026-08-16, average. Of a pair, the figure
//! is that measured from the region that comes first here. Left out: providers that publish no such table, and Azure's other regions.

use super::builder::{TopologyBuilder, around, radius};
use crate::diagnostics::nearest;
use netloom_units::Duration;

/// A region, and its round trips with those before it, in milliseconds.
type Region = (&'static str, &'static [u32]);

/// Regions of Microsoft Azure.
const AZURE: &[Region] = &[
    ("australiaeast", &[]),
    ("brazilsouth", &[298]),
    ("canadacentral", &[207, 133]),
    ("centralindia", &[151, 320, 216]),
    ("centralus", &[178, 155, 35, 245]),
    ("eastasia", &[127, 315, 205, 95, 183]),
    ("eastus", &[206, 121, 21, 218, 35, 208]),
    ("eastus2", &[224, 121, 25, 220, 42, 209, 11]),
    ("francecentral", &[280, 193, 92, 147, 120, 279, 90, 89]),
    ("japaneast", &[105, 265, 165, 129, 141, 53, 165, 167, 241]),
    ("koreacentral", &[137, 289, 190, 127, 165, 43, 191, 192, 267, 35]),
    ("northeurope", &[272, 176, 78, 159, 107, 265, 74, 79, 20, 232, 255]),
    ("southafricanorth", &[347, 327, 236, 134, 253, 272, 226, 222, 165, 254, 250, 178]),
    ("southcentralus", &[194, 142, 58, 249, 30, 177, 44, 33, 118, 140, 165, 112, 250]),
    ("southeastasia", &[98, 337, 226, 59, 201, 41, 229, 232, 176, 74, 71, 236, 211, 211]),
    ("swedencentral", &[307, 209, 115, 179, 142, 265, 110, 115, 43, 260, 286, 40, 196, 146, 256]),
    ("uaenorth", &[179, 293, 187, 35, 212, 120, 190, 194, 116, 155, 153, 131, 104, 228, 90, 148]),
    ("uksouth", &[277, 184, 83, 150, 117, 274, 80, 87, 12, 237, 262, 15, 169, 120, 183, 34, 122]),
    ("westeurope", &[282, 191, 92, 153, 118, 279, 89, 93, 15, 242, 267, 19, 171, 127, 181, 31, 124, 12]),
    ("westus2", &[180, 179, 68, 218, 41, 146, 75, 71, 153, 103, 127, 136, 285, 57, 165, 165, 256, 145, 153]),
];

/// Regions of IBM Cloud.
const IBM: &[Region] = &[
    ("dallas", &[]),
    ("toronto", &[35]),
    ("washington", &[32, 19]),
    ("frankfurt", &[123, 93, 86]),
    ("london", &[113, 83, 76, 13]),
    ("madrid", &[119, 108, 89, 29, 26]),
    ("montreal", &[42, 11, 15, 89, 79, 104]),
    ("chennai", &[248, 223, 240, 141, 141, 154, 219]),
    ("mumbai", &[249, 200, 218, 118, 118, 130, 197, 24]),
    ("osaka", &[152, 142, 147, 236, 245, 259, 150, 112, 139]),
    ("sydney", &[186, 216, 215, 250, 261, 276, 224, 126, 152, 108]),
    ("tokyo", &[145, 135, 142, 229, 238, 253, 143, 105, 132, 9, 101]),
    ("saopaulo", &[142, 126, 122, 191, 181, 215, 121, 363, 343, 291, 327, 284]),
];

/// The providers, each with its regions.
const PROVIDERS: [(&str, &[Region]); 2] = [("azure", AZURE), ("ibm", IBM)];

/// The names of the providers.
pub(super) const PROVIDER_NAMES: &[&str] = &["azure", "ibm"];

/// The round trip between two regions, by their places.
fn round_trip(regions: &[Region], one: usize, other: usize) -> Duration {
    let millis = regions[one.max(other)].1[one.min(other)];
    Duration::from_millis(u64::from(millis))
}

pub(super) fn cloud(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let provider = builder.text_or("provider", "azure")?;
    let (name, regions) = PROVIDERS.into_iter().find(|(name, _)| *name == provider).or_else(|| {
        let message = format!("there are no figures of `{provider}`: write {}", PROVIDER_NAMES.join(" or "));
        builder.wrong("provider", message)
    })?;
    let places = places(builder, name, regions)?;
    let hosts = builder.hosts_of(places.len(), 1)?;
    let radius = radius(places.len()).max(1.0);
    let mut routers = Vec::new();
    for (number, place) in places.iter().enumerate() {
        routers.push(builder.node(regions[*place].0.to_owned(), Some(around(number, places.len(), radius)))?);
    }
    for (number, one) in places.iter().enumerate() {
        for (behind, other) in places.iter().enumerate().skip(number + 1) {
            let one_way = Duration::from_nanos(round_trip(regions, *one, *other).as_nanos() / 2);
            builder.link_of(routers[number], routers[behind], "backbone", Some(one_way))?;
        }
    }
    for (number, count) in hosts.into_iter().enumerate() {
        builder.add_hosts(routers[number], count, |host| {
            let aside = 0.15 * (host as f64 - (count as f64 - 1.0) / 2.0);
            Some(around(number, routers.len(), radius + 1.0).map(|value| value + aside))
        })?;
    }
    Some(())
}

/// The places of the wanted regions among those of the provider.
fn places(builder: &mut TopologyBuilder<'_, '_>, provider: &str, regions: &[Region]) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for node in builder.list("regions")? {
        let name = node.text().unwrap_or_default();
        let Some(place) = regions.iter().position(|(region, _)| *region == name) else {
            let names = || regions.iter().map(|(region, _)| *region);
            let hint = nearest(name, names()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            let all = names().collect::<Vec<_>>().join(", ");
            return builder
                .fail(node, format!("{provider} publishes no round trips of `{name}`: {hint}known are {all}"));
        };
        if places.contains(&place) {
            return builder.fail(node, format!("`{name}` is there twice: name each region once"));
        }
        places.push(place);
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::PROVIDERS;
    use crate::parse;

    fn wrong(keys: &str) -> String {
        parse(&format!("generate: {{kind: cloud, {keys}}}\n"), "test.yaml").expect_err("it is wrong").to_string()
    }

    /// The tables of the manual have the figures of the code.
    #[test]
    fn the_tables_of_the_manual_are_the_code() {
        let page = include_str!("../../../../docs/generators.md");
        for (_, regions) in PROVIDERS {
            for (region, trips) in regions.iter().skip(1) {
                let figures: Vec<String> = trips.iter().map(u32::to_string).collect();
                let row = format!("| `{region}` | {} |", figures.join(" | "));
                assert!(page.contains(&row), "{row}");
            }
        }
    }

    #[test]
    fn the_table_is_whole() {
        for (provider, regions) in PROVIDERS {
            for (place, (region, trips)) in regions.iter().enumerate() {
                assert_eq!(trips.len(), place, "{provider}: {region}");
                assert!(trips.iter().all(|trip| (5..=400).contains(trip)), "{provider}: {region}");
            }
        }
    }

    #[test]
    fn each_pair_of_regions_has_its_round_trip() {
        let text = "generate: {kind: cloud, regions: [eastus, westeurope, japaneast], hosts_each: 2}\n";
        let plan = parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
        let shown: Vec<String> = plan
            .links
            .iter()
            .map(|link| {
                let keys = crate::models::written(&link.pipes[1]);
                format!("{} {}", link.name, keys.first().map_or("", |(_, value)| value.as_str()))
            })
            .collect();
        let expected = ["eastus-westeurope 44.5 ms", "eastus-japaneast 82.5 ms", "westeurope-japaneast 121 ms"];
        assert_eq!(shown[..3], expected);
        assert_eq!(shown[3..5], ["h1-eastus ", "h2-eastus "]);
        assert_eq!(plan.nodes.len(), 9);
        let all = parse("generate: {kind: cloud, provider: ibm, regions: [dallas, tokyo]}\n", "test.yaml");
        assert_eq!(crate::models::written(&all.expect("a lab").plan.links[0].pipes[0])[0].1, "72.5 ms");
    }

    #[test]
    fn errors_name_the_region() {
        let unknown = wrong("regions: [eastus, westeurop]");
        assert!(unknown.contains("no round trips of `westeurop`: did you mean `westeurope`?"), "{unknown}");
        assert!(wrong("provider: ibm, regions: [eastus]").contains("ibm publishes no round trips of `eastus`"));
        assert!(wrong("regions: [eastus, eastus]").contains("`eastus` is there twice"));
        assert!(wrong("provider: other, regions: [eastus]").contains("no figures of `other`: write azure or ibm"));
        assert!(wrong("regions: []").contains("regions"));
    }
}
