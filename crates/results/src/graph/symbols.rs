//! The symbols of nodes. They differ by shape, so that they are told apart without colours, too.

use super::scene::Shape;

/// What a legend calls a symbol.
pub(super) fn name(shape: Shape) -> &'static str {
    match shape {
        Shape::Host => "host",
        Shape::Router => "router",
        Shape::Transit => "transit router",
        Shape::Internet => "way out",
        Shape::Switch => "switch",
        Shape::Hub => "hub",
        Shape::External => "external interface",
        Shape::Tunnel => "tunnel",
        Shape::Lan => "LAN",
    }
}

/// The name under which a symbol is defined.
pub(super) fn id(shape: Shape) -> &'static str {
    match shape {
        Shape::Host => "host",
        Shape::Router => "router",
        Shape::Transit => "transit",
        Shape::Internet => "internet",
        Shape::Switch => "switch",
        Shape::Hub => "hub",
        Shape::External => "external",
        Shape::Tunnel => "tunnel",
        Shape::Lan => "lan",
    }
}

/// Drawn around the origin, with a radius of 10. A host is a screen on its foot; routers are round, with arrows to all sides;
/// switches are boxes with arrows to and fro; a transit router is hollow, as it has no system of its own;
/// an external interface is the socket of a plug, a tunnel the mouth of one, the way out a cloud.
pub(super) fn drawing(shape: Shape) -> &'static str {
    macro_rules! arrows {
        ($around:literal, $class:literal) => {
            concat!(
                $around,
                "<path class=\"",
                $class,
                "\" d=\"M-1.8 0H-6.2M-4.2 -2L-6.4 0L-4.2 2M1.8 0H6.2M4.2 -2L6.4 0L4.2 2",
                "M0 -6.6V-2M-2 -4L0 -1.8L2 -4M0 6.6V2M-2 4L0 1.8L2 4\"/>"
            )
        };
    }
    match shape {
        Shape::Host => {
            "<rect class=\"node\" x=\"-9\" y=\"-8.5\" width=\"18\" height=\"13\" rx=\"2\"/>\
             <path class=\"foot\" d=\"M0 4.5V8M-5 8.4H5\"/>"
        }
        Shape::Router => arrows!("<circle class=\"full router\" r=\"10\"/>", "sign"),
        Shape::Transit => arrows!("<circle class=\"hollow router\" r=\"9.6\"/>", "mark router"),
        Shape::Internet => {
            "<path class=\"hollow router\" d=\"M-6 6.5A4.2 4.2 0 0 1 -6.6 -1.8A5 5 0 0 1 2.6 -5.2A4.4 4.4 0 0 1 7.4 -1.2A3.9 3.9 0 0 1 6.4 6.5Z\"/>\
             <path class=\"mark router\" d=\"M-3.4 1.4H3.6M1.2 -1L3.8 1.4L1.2 3.8\"/>"
        }
        Shape::Switch => {
            "<rect class=\"full switch\" x=\"-10\" y=\"-7.5\" width=\"20\" height=\"15\" rx=\"2.5\"/>\
             <path class=\"sign\" d=\"M-7 -2.6H6.4M4 -5L6.6 -2.6L4 -0.2M7 2.8H-6.4M-4 0.4L-6.6 2.8L-4 5.2\"/>"
        }
        Shape::Hub => {
            "<rect class=\"hollow switch\" x=\"-10\" y=\"-7.5\" width=\"20\" height=\"15\" rx=\"2.5\"/>\
             <path class=\"mark switch\" d=\"M-6.6 0H6.4M4 -2.4L6.6 0L4 2.4M-4 -2.4L-6.6 0L-4 2.4\"/>"
        }
        Shape::External => {
            "<rect class=\"hollow router\" x=\"-9.5\" y=\"-9\" width=\"19\" height=\"18\" rx=\"2.5\"/>\
             <path class=\"mark router\" d=\"M-5.5 5V-1.5H-3V-4.5H3V-1.5H5.5V5ZM-2.8 5V2.2M0 5V2.2M2.8 5V2.2\"/>"
        }
        Shape::Tunnel => {
            "<path class=\"hollow router\" d=\"M-9.5 9V0A9.5 9.5 0 0 1 9.5 0V9Z\"/>\
             <path class=\"mark router\" d=\"M-5 9V0.5A5 5 0 0 1 5 0.5V9\"/>"
        }
        Shape::Lan => "<rect class=\"full lan\" x=\"-16\" y=\"-3.5\" width=\"32\" height=\"7\" rx=\"3.5\"/>",
    }
}
