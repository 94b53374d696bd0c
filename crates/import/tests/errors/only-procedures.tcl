proc make {ns} { return [$ns node] }
