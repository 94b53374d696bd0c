set ns [new Simulator]
set n0 [$ns node]
set n1 [$ns node]
if {1} {
  $ns duplex-link $n0 $n1 fast 10ms DropTail
}
