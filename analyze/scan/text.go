package scan

import "netrec/schema"

// Bytes of the longest string that a recorder writes: stacks and facts, and all others, of
// which paths are the longest. Longer ones are cut when they are decoded, so that nobody
// keeps a million bytes for the name of a process.
const (
	maxLong  = 65 << 10
	maxShort = 4 << 10
)

// textLimits has the bytes that are kept of a string, by column.
var textLimits = func() []int {
	limits := make([]int, len(schema.Columns))
	for i := range limits {
		limits[i] = maxShort
	}
	for i := range schema.Events {
		for _, f := range schema.Events[i].Fields() {
			switch f.As {
			case schema.AsKstack, schema.AsUstack, schema.AsRef:
				limits[f.Column] = maxLong
			}
		}
	}
	return limits
}()
