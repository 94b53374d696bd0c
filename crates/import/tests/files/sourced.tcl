# A script that takes its nodes from another one beside it.
if {[file executable ./ns]} { exec ./ns $argv0 }
source named-nodes.tcl
source ../lib/com.tcl
set ns [new Simulator]
make-nodes ns n
set rtt [$ns delay_parse 20ms]
set bits [$ns bw_parse 1.5Mb]
$ns duplex-link $n(0) $n(1) $bits [expr $rtt / 2] DropTail
$ns duplex-link-op $n(0) $n(1) orient right
set box [$ns DelayBox]
$ns duplex-link $n(1) $box 10Mb 1ms DropTail
$ns duplex-link-op $n(1) $box orient right-down
set random [new RandomVariable/Uniform]
$random set min_ 1
$random set max_ 3
set at [expr int([$random value])]
set stop 4.0
$ns at $at.5 "$ns rtmodel-at 2 down $n(0) $n(1)"
$ns at $stop.000000001 "exit 0"
$ns run
