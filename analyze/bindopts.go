package analyze

import (
	"strings"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/schema"
)

// bindLetters are what bindsnoop shows for the options of a socket, in the order of their bits.
const bindLetters = "FTNRr"

// options fills the columns of options and device, which are not in every recording.
func (f *tcpbind) options(r *engine.Row) *render.Table {
	if !r.Has(f.opts) {
		f.bare++
		return f.t.Null(2)
	}
	return f.t.Str(bindOpts(r.Str(f.opts))).Int(r.Int(f.boundDev))
}

// bindOpts makes letters of the names that a row has: reuseaddr|reuseport is ...Rr.
func bindOpts(names string) string {
	letters := []byte(bindLetters)
	for i, v := range schema.BindOpts.Values {
		if !strings.Contains("|"+names+"|", "|"+v.Name+"|") {
			letters[i] = '.'
		}
	}
	return string(letters)
}
