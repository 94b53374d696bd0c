# A backslash at the end of a line is white space, in braces, too; names of the caller, and its script.
set ns [new Simulator]
proc make {name} {
    upvar $name made
    global ns
    set made [$ns node]
}
proc both {} {
    make left
    make right
    uplevel { set here yes }
    return [list $left $right]
}
set nodes [both]
set key "-x"
if {$key == "-?" || $key == "--help" \
	|| $key == "-x" && $here} {
    foreach {a b} {
        0 \
        1
    } {
        $ns duplex-link [lindex $nodes $a] [lindex $nodes $b] 1Mb 1ms DropTail
    }
}
$ns run
