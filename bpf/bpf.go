package bpf

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/cilium/ebpf"
)

//go:generate go run ./gen

//go:embed netrec_x86.o
var object []byte

// Spec is the compiled probes, as a fresh copy that the caller may change.
func Spec() (*ebpf.CollectionSpec, error) {
	spec, err := ebpf.LoadCollectionSpecFromReader(bytes.NewReader(object))
	if err != nil {
		return nil, fmt.Errorf("read embedded BPF object: %w", err)
	}
	return spec, nil
}
