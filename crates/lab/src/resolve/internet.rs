//! The way out of a lab: one node, in real time.

use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::plan::{Clock, InternetPlan, Plan};
use crate::spec::Spec;
use std::net::IpAddr;

/// Notes ways out that cannot be; the place of the node that is one.
pub(super) fn check(spec: &Spec, errors: &mut Errors) -> Option<(usize, Spanned<()>)> {
    let exits = spec.nodes.iter().enumerate();
    let mut exits = exits.filter_map(|(node, own)| Some((node, own.exit.clone()?)));
    let (node, place) = exits.next()?;
    for (_, other) in exits {
        let first = &spec.nodes[node].name.value;
        errors.push(
            other
                .error(format!(
                    "`{first}` is the way out already, and a lab has one: write `kind: router`, with a link to `{first}`"
                ))
                .and(place.span, "first here"),
        );
    }
    let when = match spec.clock {
        Clock::Real => None,
        Clock::Virtual => {
            Some("in virtual time nothing can come from outside: when it comes would depend on this machine")
        }
        Clock::Dilated(_) => Some("the world outside cannot be slowed, and would seem too fast in dilated time"),
    };
    errors.extend(when.map(|why| place.error(format!("{why}; write `clock: real`, or `kind: router`"))));
    let name = &spec.nodes[node].name.value;
    let ends = spec.links.iter().flat_map(|link| &link.ends).filter(|end| end.node.value == *name);
    let taken = ends.filter_map(|end| end.interface.as_ref()).filter(|own| own.value == InternetPlan::INTERFACE);
    errors.extend(taken.map(|own| {
        own.error(format!("`{}` is the interface towards this machine's network: choose another name", own.value))
    }));
    Some((node, place))
}

/// The way out of a plan with addresses; none after an error was noted.
pub(super) fn settle(plan: &Plan, exit: Option<(usize, Spanned<()>)>, errors: &mut Errors) -> Option<InternetPlan> {
    let (node, place) = exit?;
    let own = plan.nodes[node].interfaces.iter().flat_map(|interface| &interface.addresses);
    let resolver = own.map(ipnet::IpNet::addr).find_map(|address| match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    });
    if resolver.is_none() {
        let name = &plan.nodes[node].name;
        errors.push(place.error(format!(
            "`{name}` has no address of IPv4, and the way out has IPv4 only: give it a link, with addresses of IPv4"
        )));
    }
    Some(InternetPlan { node, line: place.span.line, resolver: resolver? })
}

#[cfg(test)]
mod tests {
    use crate::plan::Plan;

    fn plan(text: &str) -> Plan {
        crate::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
    }

    /// The routes of IPv4 of a node.
    fn routes(plan: &Plan, name: &str) -> Vec<String> {
        let node = plan.nodes.iter().find(|node| node.name == name).unwrap();
        let v4 = node.routes.iter().filter(|route| route.via.is_ipv4());
        v4.map(|route| format!("{} via {}", route.destination, route.via)).collect()
    }

    #[test]
    fn everything_outside_is_reached_by_the_way_out_from_everywhere() {
        let lab = "
nodes: {a: , r: {kind: router}, net: {kind: internet}, far: , t: {kind: transit}}
links:
  one: {ends: [a, r]}
  two: {ends: [r, net]}
  three: {ends: [r, t]}
  four: {ends: [t, far]}
";
        let plan = plan(lab);
        let exit = plan.internet.unwrap();
        assert_eq!((exit.node, exit.line, exit.resolver.to_string()), (2, 2, "10.0.0.6".to_owned()));
        assert_eq!(routes(&plan, "a"), ["0.0.0.0/0 via 10.0.0.2"]);
        assert_eq!(routes(&plan, "r"), ["10.0.0.12/30 via 10.0.0.10", "0.0.0.0/0 via 10.0.0.6"]);
        assert_eq!(
            routes(&plan, "t"),
            ["10.0.0.0/30 via 10.0.0.9", "10.0.0.4/30 via 10.0.0.9", "0.0.0.0/0 via 10.0.0.9"]
        );
        assert_eq!(routes(&plan, "far"), ["0.0.0.0/0 via 10.0.0.13"]);
        // The way out itself leads on by an interface that no link of the lab has.
        assert!(!routes(&plan, "net").iter().any(|route| route.starts_with("0.0.0.0/0")), "{:?}", routes(&plan, "net"));
        assert_eq!(routes(&plan, "net").len(), 3);
    }

    #[test]
    fn a_host_beside_the_way_out_has_it_as_its_default_and_reaches_the_rest_otherwise() {
        let lab = "
nodes: {a: , r: {kind: router}, b: , net: {kind: internet}}
links: {one: {ends: [a, r]}, two: {ends: [r, b]}, out: {ends: [a, net]}}
";
        let plan = plan(lab);
        assert_eq!(routes(&plan, "a"), ["10.0.0.4/30 via 10.0.0.2", "0.0.0.0/0 via 10.0.0.10"]);
        let alone = super::tests::plan("{nodes: {a: , net: {kind: internet}}, links: {out: {ends: [a, net]}}}");
        assert_eq!(routes(&alone, "a"), ["0.0.0.0/0 via 10.0.0.2"]);
        assert_eq!(routes(&alone, "net"), [] as [&str; 0]);
    }

    #[test]
    fn a_node_whose_routes_are_its_own_business_gets_no_way_out() {
        let lab = "{nodes: {a: {routes: none}, net: {kind: internet}}, links: {out: {ends: [a, net]}}}";
        assert_eq!(routes(&plan(lab), "a"), [] as [&str; 0]);
    }

    #[test]
    fn of_several_routers_to_the_way_out_all_of_the_least_cost_are_taken() {
        let lab = "
routes: ecmp
nodes: {a: , r: {kind: router}, s: {kind: router}, net: {kind: internet}}
links: {ar: {ends: [a, r]}, as: {ends: [a, s]}, rn: {ends: [r, net]}, sn: {ends: [s, net]}}
";
        let plan = plan(lab);
        let out: Vec<_> = routes(&plan, "a").into_iter().filter(|route| route.starts_with("0.0.0.0/0")).collect();
        assert_eq!(out, ["0.0.0.0/0 via 10.0.0.2", "0.0.0.0/0 via 10.0.0.6"]);
    }

    #[test]
    fn tables_that_are_made_smaller_lead_out_by_the_way_out() {
        let torus = "generate: {kind: torus, rows: 12, columns: 12, hosts_each: 1, inner: router}\n";
        let alone = plan(torus);
        let routers: Vec<_> = alone.nodes.iter().filter(|node| node.kind.forwards()).map(|node| &node.name).collect();
        // With two prefixes that have nothing in common, a table may be made smaller by a default route.
        let plan = plan(&format!(
            "{torus}nodes: {{net: {{kind: internet}}, far: }}\nlinks:\n  out: {{ends: [{}, net]}}\n  \
             far: {{ends: [{}, {{node: far, address: 192.168.0.2/24}}]}}\n",
            routers[40], routers[0]
        ));
        for router in routers {
            let out: Vec<_> =
                routes(&plan, router).into_iter().filter(|route| route.starts_with("0.0.0.0/0")).collect();
            assert_eq!(out.len(), 1, "{router}: {out:?}");
        }
    }
}
