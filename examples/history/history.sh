# Histories for shell scripts: `. ./history.sh`, with NETLOOM_HISTORY in the environment of the node.
#
#   operation write 5 x -- redis-cli -h server set x 5
#   operation read '' x -- redis-cli -h server get x
#
# The last line of what the command prints is the value of a read. A command that fails leaves its operation
# indeterminate, but for exit code 75 (temporary failure), which says that it took no effect and never will.
operation() {
    operation_f=$1 operation_value=$2 operation_key=$3
    shift 4
    if [ -n "$operation_value" ]; then
        netloom op invoke "$operation_f" "$operation_value" -k "$operation_key"
    else
        netloom op invoke "$operation_f" -k "$operation_key"
    fi
    if operation_output=$("$@"); then
        if [ -n "$operation_value" ]; then
            netloom op ok "$operation_f" "$operation_value" -k "$operation_key"
        else
            operation_result=$(printf '%s\n' "$operation_output" | tail -n 1)
            netloom op ok "$operation_f" "${operation_result:-null}" -k "$operation_key"
        fi
    else
        operation_code=$?
        operation_end=info
        if [ "$operation_code" = 75 ]; then operation_end=fail; fi
        netloom op "$operation_end" "$operation_f" -k "$operation_key" --error "exit code $operation_code"
        return "$operation_code"
    fi
    printf '%s\n' "$operation_output"
}
