package scan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"netrec/analyze/parquetfile"
	"netrec/analyze/words"
	"netrec/schema"
)

// metaPrefix starts every key of ours; values of other keys are not kept.
const metaPrefix = "netrec."

// maxList bounds each list of the metadata: an element of a few bytes of JSON
// becomes hundreds in memory.
const maxList = 1 << 18

// addMeta splits the JSON object of a checkpoint into its values.
func addMeta(kv map[string][]byte, s []byte, o *Options) error {
	d := json.NewDecoder(bytes.NewReader(s))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("metadata: no JSON object: %w", cmp.Or(err, errors.New("cut off")))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("metadata %v: %w", key, err)
		}
		keepMeta(kv, key.(string), v, o)
	}
	return nil
}

// keeper keeps the pairs of a footer that are ours.
func keeper(kv map[string][]byte, o *Options) func(key, value []byte) {
	return func(key, value []byte) {
		if len(key) <= maxKey && bytes.HasPrefix(key, []byte(metaPrefix)) {
			keepMeta(kv, string(key), value, o)
		}
	}
}

// maxKey is longer than any key of ours, and maxKeys more than there are.
const (
	maxKey  = 64
	maxKeys = 64
)

// keepMeta keeps a value of ours, nil in place of one that is too large.
func keepMeta(kv map[string][]byte, key string, value []byte, o *Options) {
	switch {
	case !strings.HasPrefix(key, metaPrefix) || len(key) > maxKey || len(kv) >= maxKeys:
	case int64(len(value)) > o.MaxMeta:
		kv[key] = nil
	default:
		kv[key] = value
	}
}

// decodeMeta fills Meta from the footer's key/value pairs. What is not readable
// is a problem to tell, not a reason to refuse the rows.
func (f *File) decodeMeta(kv map[string][]byte) error {
	m := &f.meta
	var p problems
	if err := checkFormat(kv); err != nil {
		return err
	}
	for _, e := range []struct {
		key  string
		into func([]byte) error
	}{
		{schema.KeyVersion, value(&m.Version)},
		{schema.KeyHost, value(&m.Host)},
		{schema.KeyClock, list(&m.Clock)},
		{schema.KeyRecording, value(&m.Recording)},
		{schema.KeyHooks, list(&m.Hooks)},
		{schema.KeyLosses, list(&m.Losses)},
		{schema.KeyBudget, value(&m.Budget)},
		{schema.KeySysctls, value(&m.Sysctls)},
		{schema.KeyInterfaces, list(&m.Interfaces)},
		{schema.KeyQdiscs, list(&m.Qdiscs)},
		{schema.KeySockets, list(&m.Sockets)},
		{schema.KeyCounters, value(&m.Counters)},
		{schema.KeyEnums, value(&m.Enums)},
		{schema.KeyObjects, list(&m.Objects)},
	} {
		v, ok := kv[e.key]
		if !ok {
			continue
		}
		if v == nil {
			p.add("metadata %s is larger than %s and was left out", e.key, words.Count(f.o.MaxMeta, "byte"))
		} else if err := e.into(v); err != nil {
			p.add("metadata %s is unreadable: %v", e.key, err)
		}
	}
	m.bound(&p)
	if f.framed && m.Recording.End == "" {
		// First of all: it explains what else is missing.
		m.Problems = slices.Insert(m.Problems, 0, "the recording has no stop mark: it was killed or is still running")
	}
	m.Problems = append(m.Problems, p.lines()...)
	return nil
}

// checkFormat refuses what a newer netrec wrote. It comes before every other
// complaint, for which a newer layout may be the reason.
func checkFormat(kv map[string][]byte) error {
	var format int
	if v := kv[schema.KeyFormat]; v == nil || json.Unmarshal(v, &format) != nil || format <= schema.FormatVersion {
		return nil
	}
	return fmt.Errorf("%w: format %d, this version reads up to %d", ErrNewer, format, schema.FormatVersion)
}

// maxValue bounds the JSON of values that are no lists.
const maxValue = 4 << 20

// value decodes a JSON value; into is left as it was if that does not work out.
func value[T any](into *T) func([]byte) error {
	return func(b []byte) error {
		if len(b) > maxValue {
			return parquetfile.TooLarge("bytes", int64(len(b)), maxValue)
		}
		var v T
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		*into = v
		return nil
	}
}

// list decodes a JSON list element by element up to maxList.
func list[T any](into *[]T) func([]byte) error {
	return func(b []byte) error {
		d := json.NewDecoder(bytes.NewReader(b))
		switch t, err := d.Token(); {
		case err != nil:
			return err
		case t == nil:
			return nil // null, a list that was never set
		case t != json.Delim('['):
			return fmt.Errorf("%v where a list is due", t)
		}
		var out []T
		for d.More() {
			if len(out) == maxList {
				*into = out
				return fmt.Errorf("more than %s entries; the rest was left out", words.Thousands(maxList))
			}
			var v T
			if err := d.Decode(&v); err != nil {
				return err
			}
			out = append(out, v)
		}
		*into = out
		return nil
	}
}
