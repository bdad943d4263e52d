package analyze

import (
	"cmp"
	"fmt"

	"netrec/analyze/agg"
	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/shape"
)

var _ = register(engine.Analysis{
	Name:     "filetype",
	Group:    groupMuch,
	Question: "which reads and writes of files are socket I/O?",
	Help: `Reads and writes through the kernel's file layer by type of file, function and process,
rarest first. A process whose read(2) and write(2) are mostly of type socket is a network
program.

send(2), recv(2) and relatives do not pass the file layer. If socket calls were recorded
too, a second table shows for each process how many of its socket calls came through the
file layer and how many did not. The original cannot show that.`,
	Example: "filetype --by type,comm,host",
	Options: []engine.Option{engine.By("type,func,comm", append([]string{"tid", "second"}, engine.SocketKeys...)...)},
	New: func(in *engine.Input) engine.Fold {
		typ, pid, comm, dir, fn := in.Str("file_type"), in.Int("pid"), in.Str("comm"), in.Str("dir"), in.Str("func")
		keys := in.Keys(map[string]engine.KeyDef{"type": {
			render.Text("type", func(r *engine.Row) string { return cmp.Or(fileTypes[r.Str(typ)], "other") })}})
		counts := shape.Count(in, "calls", keys.Fields...)
		counts.Table.Unnamed = true
		var ways agg.Keyed[shape.Process, fileWays]
		in.On("vfs_rw", func(r *engine.Row) {
			if counts.Add(keys.Of(r), 1); r.Str(typ) != "socket" {
				return
			}
			if w := ways.At(shape.Process{Comm: r.Str(comm), Pid: r.Int(pid)}); w != nil {
				if f := r.Str(fn); f == "vfs_read" || f == "vfs_readv" {
					w.reads++
				} else {
					w.writes++
				}
			}
		})
		in.Use("sock_io", "what does not pass through files is not known", func(r *engine.Row) {
			if w := ways.At(shape.Process{Comm: r.Str(comm), Pid: r.Int(pid)}); w == nil {
				return
			} else if r.Str(dir) == "send" {
				w.sends++
			} else {
				w.receives++
			}
		})
		return shape.Also(counts, engine.FoldFunc(func(a *render.Answer) {
			if in.Meta.Share("vfs_rw") != nil {
				a.Note("the table of socket calls needs all file I/O: netrec record --packets all")
			} else if in.Recorded("sock_io") {
				listWays(in, a, &ways)
			}
		}))
	},
})

// fileTypes are the types as the original names them.
var fileTypes = map[string]string{"socket": "socket", "link": "link", "regular": "regular", "block": "block", "directory": "directory", "character": "character", "fifo": "fifo"}

// fileWays is how many socket calls a process made, and how many of them through files.
type fileWays struct{ reads, writes, sends, receives int64 }

// processWays are those of a process.
type processWays struct {
	shape.Process
	*fileWays
}

var wayFields = []render.Field[processWays]{
	render.Num("pid", func(p *processWays) int64 { return p.Pid }).Text("PID", -7),
	render.Text("comm", func(p *processWays) string { return p.Comm }).Text("COMM", -16),
	render.Num("receives", func(p *processWays) int64 { return p.receives }).Text("RECV", 9),
	render.Num("file_reads", func(p *processWays) int64 { return p.reads }).Text("BY READ", 9),
	render.Num("sends", func(p *processWays) int64 { return p.sends }).Text("SEND", 9),
	render.Num("file_writes", func(p *processWays) int64 { return p.writes }).Text("BY WRITE", 9),
}

func listWays(in *engine.Input, a *render.Answer, ways *agg.Keyed[shape.Process, fileWays]) {
	t := render.ListOf(in.Table, render.Spec{Name: "ways", Title: "socket calls, and how many came through the file layer"}, wayFields...)
	var past int64
	for _, k := range ways.Sorted(func(w *fileWays) int64 { return w.sends + w.receives }, shape.Process.Compare) {
		w := ways.At(k)
		t.Line(processWays{k, w})
		past += max(w.sends-w.writes, 0) + max(w.receives-w.reads, 0)
	}
	if past > 0 {
		a.Note(fmt.Sprintf("%s did not pass the file layer and are not counted by type", engine.Plural(past, "socket call", "socket calls")))
	}
}
