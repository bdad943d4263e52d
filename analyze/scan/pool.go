package scan

import "sync"

// pool hands out the buffers of one scan and keeps their sum below a limit.
// Buffers come back when a row group is done, so a scan allocates for the row
// groups that overlap in time and then no more.
type pool struct {
	mu    sync.Mutex
	limit int64
	of    int64 // the limit of the process that it is a share of
	used  int64 // bytes handed out or kept for reuse
	ints  [][]int64
	index [][]int32
	bools [][]bool
}

func newPool(o *Options) *pool { return &pool{limit: o.MaxMemory, of: o.Memory} }

// charge accounts for bytes that are allocated elsewhere.
func (p *pool) charge(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chargeLocked(n)
}

func (p *pool) chargeLocked(n int64) error {
	if p.used+n > p.limit {
		p.dropLocked()
	}
	if p.used+n > p.limit {
		return &Full{Limit: p.of}
	}
	p.used += n
	return nil
}

func (p *pool) inUse() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

func (p *pool) refund(n int64) {
	p.mu.Lock()
	p.used -= n
	p.mu.Unlock()
}

// dropLocked gives the buffers that nobody uses to the garbage collector.
func (p *pool) dropLocked() {
	for _, b := range p.ints {
		p.used -= int64(cap(b)) * 8
	}
	for _, b := range p.index {
		p.used -= int64(cap(b)) * 4
	}
	for _, b := range p.bools {
		p.used -= int64(cap(b))
	}
	p.ints, p.index, p.bools = nil, nil, nil
}

func (p *pool) getInts(n int) ([]int64, error)  { return get(p, &p.ints, n, 8) }
func (p *pool) getIndex(n int) ([]int32, error) { return get(p, &p.index, n, 4) }
func (p *pool) getBools(n int) ([]bool, error)  { return get(p, &p.bools, n, 1) }
func (p *pool) putInts(b []int64)               { put(p, &p.ints, b) }
func (p *pool) putIndex(b []int32)              { put(p, &p.index, b) }
func (p *pool) putBools(b []bool)               { put(p, &p.bools, b) }

// get returns a buffer of n elements with any contents.
func get[T any](p *pool, free *[][]T, n int, size int64) ([]T, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(*free) - 1; i >= 0; i-- {
		if b := (*free)[i]; cap(b) >= n {
			(*free)[i] = (*free)[len(*free)-1]
			*free = (*free)[:len(*free)-1]
			return b[:n], nil
		}
	}
	// A little more than asked for, so that row groups of about one size share.
	room := n + n/8
	if err := p.chargeLocked(int64(room) * size); err != nil {
		return nil, err
	}
	return make([]T, n, room), nil
}

func put[T any](p *pool, free *[][]T, b []T) {
	if cap(b) == 0 {
		return
	}
	p.mu.Lock()
	*free = append(*free, b)
	p.mu.Unlock()
}

// release takes back the buffers of a vector.
func (p *pool) release(v *Vec) {
	p.putInts(v.Ints)
	p.putIndex(v.Index)
	p.putBools(v.Valid)
}

// grown returns a scratch buffer of n elements with any contents, b itself if
// it is large enough.
func grown[T any](p *pool, b []T, n int, size int64) ([]T, error) {
	if cap(b) >= n {
		return b[:n], nil
	}
	if err := p.charge(int64(n-cap(b)) * size); err != nil {
		return nil, err
	}
	return make([]T, n), nil
}

// interner shares equal strings across row groups. It forgets everything when
// it gets large; strings that were handed out stay valid.
type interner struct {
	m    map[string]string
	size int
}

const maxInterned = 4 << 20

func (t *interner) get(b []byte) string {
	if s, ok := t.m[string(b)]; ok {
		return s
	}
	if t.m == nil || t.size > maxInterned {
		t.m, t.size = map[string]string{}, 0
	}
	s := string(b)
	t.m[s] = s
	t.size += len(s) + 64 // of the map's own
	return s
}
