//! Labs, nodes and their programs, on the real kernel.
//!
//! Each case runs in a process of its own, which has one thread, as making a lab requires. Started by root, every
//! case runs twice: as root, and as an ordinary user, who gets the same labs from user namespaces.

mod files;
mod fixture;
mod labs;
mod machine;
mod networks;
mod nodes;
mod programs;

use std::process::ExitCode;

/// The cases, and what the processes do that some of them start.
const CASES: &[(&str, fn())] = &[
    ("files::what_a_node_writes_stays_in_it", files::what_a_node_writes_stays_in_it),
    ("files::files_are_where_they_are_put", files::files_are_where_they_are_put),
    ("files::the_names_of_the_lab_stay", files::the_names_of_the_lab_stay),
    ("files::what_cannot_be_put_is_told", files::what_cannot_be_put_is_told),
    ("labs::the_lab_process_is_apart_from_the_machine", labs::the_lab_process_is_apart_from_the_machine),
    ("labs::what_the_body_returns_is_the_exit_code", labs::what_the_body_returns_is_the_exit_code),
    ("labs::a_refused_set_up_says_what_and_why", labs::a_refused_set_up_says_what_and_why),
    ("labs::a_killed_lab_leaves_nothing", labs::a_killed_lab_leaves_nothing),
    ("labs::a_lab_notices_that_its_guard_was_killed", labs::a_lab_notices_that_its_guard_was_killed),
    ("labs::a_kill_at_any_moment_leaves_nothing", labs::a_kill_at_any_moment_leaves_nothing),
    ("labs::a_lab_keeps_its_name_until_it_has_ended", labs::a_lab_keeps_its_name_until_it_has_ended),
    ("labs::rights_are_those_of_the_user", labs::rights_are_those_of_the_user),
    (
        "nodes::a_node_has_its_own_name_processes_and_interfaces",
        nodes::a_node_has_its_own_name_processes_and_interfaces,
    ),
    ("nodes::a_node_keeps_no_descriptor_of_the_lab", nodes::a_node_keeps_no_descriptor_of_the_lab),
    ("nodes::nothing_comes_to_light_when_proc_is_unmounted", nodes::nothing_comes_to_light_when_proc_is_unmounted),
    ("nodes::a_killed_node_is_noticed", nodes::a_killed_node_is_noticed),
    ("nodes::root_of_a_node_does_not_act_on_the_machine", nodes::root_of_a_node_does_not_act_on_the_machine),
    ("nodes::parameters_are_set_or_refused", nodes::parameters_are_set_or_refused),
    ("nodes::any_congestion_control_can_be_had", nodes::any_congestion_control_can_be_had),
    ("nodes::a_refusal_names_node_and_object", nodes::a_refusal_names_node_and_object),
    ("networks::two_nodes_reach_each_other_at_once", networks::two_nodes_reach_each_other_at_once),
    ("networks::names_resolve_and_unknown_ones_fail_at_once", networks::names_resolve_and_unknown_ones_fail_at_once),
    ("networks::a_router_forwards_both_families", networks::a_router_forwards_both_families),
    ("networks::the_lab_side_of_a_link_is_silent", networks::the_lab_side_of_a_link_is_silent),
    ("networks::bridges_pass_frames_on_and_say_nothing", networks::bridges_pass_frames_on_and_say_nothing),
    ("networks::a_node_that_was_shut_down_comes_up_as_it_was", networks::a_node_that_was_shut_down_comes_up_as_it_was),
    ("networks::the_other_end_sees_its_carrier_go", networks::the_other_end_sees_its_carrier_go),
    ("networks::addresses_of_settled_nodes_are_their_own", networks::addresses_of_settled_nodes_are_their_own),
    ("networks::a_listener_is_seen", networks::a_listener_is_seen),
    ("networks::thousands_of_routes_are_installed", networks::thousands_of_routes_are_installed),
    ("programs::exit_codes_and_signals_are_told", programs::exit_codes_and_signals_are_told),
    ("programs::a_missing_program_or_folder_is_told", programs::a_missing_program_or_folder_is_told),
    ("programs::a_thousand_short_ones_are_all_reaped", programs::a_thousand_short_ones_are_all_reaped),
    ("programs::orphans_are_reaped", programs::orphans_are_reaped),
    ("programs::the_environment_is_as_asked_for", programs::the_environment_is_as_asked_for),
    ("programs::a_program_runs_as_the_user_that_is_asked_for", programs::a_program_runs_as_the_user_that_is_asked_for),
    ("programs::a_terminal_can_be_controlled", programs::a_terminal_can_be_controlled),
    ("programs::stopping_is_gentle_then_firm", programs::stopping_is_gentle_then_firm),
    ("programs::waiting_for_a_cpu_is_counted", programs::waiting_for_a_cpu_is_counted),
    ("machine::a_share_of_a_cpu_is_kept_and_removed", machine::a_share_of_a_cpu_is_kept_and_removed),
    ("machine::the_groups_of_a_killed_lab_are_swept", machine::the_groups_of_a_killed_lab_are_swept),
    ("machine::a_hundred_nodes_come_and_go", machine::a_hundred_nodes_come_and_go),
];

/// What the processes do that cases start.
const HELPERS: &[(&str, fn())] = &[("labs::guard", labs::guard)];

fn main() -> ExitCode {
    netloom_testing::cases::run(CASES, HELPERS)
}
