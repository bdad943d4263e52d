package main

import (
	"path/filepath"
	"testing"

	"netrec/schema"
)

// TestMetadataBomb: lists of nothing in what a file says about itself take little memory, too.
func TestMetadataBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cap.parquet")
	nothing := make([]struct{}, 1<<18)
	var facts []fact
	for _, key := range []string{schema.KeyClock, schema.KeyHooks, schema.KeyLosses, schema.KeyInterfaces, schema.KeyQdiscs, schema.KeySockets, schema.KeyObjects} {
		facts = append(facts, fact{key, nothing})
	}
	foreignFile(t, path, [][]edgeRow{everyEvent(tame(1))}, facts)
	const memory = 512 << 20
	kib, code, _, side := peak(t, asNetrec(t), 2*memory, "analyze", path, "tcplife")
	if kib<<10 > memory || code != 0 && code != codePart {
		t.Errorf("%d MiB, exit code %d: %.300s", kib>>10, code, side)
	}
}
