$node_(0) set X_ 1.0
$node_(0) set Y_ 2.0
$ns_ at 1.0 "$node_(0) setdest 5.0 5.0"
