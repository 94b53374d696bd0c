puts hello
