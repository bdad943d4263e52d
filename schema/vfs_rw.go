package schema

// VfsRW is one read or write through the layer of file systems, when it begins. Calls
// made for sockets only, such as send(2), do not pass there.
type VfsRW struct {
	Header
	FileIno int64 `col:"file_ino"`
	Asked   int64 `col:"asked_bytes" null:"ones"`
	Type    uint8 `col:"file_type" as:"enum file_type"`
	Func    uint8 `col:"func" as:"enum func"`
	_       [6]uint8
}

var vfsRW = Event{ID: 71, Name: "vfs_rw", Row: VfsRW{}, Rate: Extreme, Profile: Default, Thin: ByTime,
	Groups: []string{"vfs"},
	Doc:    "a read or write of a file of any type began",
	Ladder: []Rung{
		{{Kind: Fentry, Target: "vfs_read", Args: 4, Prog: "vfs_rw_read"},
			{Kind: Fentry, Target: "vfs_write", Args: 4, Prog: "vfs_rw_write"},
			{Kind: Fentry, Target: "vfs_readv", Args: 5, Prog: "vfs_rw_readv"},
			{Kind: Fentry, Target: "vfs_writev", Args: 5, Prog: "vfs_rw_writev"}},
		{{Kind: Kprobe, Target: "vfs_read", Prog: "vfs_rw_read_kprobe"},
			{Kind: Kprobe, Target: "vfs_write", Prog: "vfs_rw_write_kprobe"},
			{Kind: Kprobe, Target: "vfs_readv", Prog: "vfs_rw_readv_kprobe"},
			{Kind: Kprobe, Target: "vfs_writev", Prog: "vfs_rw_writev_kprobe"}},
	}}
