package bpf

import _ "embed"

const objectName = "netrec_x86.o"

//go:embed netrec_x86.o
var object string // of bytes it would be memory that can be written, which the recorder cannot give back
