# Nodes for other scripts.
proc make-nodes {simulator nodes} {
    upvar $simulator ns $nodes n
    for {set i 0} {$i < 2} {incr i} {
        set n($i) [$ns node]
    }
    if {[regexp {^a} b]} { error "this matches" }
}
