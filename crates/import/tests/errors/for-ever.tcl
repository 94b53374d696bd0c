set ns [new Simulator]
set n0 [$ns node]
while {1} {
  set x 1
}
