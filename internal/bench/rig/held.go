package rig

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// holdEnv tells the test program to map the code of a file and do nothing else.
const holdEnv = "NETREC_RIG_HOLD"

// nobody is a user without any rights.
const nobody = 65534

// InitHold must be called before any test of packages that use Hold, in an init.
func InitHold() {
	if os.Getenv(holdEnv) == "" {
		return
	}
	const given = 3
	if _, err := unix.Mmap(given, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	unix.Close(given) // at the end of the process it would ask the file system
	fmt.Println("mapped")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until whoever started it is gone
	os.Exit(0)
}

// Held is a process of a user without rights that has the code of a file in its memory.
type Held struct {
	cmd *exec.Cmd
	end *os.File
}

// Hold starts one.
func Hold(path string) (*Held, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), holdEnv+"=1")
	cmd.ExtraFiles, cmd.Stdin, cmd.Stderr = []*os.File{f}, in, os.Stderr
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		end.Close()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		end.Close()
		return nil, err
	}
	h := &Held{cmd, end}
	if _, err := out.Read(make([]byte, len("mapped"))); err != nil {
		h.Close()
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return h, nil
}

// Pid is the process.
func (h *Held) Pid() int { return h.cmd.Process.Pid }

// Close ends it.
func (h *Held) Close() {
	h.end.Close()
	_ = h.cmd.Wait()
}

// Bomb is a library of a megabyte whose n functions have overlapping names: whoever makes a
// string of each needs n megabytes.
func Bomb(n int) []byte {
	const head, names = 64 + 3*64, 1 << 20
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: 64, Ehsize: 64, Phentsize: 56, Shentsize: 64, Shnum: 3}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	put(h)
	put(elf.Section64{})
	put(elf.Section64{Type: uint32(elf.SHT_DYNSYM), Off: head, Size: uint64(n * 24), Link: 2, Entsize: 24})
	put(elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: uint64(head + n*24), Size: names})
	for i := range n {
		put(elf.Sym64{Name: uint32(i), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Size: 16})
	}
	return append(append(b.Bytes(), bytes.Repeat([]byte{'a'}, names-1)...), 0)
}
