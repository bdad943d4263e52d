package scan

// Options are the limits within which a file is read. Zero values mean the
// defaults, which a recording of netrec stays far below.
type Options struct {
	Memory    int64 // bytes that the process may use in all; 512 MiB, or 8 times the file
	MaxMemory int64 // bytes of decoded rows and buffers held at once; about a third of Memory
	MaxFooter int64 // bytes of a footer or checkpoint; 256 MiB
	MaxChunk  int64 // bytes of a column chunk, compressed or not; 256 MiB
	MaxGroup  int64 // rows of a row group; 16 Mi
	MaxGroups int64 // row groups of a file; 256 Ki
	MaxString int64 // bytes of a string value; 1 MiB
	MaxMeta   int64 // bytes of one metadata value; 64 MiB
}

// withDefaults fills in what is not set for files of a size.
func (o Options) withDefaults(size int64) Options {
	if o.Memory <= 0 {
		o.Memory = defaultMemory(size)
	}
	for _, l := range []struct {
		v *int64
		d int64
	}{
		{&o.MaxMemory, share(o.Memory, decodedShare)}, {&o.MaxFooter, 256 << 20}, {&o.MaxChunk, 256 << 20}, {&o.MaxGroup, 16 << 20},
		{&o.MaxGroups, 256 << 10}, {&o.MaxString, 1 << 20}, {&o.MaxMeta, 64 << 20},
	} {
		if *l.v <= 0 {
			*l.v = l.d
		}
	}
	// Row numbers and sizes of pages are 32 bits wide.
	o.MaxGroup, o.MaxChunk = min(o.MaxGroup, 1<<30), min(o.MaxChunk, 1<<30)
	o.MaxFooter = min(o.MaxFooter, o.MaxMemory)
	o.MaxChunk = min(o.MaxChunk, o.MaxMemory)
	o.MaxMeta = min(o.MaxMeta, o.MaxMemory/16) // JSON grows up to 16 times when decoded
	return o
}
