package schema

import (
	"reflect"
	"regexp"
	"testing"
)

func TestIdentities(t *testing.T) {
	ids, names := map[uint16]string{}, map[string]bool{}
	for _, e := range Events {
		if other, ok := ids[e.ID]; ok || e.ID == 0 {
			t.Errorf("event %s: id %d is 0 or taken by %s", e.Name, e.ID, other)
		}
		if names[e.Name] {
			t.Errorf("event %s: name is taken", e.Name)
		}
		ids[e.ID], names[e.Name] = e.Name, true
		if ByName(e.Name) == nil || ByID(e.ID) == nil || ByID(e.ID).Name != e.Name {
			t.Errorf("event %s: not found by its name or id", e.Name)
		}
		if e.Doc == "" || e.Rate == "" {
			t.Errorf("event %s: needs Doc and Rate", e.Name)
		}
		if e.Profile == Light && !e.Rare() {
			t.Errorf("event %s: rate %s is not for profile %s", e.Name, e.Rate, e.Profile)
		}
		if !e.Own() && (e.Profile == "" || len(e.Groups) == 0) {
			t.Errorf("event %s: needs Profile and Groups", e.Name)
		}
	}
}

// The record is copied as bytes between C and Go, so the compiler must not have put
// gaps anywhere, and the rings want multiples of eight.
func TestNoImplicitPadding(t *testing.T) {
	for _, e := range Events {
		if n := sum(reflect.TypeOf(e.Row)); n != e.Size() || n%8 != 0 {
			t.Errorf("event %s: fields take %d bytes, the struct %d, which must be equal and a multiple of 8", e.Name, n, e.Size())
		}
	}
}

func sum(t reflect.Type) int {
	if t.Kind() != reflect.Struct {
		return int(t.Size())
	}
	n := 0
	for i := range t.NumField() {
		n += sum(t.Field(i).Type)
	}
	return n
}

func TestColumns(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for i, c := range Columns {
		if !snake.MatchString(c.Name) || c.Doc == "" {
			t.Errorf("column %s: needs a snake_case name and a doc", c.Name)
		}
		if ColumnIndex(c.Name) != i {
			t.Errorf("column %s: index %d, want %d", c.Name, ColumnIndex(c.Name), i)
		}
		if c.Required == (len(c.Events) > 0) {
			t.Errorf("column %s: required %v, events %v", c.Name, c.Required, c.Events)
		}
	}
	for i, want := range []string{"ts_ns", "ts", "event", "cpu", "seq", "pid", "tid", "comm", "ctx", "netns", "sock", "skb"} {
		if Columns[i].Name != want || !Columns[i].Required {
			t.Errorf("column %d is %s, want %s, required", i, Columns[i].Name, want)
		}
	}
	if c := Columns[ColumnIndex("sock")]; c.Type != Uint64 {
		t.Errorf("sock is %v, want UINT64", c.Type)
	}
}

// Each name of a column is documented at one place; a second text could differ.
func TestDocumentedOnce(t *testing.T) {
	seen := map[string]string{}
	for _, e := range Events {
		for _, sf := range reflect.VisibleFields(reflect.TypeOf(e.Row)) {
			col, doc := sf.Tag.Get("col"), sf.Tag.Get("doc")
			if doc == "" {
				continue
			}
			if old, ok := seen[col]; ok && old != doc {
				t.Errorf("event %s: column %s is documented twice: %q and %q", e.Name, col, old, doc)
			}
			seen[col] = doc
		}
	}
}

func TestFrame(t *testing.T) {
	f := Frame{Nonce: [16]byte{1, 2, 3}, Seq: 7, Body: 1000, Checkpoint: 90, Footer: 55, BodyCRC: 12, FooterCRC: 13}
	b := f.Append(nil)
	if len(b) != FrameSize {
		t.Fatalf("header is %d bytes, want %d", len(b), FrameSize)
	}
	got, err := ParseFrame(b, f.Nonce, 7)
	if err != nil || got != f {
		t.Fatalf("got %+v, %v, want %+v", got, err, f)
	}
	if f.Len() != FrameSize+1000+55+TrailerSize {
		t.Errorf("length %d", f.Len())
	}
	for i := range b {
		c := append([]byte(nil), b...)
		c[i] ^= 0x10
		if _, err := ParseFrame(c, f.Nonce, 7); err == nil {
			t.Errorf("a flipped bit in byte %d was not noticed", i)
		}
	}
	if _, err := ParseFrame(b, [16]byte{9}, 7); err == nil {
		t.Error("another file's frame was taken")
	}
	if _, err := ParseFrame(b, f.Nonce, 8); err == nil {
		t.Error("a frame out of order was taken")
	}
}

func TestSections(t *testing.T) {
	b := AppendSection(AppendSection(nil, SectionBase, []byte("abc")), SectionMeta, nil)
	var got []string
	err := Sections(b, func(kind uint32, data []byte) error {
		got = append(got, string(rune('0'+kind))+string(data))
		return nil
	})
	if err != nil || !reflect.DeepEqual(got, []string{"1abc", "3"}) {
		t.Fatalf("got %q, %v", got, err)
	}
	for n := range b {
		if n == 11 { // after the first section
			continue
		}
		if err := Sections(b[:n], func(uint32, []byte) error { return nil }); (err == nil) != (n == 0) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}
