# Queues: what is set on a class, on a queue and on a link is a part of the queue, whatever its discipline.
set ns [new Simulator]
foreach x {a b c d e f} { set $x [$ns node] }
$ns duplex-link $a $b 100Mb 10ms RED
$ns queue-limit $a $b 500
$ns duplex-link $c $d 1Mb 2ms RED
set q [[$ns link $c $d] queue]
$q set thresh_ 10
$q set maxthresh_ 30
$q set q_weight_ 0.001
$q set gentle_ true
$q set linterm_ 50
$q set setbit_ true
# It holds for what is made afterwards.
Queue set limit_ 20
Queue/DropTail set queue_in_bytes_ true
Queue/RED set adaptive_ 1
$ns duplex-link $b $c 10Mb 1ms DropTail
$ns duplex-link $d $e 100Mb 1ms RED
$ns simplex-link $e $f 10Mb 1ms DRR
$ns cost $a $b 5
$ns cost $b $c 3
$ns cost $c $b 3
[[$ns link $b $c] link] set delay_ 4ms
$ns at 2.0 "$ns queue-limit $a $b 100"
$ns at 2.5 "$q set maxthresh_ 40"
$ns at 3.0 "$ns halt"
$ns at 4.0 "$ns bandwidth $a $b 1Mb duplex"
$ns run
