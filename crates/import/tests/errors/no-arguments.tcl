if {$argc != 1} {
    puts "usage: ns no-arguments.tcl NODES"
}
set ns [new Simulator]
set nodes [lindex $argv 0]
for {set i 0} {$i < $nodes} {incr i} {
    set n($i) [$ns node]
}
$ns duplex-link $n(0) $n(1) 1Mb 1ms DropTail
$ns run
