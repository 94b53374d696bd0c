set ns [new Simulator]
source ../mobility/dsdv.tcl
$ns at 1.0 "$node_(0) reset"
