package agg

import (
	"cmp"
	"maps"
	"slices"
)

// MaxKeys is how many keys a Keyed holds. Files may come from anywhere, and a
// table of more keys than this is no answer.
const MaxKeys = 1 << 17

// MaxFlows is how many flows of packets a fold remembers.
const MaxFlows = 1 << 16

// Keyed is a bounded map from a key to its fold.
type Keyed[K comparable, V any] struct {
	m        map[K]*V
	Overflow int64 // values whose key found no room
}

// At is the fold of a key, made when new; nil when there is no room for another.
func (k *Keyed[K, V]) At(key K) *V {
	if v := k.m[key]; v != nil {
		return v
	}
	if len(k.m) >= MaxKeys {
		k.Overflow++
		return nil
	}
	if k.m == nil {
		k.m = map[K]*V{}
	}
	v := new(V)
	k.m[key] = v
	return v
}

// Len is how many keys there are.
func (k *Keyed[K, V]) Len() int { return len(k.m) }

// Sorted lists the keys ascending by weight, equal ones by the second order, so
// that output is the same every time.
func (k *Keyed[K, V]) Sorted(weight func(*V) int64, order func(a, b K) int) []K {
	keys := slices.Collect(maps.Keys(k.m))
	slices.SortFunc(keys, func(a, b K) int {
		if c := cmp.Compare(weight(k.m[a]), weight(k.m[b])); c != 0 {
			return c
		}
		return order(a, b)
	})
	return keys
}
