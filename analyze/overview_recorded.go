package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
	"netrec/schema"
)

// recorded is where, when and how the recording was made, and what it cost.
type recorded struct {
	*scan.Meta
	cost        *schema.Spent
	own         int64 // CPU time of the recorder, ns
	start, stop int64
}

func (r *recorded) rows() (n int64) {
	for _, rows := range r.Rows {
		n += rows
	}
	return n
}

func (r *recorded) host() string {
	if r.Host.Name == "" {
		return ""
	}
	return fmt.Sprintf("%s, %s, %d CPUs", r.Host.Name, r.Host.Machine, r.Host.CPUs)
}

func (r *recorded) began() string {
	if r.rows() == 0 {
		return ""
	}
	return time.Unix(0, r.start).In(time.FixedZone(r.Host.Zone, r.Host.Offset)).Format(time.RFC3339)
}

func percentField(name string, of func(*schema.Spent) float64) render.Field[recorded] {
	return render.NumOr(name, func(r *recorded) (int64, bool) {
		p := of(r.cost)
		return int64(math.Round(100 * p)), p > 0
	}).As(render.Fixed).Digits(2).In("%")
}

var recordedFields = []render.Field[recorded]{
	render.Text("file", func(r *recorded) string { return r.Path }).Text("recording", 0),
	render.TextOr("host", (*recorded).host).Text("host", -10),
	render.TextOr("kernel", func(r *recorded) string { return r.Host.Kernel }).Text("kernel", -10),
	render.TextOr("start", (*recorded).began).Text("start", -10),
	render.Num("seconds", func(r *recorded) int64 { return (r.stop - r.start) / 1e6 }).As(render.Fixed).Digits(3).Text("seconds", -10).In("s"),
	render.Text("end", func(r *recorded) string { return cmp.Or(r.Recording.End, "not ended: killed, or still recording") }).Text("ended by", -10),
	render.Num("rows", (*recorded).rows).Text("rows", -10),
	render.NumOr("bytes", func(r *recorded) (int64, bool) { return r.OnDisk(), r.OnDisk() > 0 }).Text("bytes", -10).In("bytes"),
	render.TextOr("command", func(r *recorded) string { return strings.Join(r.Recording.Command, " ") }).Text("command", -10),
	render.NumOr("recorder_ms", func(r *recorded) (int64, bool) { return r.own / 1e6, r.own > 0 }).Text("own CPU ms", -10).In("ms"),
	render.TextOr("cost", func(r *recorded) string { return r.cost.String() }).Text("cost", -10).ForPeople(),
	percentField("recorder_percent", (*schema.Spent).RecorderPercent),
	percentField("probes_percent", (*schema.Spent).ProbesPercent),
	render.NumOr("bytes_per_s", func(r *recorded) (int64, bool) { return r.cost.BytesPerSecond(), r.cost.BytesPerSecond() > 0 }).In("bytes/s"),
}

// budgetField is there where the recording had a budget.
var budgetField = render.Text("budget", func(r *recorded) string { return r.Budget.Text(r.start, r.stop) }).Text("budget", -10)

// recording shows where, when and how the recording was made, and what it cost.
func (f *overview) recording(cost *schema.Spent) {
	m, fields := f.in.Meta, slices.Clip(recordedFields)
	if m.Budget != nil {
		fields = append(fields, budgetField)
	}
	render.ListOf(f.in.Table, render.Spec{Name: "recording", Look: render.Record}, fields...).Add(
		&recorded{Meta: m, cost: cost, own: f.spent.CPU, start: f.in.Start(), stop: max(m.LastNS, m.Recording.StopNS)})
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
