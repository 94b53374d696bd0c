//! Routes and names of nodes that the lab file gives.

use crate::diagnostics::Spanned;
use ipnet::IpNet;
use std::net::IpAddr;

/// Routes and names in the place of those that follow from the paths of the lab.
#[derive(Debug, Default)]
pub(crate) struct GivenSpec {
    pub(crate) routes: Option<Vec<RouteSpec>>,
    pub(crate) names: Option<Vec<NameSpec>>,
}

/// A route.
#[derive(Debug)]
pub(crate) struct RouteSpec {
    pub(crate) to: IpNet,
    pub(crate) via: Spanned<IpAddr>,
}

/// The interface that the name of a node means.
#[derive(Debug)]
pub(crate) struct NameSpec {
    pub(crate) node: Spanned<String>,
    pub(crate) interface: Spanned<String>,
}
