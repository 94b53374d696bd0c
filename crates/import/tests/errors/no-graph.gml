nodes: [a, b]
