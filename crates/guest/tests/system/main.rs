//! Real kernels as nodes. They are booted by this program, which is the first process inside as well.
//!
//! The kernel is the one that the environment variable NETLOOM_KERNEL names.

mod boots;
mod disks;
mod features;
mod fixture;
mod programs;

use std::process::ExitCode;

const CASES: &[(&str, fn())] = &[
    ("boots::a_kernel_becomes_a_node", boots::a_kernel_becomes_a_node),
    ("boots::a_refused_parameter_is_told", boots::a_refused_parameter_is_told),
    ("boots::nothing_is_written_to_the_machine", boots::nothing_is_written_to_the_machine),
    ("boots::a_killed_kernel_is_noticed", boots::a_killed_kernel_is_noticed),
    ("boots::a_kernel_that_answers_late_is_given_up", boots::a_kernel_that_answers_late_is_given_up),
    ("boots::a_kernel_that_ends_shows_its_console", boots::a_kernel_that_ends_shows_its_console),
    ("boots::a_kernel_is_imported_when_it_has_booted", boots::a_kernel_is_imported_when_it_has_booted),
    ("boots::ten_kernels_boot_side_by_side", boots::ten_kernels_boot_side_by_side),
    (
        "disks::a_disk_keeps_what_was_flushed_and_the_rest_by_a_rule",
        disks::a_disk_keeps_what_was_flushed_and_the_rest_by_a_rule,
    ),
    ("disks::a_disk_takes_the_time_that_it_is_said_to_take", disks::a_disk_takes_the_time_that_it_is_said_to_take),
    ("features::a_node_has_hundreds_of_interfaces", features::a_node_has_hundreds_of_interfaces),
    ("features::the_first_process_may_lie_in_dev_shm", features::the_first_process_may_lie_in_dev_shm),
    ("features::a_node_that_is_rebooted_says_so", features::a_node_that_is_rebooted_says_so),
    ("features::old_tunnels_are_made_on_request", features::old_tunnels_are_made_on_request),
    ("features::all_users_may_ping", features::all_users_may_ping),
    ("features::the_configuration_has_what_nodes_need", features::the_configuration_has_what_nodes_need),
    (
        "features::the_kernel_has_all_kinds_of_interfaces_and_queues",
        features::the_kernel_has_all_kinds_of_interfaces_and_queues,
    ),
    (
        "features::the_kernel_has_ipsec_tracing_and_file_systems",
        features::the_kernel_has_ipsec_tracing_and_file_systems,
    ),
    ("programs::exit_codes_and_signals_are_told", programs::exit_codes_and_signals_are_told),
    ("programs::all_output_comes_and_in_order", programs::all_output_comes_and_in_order),
    ("programs::a_reader_that_has_gone_ends_the_writer", programs::a_reader_that_has_gone_ends_the_writer),
    (
        "programs::a_reader_that_does_not_read_holds_up_nobody_else",
        programs::a_reader_that_does_not_read_holds_up_nobody_else,
    ),
    ("programs::input_of_any_length_is_read", programs::input_of_any_length_is_read),
    ("programs::a_terminal_is_one", programs::a_terminal_is_one),
    ("programs::stopping_is_gentle_then_firm", programs::stopping_is_gentle_then_firm),
    ("programs::a_listener_is_seen", programs::a_listener_is_seen),
];

fn main() -> ExitCode {
    if std::process::id() == 1 && std::env::args().any(|argument| argument == "guest-init") {
        return match netloom_host::guest::main() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    netloom_testing::cases::run(CASES, &[])
}
