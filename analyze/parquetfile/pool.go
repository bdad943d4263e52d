package parquetfile

import "sync"

// Pool hands out the buffers of columns and keeps their sum below a limit.
// Buffers come back when a row group is done, so decoding allocates for the row
// groups that are held at once and then no more.
type Pool struct {
	mu    sync.Mutex
	limit int64
	full  func() error
	used  int64 // bytes handed out or kept for reuse
	ints  [][]int64
	index [][]int32
	bools [][]bool
}

// NewPool is a pool of so many bytes; full is its error when they are in use.
func NewPool(limit int64, full func() error) *Pool { return &Pool{limit: limit, full: full} }

// Charge accounts for bytes that are allocated elsewhere.
func (p *Pool) Charge(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chargeLocked(n)
}

func (p *Pool) chargeLocked(n int64) error {
	if p.used+n > p.limit {
		p.dropLocked()
	}
	if p.used+n > p.limit {
		return p.full()
	}
	p.used += n
	return nil
}

// InUse is how many bytes are handed out or kept for reuse.
func (p *Pool) InUse() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Refund ends the account of bytes that were charged.
func (p *Pool) Refund(n int64) {
	p.mu.Lock()
	p.used -= n
	p.mu.Unlock()
}

// dropLocked gives the buffers that nobody uses to the garbage collector.
func (p *Pool) dropLocked() {
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

// Index is a list of n positions with any contents; PutIndex takes it back.
func (p *Pool) Index(n int) ([]int32, error) { return get(p, &p.index, n, 4) }

// PutIndex takes a list of positions back.
func (p *Pool) PutIndex(b []int32) { put(p, &p.index, b) }

// get returns a buffer of n elements with any contents.
func get[T any](p *Pool, free *[][]T, n int, size int64) ([]T, error) {
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

func put[T any](p *Pool, free *[][]T, b []T) {
	if cap(b) == 0 {
		return
	}
	p.mu.Lock()
	*free = append(*free, b)
	p.mu.Unlock()
}

// Release takes back the buffers of a vector.
func (p *Pool) Release(v *Vec) {
	put(p, &p.ints, v.Ints)
	put(p, &p.index, v.Index)
	put(p, &p.bools, v.Valid)
}

// grown returns a scratch buffer of n elements with any contents, b itself if
// it is large enough.
func grown[T any](p *Pool, b []T, n int, size int64) ([]T, error) {
	if cap(b) >= n {
		return b[:n], nil
	}
	if err := p.Charge(int64(n-cap(b)) * size); err != nil {
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
