# A small copy of what the Topology Zoo has.
graph [
  Network "Small"
  directed 0
  node [
    id 0
    label "Athens &#38; Piraeus"
    Latitude 37.97945
    Longitude 23.71622
    graphics [ x 10.0 y 20.0 ]
  ]
  node [ id 1 label "Heraklion" Latitude 35.32787 Longitude 25.14341 ]
  node [ id 2 label "?" hyperedge 1 ]
  node [ id 3 label "?" hyperedge 1 ]
  node [ id 4 label "?" hyperedge 1 ]
  edge [ source 0 target 1 LinkSpeed "2.5" LinkSpeedUnits "G" LinkSpeedRaw 2500000000.0 LinkType "Fibre" ]
  edge [ source 0 target 2 ]
  edge [ source 2 target 3 ]
  edge [ source 3 target 4 ]
  edge [ source 4 target 2 delay "3 ms" ]
  edge [ source 1 target 3 ]
]
