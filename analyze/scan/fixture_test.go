package scan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/parquet-go/parquet-go"
	compact "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"netrec/schema"
)

// wide is a row as tests write it: every required column and one or two
// optional ones of each type.
type wide struct {
	TS     int64   `parquet:"ts_ns,delta"`
	Micros int64   `parquet:"ts,delta,timestamp(microsecond)"`
	Event  string  `parquet:"event,dict"`
	CPU    int32   `parquet:"cpu,dict"`
	Seq    int64   `parquet:"seq,delta"`
	Pid    int32   `parquet:"pid,dict"`
	Tid    int32   `parquet:"tid,dict"`
	Comm   string  `parquet:"comm,dict"`
	Ctx    string  `parquet:"ctx,dict"`
	Netns  int64   `parquet:"netns,dict"`
	Sock   uint64  `parquet:"sock,dict"`
	Skb    uint64  `parquet:"skb"`
	Cookie *int64  `parquet:"cookie,optional"`
	Cwnd   *int32  `parquet:"snd_cwnd,optional,dict"`
	SRTT   *int32  `parquet:"srtt_us,optional"`
	Laddr  *string `parquet:"laddr,optional,dict"`
	Kstack *string `parquet:"kstack,optional"`
	Reason *string `parquet:"drop_reason,optional,dict"`
}

func ptr[T any](v T) *T { return &v }

// rowAt makes row i of a test: its values follow from its number.
func rowAt(i int, event string) wide {
	r := wide{TS: 1_700_000_000_000_000_000 + int64(i)*1000, Event: event, CPU: int32(i % 4), Seq: int64(i), Pid: int32(100 + i%7),
		Tid: int32(200 + i%9), Comm: fmt.Sprintf("comm%d", i%5), Ctx: "softirq", Netns: 4026531840,
		Sock: 0xffff888000000000 + uint64(i%11)*0x400, Skb: 0xffff888100000000 + uint64(i)*0x100}
	r.Micros = r.TS / 1000
	switch event {
	case "tcp_rcv_est":
		r.Cwnd = ptr(int32(10 + i%40))
		if i%3 != 0 {
			r.SRTT = ptr(int32(-5 + i%1000))
		}
		r.Cookie = ptr(int64(i) << 33)
	case "skb_drop":
		r.Kstack = ptr(fmt.Sprintf("a;b;f%d", i%6))
		if i%2 == 0 {
			r.Reason = ptr("NO_SOCKET")
		}
	case "tcp_state":
		r.Laddr = ptr(fmt.Sprintf("10.0.0.%d", i%3))
	}
	return r
}

// String is the row with all its values, to compare rows of any origin.
func (r *wide) String() string {
	return fmt.Sprint(r.TS, r.Micros, r.Event, r.CPU, r.Seq, r.Pid, r.Tid, r.Comm, r.Ctx, r.Netns, r.Sock, r.Skb,
		opt(r.Cookie), opt(r.Cwnd), opt(r.SRTT), opt(r.Laddr), opt(r.Kstack), opt(r.Reason))
}

func opt[T any](p *T) string {
	if p == nil {
		return "NULL"
	}
	return fmt.Sprint(*p)
}

func col(name string) Col { return Col(schema.ColumnIndex(name)) }

// text is a delivered row in the form of wide.String.
func text(r *Row) string {
	n := func(name string) string {
		if !r.HasAt(col(name)) {
			return "NULL"
		}
		return fmt.Sprint(r.Int(IntAt(col(name))))
	}
	s := func(name string) string {
		if !r.HasAt(col(name)) {
			return "NULL"
		}
		return r.Str(StrAt(col(name)))
	}
	return fmt.Sprint(r.TS, r.Int(MustInt("ts")), r.Event.Name, r.Int(IntAt(colCPU)), r.Int(IntAt(colSeq)), r.Int(MustInt("pid")), r.Int(MustInt("tid")),
		r.Str(MustStr("comm")), r.Str(MustStr("ctx")), r.Int(MustInt("netns")), r.Uint(IntAt(colSock)), r.Uint(MustInt("skb")),
		n("cookie"), n("snd_cwnd"), n("srtt_us"), s("laddr"), s("kstack"), s("drop_reason"))
}

// scanAll reads every row as text.
func scanAll(f *File, q Query) ([]string, error) {
	var out []string
	err := f.Scan(q, func(r *Row) error {
		out = append(out, text(r))
		return nil
	})
	return out, err
}

// plainFile is a Parquet file with the groups given, as another program writes it.
func plainFile(t testing.TB, kv map[string]string, groups [][]wide, o ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[wide](&b, o...)
	for k, v := range kv {
		w.SetKeyValueMetadata(k, v)
	}
	for _, g := range groups {
		if _, err := w.Write(g); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// framedFile is a recording with one commit per element; the last has a footer.
func framedFile(t testing.TB, commits [][][]wide, meta func(commit int) string) []byte {
	t.Helper()
	nonce := [schema.NonceSize]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}
	out := append([]byte(schema.Magic), nonce[:]...)
	var all format.FileMetaData
	for seq, groups := range commits {
		base := int64(len(out)) + schema.FrameSize
		src := plainFile(t, nil, groups, parquet.BloomFilters(parquet.SplitBlockFilter(10, "sock")), parquet.Compression(&parquet.Zstd))
		n := binary.LittleEndian.Uint32(src[len(src)-8:])
		var md format.FileMetaData
		must(t, compact.Unmarshal(new(compact.CompactProtocol), src[len(src)-8-int(n):len(src)-8], &md))
		body := bytes.Clone(src[4 : len(src)-8-int(n)])
		var check []byte
		if seq == 0 {
			all = md
			all.RowGroups, all.NumRows = nil, 0
			check = schema.AppendSection(check, schema.SectionBase, marshal(t, &all))
		}
		for i := range md.RowGroups {
			g := md.RowGroups[i]
			shift(&g, base-4)
			check = schema.AppendSection(check, schema.SectionRowGroup, marshal(t, &g))
			all.RowGroups = append(all.RowGroups, g)
			all.NumRows += g.NumRows
		}
		if meta != nil {
			check = schema.AppendSection(check, schema.SectionMeta, []byte(meta(seq)))
		}
		var foot []byte
		if seq == len(commits)-1 || seq == 0 {
			foot = marshal(t, &all)
		}
		out = appendCommit(out, nonce, uint64(seq), body, check, foot)
	}
	return out
}

func appendCommit(out []byte, nonce [schema.NonceSize]byte, seq uint64, body, check, foot []byte) []byte {
	body = append(bytes.Clone(body), check...)
	fr := schema.Frame{Nonce: nonce, Seq: seq, Body: uint64(len(body)), Checkpoint: uint32(len(check)), Footer: uint32(len(foot)),
		BodyCRC: crc32.Checksum(body, schema.Castagnoli), FooterCRC: crc32.Checksum(foot, schema.Castagnoli)}
	out = fr.Append(out)
	out = append(append(out, body...), foot...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(foot)))
	return append(out, schema.Magic...)
}

func shift(g *format.RowGroup, by int64) {
	g.FileOffset += by
	for i := range g.Columns {
		c := &g.Columns[i]
		c.OffsetIndexOffset, c.OffsetIndexLength, c.ColumnIndexOffset, c.ColumnIndexLength = 0, 0, 0, 0
		c.FileOffset += by
		m := &c.MetaData
		m.DataPageOffset += by
		if m.DictionaryPageOffset > 0 {
			m.DictionaryPageOffset += by
		}
		if m.BloomFilterOffset > 0 {
			m.BloomFilterOffset += by
		}
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := compact.Marshal(new(compact.CompactProtocol), v)
	must(t, err)
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens bytes as a file.
func open(t testing.TB, b []byte, o Options) (*File, error) {
	t.Helper()
	return openReader(bytes.NewReader(b), "t.parquet", int64(len(b)), o)
}

// withFooter replaces the footer of a plain file by an edited one.
func withFooter(t testing.TB, b []byte, edit func(*format.FileMetaData)) []byte {
	t.Helper()
	n := int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	start := len(b) - 8 - n
	var md format.FileMetaData
	must(t, compact.Unmarshal(new(compact.CompactProtocol), b[start:start+n], &md))
	edit(&md)
	foot := marshal(t, &md)
	out := append(bytes.Clone(b[:start]), foot...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(foot)))
	return append(out, schema.Magic...)
}
