package symbol

import "container/list"

// lru keeps the values used last within a total weight.
type lru[K comparable, V any] struct {
	limit int
	total int
	byKey map[K]*list.Element
	order list.List // most recent first; values are *cached[K, V]
}

type cached[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

func newLRU[K comparable, V any](limit int) *lru[K, V] {
	return &lru[K, V]{limit: limit, byKey: map[K]*list.Element{}}
}

func (l *lru[K, V]) get(key K) (V, bool) {
	e, ok := l.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*cached[K, V]).value, true
}

// put stores a value; one heavier than the whole cache is not kept.
func (l *lru[K, V]) put(key K, value V, weight int) {
	l.remove(l.byKey[key])
	if weight > l.limit {
		return
	}
	for l.total+weight > l.limit {
		l.remove(l.order.Back())
	}
	l.total += weight
	l.byKey[key] = l.order.PushFront(&cached[K, V]{key, value, weight})
}

func (l *lru[K, V]) remove(e *list.Element) {
	if e == nil {
		return
	}
	c := l.order.Remove(e).(*cached[K, V])
	l.total -= c.weight
	delete(l.byKey, c.key)
}
