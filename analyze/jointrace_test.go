package analyze

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"netrec/analyze/export"
	"netrec/analyze/scan"
)

// traceFact is a slice or an instant of a trace, on a track of a socket.
type traceFact struct {
	sock, track, name string
	from, to          int64
}

type traceValue struct{ ts, v int64 }

// Numbers of fields, as perfetto_trace.proto has them.
const (
	pbPacket, pbTimestamp, pbEvent, pbTrack                 = 1, 8, 11, 60
	pbUUID, pbName, pbProcess, pbParent, pbProcessName      = 1, 2, 3, 5, 6
	pbType, pbOnTrack, pbEventName, pbAnnotation, pbCounter = 9, 11, 23, 4, 30
	pbAnnotationName                                        = 10
	pbBegin, pbEnd, pbInstant, pbValue                      = 1, 2, 3, 4
)

// pbField is a field of a message.
type pbField struct {
	num   uint64
	bytes []byte
}

func pbFields(t *testing.T, b []byte) map[protowire.Number][]pbField {
	t.Helper()
	fields := map[protowire.Number][]pbField{}
	for len(b) > 0 {
		n, typ, k := protowire.ConsumeTag(b)
		if k < 0 {
			t.Fatal("not a message")
		}
		var f pbField
		m := 0
		switch b = b[k:]; typ {
		case protowire.VarintType:
			f.num, m = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.bytes, m = protowire.ConsumeBytes(b)
		default:
			m = protowire.ConsumeFieldValue(n, typ, b)
		}
		if m < 0 {
			t.Fatalf("field %d is cut", n)
		}
		fields[n], b = append(fields[n], f), b[m:]
	}
	return fields
}

func num(f map[protowire.Number][]pbField, n protowire.Number) uint64 {
	if len(f[n]) == 0 {
		return 0
	}
	return f[n][0].num
}

func str(f map[protowire.Number][]pbField, n protowire.Number) string {
	if len(f[n]) == 0 {
		return ""
	}
	return string(f[n][0].bytes)
}

// traceOf exports a recording and reads the trace.
func traceOf(t *testing.T, src scan.Source) *traceReader {
	t.Helper()
	var b bytes.Buffer
	if err := export.Perfetto(src, &b); err != nil {
		t.Fatal(err)
	}
	r := &traceReader{t: t, tracks: map[uint64]traceTrack{}, open: map[uint64]traceFact{}, doubt: map[uint64]bool{}, facts: map[traceFact][]traceWho{}, values: map[string][]traceValue{}}
	for _, p := range pbFields(t, b.Bytes())[pbPacket] {
		r.packet(pbFields(t, p.bytes))
	}
	return r
}

type traceTrack struct {
	name   string
	parent uint64
}

// traceWho is what a trace says of the socket of a fact.
type traceWho struct {
	ends, owner string
	doubtful    bool
}

type traceReader struct {
	t      *testing.T
	tracks map[uint64]traceTrack
	open   map[uint64]traceFact
	doubt  map[uint64]bool
	facts  map[traceFact][]traceWho
	values map[string][]traceValue // by socket
}

func (r *traceReader) packet(f map[protowire.Number][]pbField) {
	if len(f[pbTrack]) > 0 {
		d := pbFields(r.t, f[pbTrack][0].bytes)
		k := traceTrack{str(d, pbName), num(d, pbParent)}
		if len(d[pbProcess]) > 0 {
			k.name = str(pbFields(r.t, d[pbProcess][0].bytes), pbProcessName)
		}
		r.tracks[num(d, pbUUID)] = k
	}
	if len(f[pbEvent]) > 0 {
		r.event(int64(num(f, pbTimestamp)), pbFields(r.t, f[pbEvent][0].bytes))
	}
}

func (r *traceReader) event(ts int64, e map[protowire.Number][]pbField) {
	id := num(e, pbOnTrack)
	sock, who, kind := r.socket(id)
	if sock == "" {
		return
	}
	doubt := false
	for _, a := range e[pbAnnotation] {
		n := str(pbFields(r.t, a.bytes), pbAnnotationName)
		doubt = doubt || n == "began" || n == "end"
	}
	switch num(e, pbType) {
	case pbBegin:
		r.open[id], r.doubt[id] = traceFact{sock, kind, str(e, pbEventName), ts, 0}, doubt
	case pbEnd:
		f := r.open[id]
		f.to, who.doubtful = ts, doubt || r.doubt[id]
		r.facts[f] = append(r.facts[f], who)
	case pbInstant:
		f := traceFact{sock, kind, str(e, pbEventName), ts, ts}
		r.facts[f] = append(r.facts[f], who)
	case pbValue:
		r.values[sock] = append(r.values[sock], traceValue{ts, int64(num(e, pbCounter))})
	}
}

// socket is the address of the socket that a track belongs to, "" if it is of none.
func (r *traceReader) socket(id uint64) (addr string, who traceWho, kind string) {
	k := r.tracks[id]
	if !strings.Contains(k.name, " 0x") {
		kind = k.name
		k = r.tracks[k.parent]
	}
	words := strings.Fields(k.name)
	if len(words) < 4 {
		return "", who, kind
	}
	return words[len(words)-2], traceWho{ends: strings.Join(words[1:len(words)-2], " "), owner: r.tracks[k.parent].name}, kind
}

// wrong counts what is in the trace and not in the true one.
func (r *traceReader) wrong(truth *traceReader) (n, all, doubtful int, example string) {
	for f, whos := range r.facts {
		for _, w := range whos {
			if all++; w.doubtful {
				doubtful++
				continue
			}
			if !fitsOne(w, truth.facts[f]) {
				n++
				example = fmt.Sprintf("%+v %+v, where the truth has %+v", f, w, truth.facts[f])
			}
		}
	}
	for sock, vs := range r.values {
		for _, v := range vs {
			if all++; truth.valueAt(sock, v.ts) != v.v {
				n++
				example = fmt.Sprintf("%s has window %d at %d", sock, v.v, v.ts)
			}
		}
	}
	return n, all, doubtful, example
}

func fitsOne(w traceWho, truth []traceWho) bool {
	for _, x := range truth {
		if (w.owner == x.owner || w.owner == "sockets of no known process") && (w.ends == x.ends || w.ends == "unconnected" || !strings.Contains(w.ends, ">") || strings.Contains(w.ends, ":0 ")) {
			return true
		}
	}
	return false
}

// valueAt is the newest value of a socket's window at a time.
func (r *traceReader) valueAt(sock string, ts int64) (v int64) {
	for _, x := range r.values[sock] {
		if x.ts <= ts {
			v = x.v
		}
	}
	return v
}

// TestTraceAfterLosses loses rows of a recording, and wants a trace to draw nothing that was not.
func TestTraceAfterLosses(t *testing.T) {
	h := newLossHost(2003)
	whole := h.recording(t)
	truth := traceOf(t, whole)
	if n, all, doubtful, example := truth.wrong(truth); n > 0 || all == 0 || doubtful > 0 {
		t.Fatalf("%d of %d are not themselves, %d are doubtful: %s", n, all, doubtful, example)
	}
	for _, way := range lossWays() {
		if way.event != "" && way.event != "tcp_state" {
			continue
		}
		t.Run(way.String(), func(t *testing.T) {
			n, all, doubtful, example := traceOf(t, h.lossy(t, whole, way.lost())).wrong(truth)
			if n > 0 {
				t.Errorf("%d of %d are wrong: %s", n, all, example)
			}
			if way.gaps && float64(doubtful) > 3*way.share*float64(all)+9 {
				t.Errorf("%d of %d are doubtful", doubtful, all)
			}
		})
	}
}
