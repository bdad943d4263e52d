package bpf

import _ "embed"

const objectName = "netrec_arm64.o"

//go:embed netrec_arm64.o
var object []byte
