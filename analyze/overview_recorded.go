package analyze

import (
	"fmt"
	"math"
	"strings"
	"time"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/schema"
)

// recording shows where, when and how the recording was made, and what it cost.
func (f *overview) recording(cost *schema.Spent) {
	m := f.in.Meta
	cols := []render.Column{
		render.Col("file", render.String).Text("recording", 0), render.Col("host", render.String).Text("host", -10), render.Col("kernel", render.String).Text("kernel", -10),
		render.Col("start", render.String).Text("start", -10), render.Col("seconds", render.Fixed).Digits(3).Text("seconds", -10).In("s"),
		render.Col("end", render.String).Text("ended by", -10), render.Col("rows", render.Int).Text("rows", -10), render.Col("bytes", render.Int).Text("bytes", -10).In("bytes"),
		render.Col("command", render.String).Text("command", -10), render.Col("recorder_ms", render.Int).Text("own CPU ms", -10).In("ms"),
		render.Col("cost", render.String).Text("cost", -10).ForPeople(), render.Col("recorder_percent", render.Fixed).Digits(2).In("%"),
		render.Col("probes_percent", render.Fixed).Digits(2).In("%"), render.Col("bytes_per_s", render.Int).In("bytes/s")}
	if m.Budget != nil {
		cols = append(cols, render.Col("budget", render.String).Text("budget", -10))
	}
	t := f.in.Table(render.Spec{Name: "recording", Look: render.Record, Columns: cols})
	rows := int64(0)
	for _, n := range m.Rows {
		rows += n
	}
	stop := max(m.LastNS, m.Recording.StopNS)
	ended := m.Recording.End
	if ended == "" {
		ended = "not ended: killed, or still recording"
	}
	host, start := "", ""
	if m.Host.Name != "" {
		host = fmt.Sprintf("%s, %s, %d CPUs", m.Host.Name, m.Host.Machine, m.Host.CPUs)
	}
	if rows > 0 {
		start = time.Unix(0, f.in.Start()).In(time.FixedZone(m.Host.Zone, m.Host.Offset)).Format(time.RFC3339)
	}
	t.Str(m.Path).StrOr(host).StrOr(m.Host.Kernel).StrOr(start)
	t.Int((stop-f.in.Start())/1e6).Str(ended).Int(rows).IntOr(m.OnDisk(), m.OnDisk() > 0).StrOr(strings.Join(m.Recording.Command, " ")).IntOr(f.spent.CPU/1e6, f.spent.CPU > 0)
	t.StrOr(cost.String())
	for _, p := range []float64{cost.RecorderPercent(), cost.ProbesPercent()} {
		t.IntOr(int64(math.Round(100*p)), p > 0)
	}
	if t.IntOr(cost.BytesPerSecond(), cost.BytesPerSecond() > 0); m.Budget != nil {
		t.Str(m.Budget.Text(f.in.Start(), stop))
	}
	t.End()
}

// probeBasis says what the time in probes was estimated from, "" where it comes to nothing.
func probeBasis(cost *schema.Spent) string {
	if cost.ProbesPercent() < 0.01 {
		return ""
	}
	text := fmt.Sprintf("time in probes is estimated: %s rows × ns per row measured on %s", engine.Thousands(cost.Probes.Rows), schema.ProbesMeasured)
	if cost.Probes.More {
		text += "; runs for what was filtered out, not sampled or not measured are not in it"
	}
	return text
}
