package bpf

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
)

//go:generate go run ./gen

// Spec is the compiled probes, as a fresh copy that the caller may change.
func Spec() (*ebpf.CollectionSpec, error) {
	spec, err := ebpf.LoadCollectionSpecFromReader(strings.NewReader(object))
	if err != nil {
		return nil, fmt.Errorf("read embedded BPF object: %w", err)
	}
	return spec, nil
}

// Object is which compiled probes are embedded: the file and its SHA-256.
func Object() (name, sum string) {
	h := sha256.Sum256([]byte(object))
	return objectName, hex.EncodeToString(h[:])
}
