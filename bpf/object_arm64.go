package bpf

import _ "embed"

const objectName = "netrec_arm64.o"

//go:embed netrec_arm64.o
var object string // of bytes it would be memory that can be written, which the recorder cannot give back
