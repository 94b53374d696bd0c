# Mobile nodes, and a host that is wired to one of them.
set val(chan) Channel/WirelessChannel
set val(nn) 3
set ns_ [new Simulator]
set tracefd [open out.tr w]
$ns_ namtrace-all-wireless $tracefd 500 500
set topo [new Topography]
$topo load_flatgrid 500 500
set god_ [create-god $val(nn)]
Mac/802_11 set dataRate_ 2Mb
Phy/WirelessPhy set Pt_ 0.28183815

set wired [$ns_ node]
$ns_ node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy -channelType $val(chan) -topoInstance $topo -agentTrace ON -routerTrace OFF -macTrace OFF -energyModel EnergyModel
for {set i 0} {$i < $val(nn)} {incr i} {
    set node_($i) [$ns_ node]
    $node_($i) random-motion 0
    $ns_ initial_node_pos $node_($i) 20
}
$node_(0) set X_ 10.5
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.0
source ../scenes/named-movement
$ns_ duplex-link $wired $node_(0) 10Mb 2ms DropTail

set udp [new Agent/UDP]
$ns_ attach-agent $wired $udp
set null [new Agent/Null]
$ns_ attach-agent $node_(1) $null
$ns_ connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr attach-agent $udp
$ns_ at 1.0 "$cbr start"
$ns_ at 9.0 "$cbr stop"
for {set i 0} {$i < $val(nn)} {incr i} {
    $ns_ at 10.0 "$node_($i) reset"
}
$ns_ at 10.0 "exit 0"
$ns_ run
