Class Test -superclass Suite
Test instproc init {} {
    $self instvar ns
    set n [$ns node]
}
