//! The whole program in real namespaces: as the user that runs the tests and, if that is root, as one without
//! privileges, too.
//!
//! These tests look at what netloom does, not at how precisely it does it: their labs allow more lateness than a user
//! would, so that a busy machine does not fail them. Precision is measured by the benchmarks.

mod bed;
mod bridges;
mod bypass;
mod calls;
mod captures;
mod carrier;
mod changes;
mod client;
mod containers;
mod dhcp;
mod dilations;
mod disks;
mod doctor;
mod endings;
mod events;
mod external;
mod faults;
mod files;
mod firewall;
mod formats;
mod generated;
mod images;
mod interactive;
mod internet;
mod kernels;
mod kills;
mod link_shell;
mod logs;
mod media;
mod mixed;
mod moves;
mod names;
mod nat;
mod openflow;
mod order;
mod paths;
mod pins;
mod protocol;
mod pulls;
mod reach;
mod refusals;
mod results;
mod routing;
mod runs;
mod services;
mod shape;
mod shards;
mod steps;
mod switches;
mod trains;
mod transit;
mod treatments;
mod tsc;
mod tunnel;
mod users;
mod virtual_counter;
mod virtual_faults;
mod virtual_places;
mod virtual_spin;
mod virtual_time;
mod vms;
mod world;
