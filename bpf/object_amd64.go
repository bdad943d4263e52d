package bpf

import _ "embed"

const objectName = "netrec_x86.o"

//go:embed netrec_x86.o
var object []byte
