package analyze

import "netrec/analyze/engine"

// countRows counts the rows of an event by the keys asked for.
func countRows(event string) func(*engine.Input) engine.Fold {
	return func(in *engine.Input) engine.Fold {
		keys := in.Keys(nil)
		counts := countBy[engine.Key](in, "calls", keys.Columns...)
		counts.table.Unnamed = true
		in.On(event, func(r *engine.Row) { counts.Add(keys.Of(r), 1) })
		return counts
	}
}
