# A dumbbell as in the manual of ns-2.
set ns [new Simulator]
$ns color 1 Blue
set nf [open out.nam w]
$ns namtrace-all $nf

proc finish {} {
    global ns nf
    $ns flush-trace
    close $nf
    exec nam out.nam &
    exit 0
}

set n 2
set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 1.7Mb [expr 10 * 2]ms DropTail
$ns queue-limit $r1 $r2 10
$ns duplex-link-op $r1 $r2 orient right
for {set i 0} {$i < $n} {incr i} {
    set s($i) [$ns node]
    set d($i) [$ns node]
    $ns duplex-link $s($i) $r1 2Mb 10ms RED
    $ns simplex-link $r2 $d($i) 2Mb 10ms DropTail
    $ns simplex-link $d($i) $r2 1Mb 10ms SFQ
}

set tcp [new Agent/TCP]
$tcp set packetSize_ 500
$ns attach-agent $s(0) $tcp
set sink [new Agent/TCPSink]
$ns attach-agent $d(0) $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp

set udp [new Agent/UDP]
$ns attach-agent $s(1) $udp
set null [new Agent/Null]
$ns attach-agent $d(1) $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr attach-agent $udp
$cbr set packetSize_ 1000
$cbr set rate_ 1mb

set em [new ErrorModel]
$em unit pkt
$em set rate_ 0.02
$ns lossmodel $em $r1 $r2

$ns at 0.1 "$cbr start"
$ns at 1.0 "$ftp start"
$ns at 2.0 "$ns bandwidth $r1 $r2 1Mb duplex"
$ns rtmodel-at 2.5 down $r1 $r2
$ns rtmodel-at 2.75 up $r1 $r2
$ns at 4.0 "$ftp stop"
$ns at 4.5 "$cbr stop"
$ns at 4.6 "$ns detach-agent $s(0) $tcp"
$ns at 5.0 "finish"
$ns at 9.0 "$cbr start"
$ns run
