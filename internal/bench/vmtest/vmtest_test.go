package vmtest

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestHostArchive(t *testing.T) {
	const want = "main: http://m.example/debian security: http://s.example/sec"
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"stanzas", map[string]string{"sources.list.d/debian.sources": "Types: deb\n# a remark\nURIs: http://m.example/debian/\n" +
			"Suites: bookworm bookworm-updates\n\nTypes: deb\nURIs:\n http://s.example/sec\nSuites: bookworm-security\n"}, want},
		{"lines", map[string]string{"sources.list": "# deb http://no.example x main\ndeb [arch=amd64 trusted=yes] http://m.example/debian trixie main\n" +
			"deb-src http://no.example trixie main\ndeb http://s.example/sec trixie-security main # remark\n"}, want},
		{"others first", map[string]string{
			"sources.list.d/a.list": "deb http://other.example nodistro main\n",
			"sources.list.d/b.list": "deb http://m.example/debian sid main\ndeb http://s.example/sec bullseye-security main\n"}, want},
		{"disabled", map[string]string{"sources.list.d/d.sources": "Enabled: no\nURIs: http://m.example\nSuites: sid sid-security\n"}, ""},
		{"no security", map[string]string{"sources.list": "deb http://m.example/debian sid main\n"}, ""},
		{"another system", map[string]string{"sources.list": "deb http://u.example noble main\ndeb http://u.example noble-security main\n"}, ""},
		{"nothing", nil, ""},
	}
	t.Setenv("NETREC_ARCHIVE", "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tt.files {
				if err := writeFile(filepath.Join(root, name), strings.NewReader(text)); err != nil {
					t.Fatal(err)
				}
			}
			a, err := hostArchive(root)
			if tt.want == "" {
				if !errors.Is(err, errNoArchive) {
					t.Fatalf("got %v, %v, want no archive", a, err)
				}
				return
			}
			if got := "main: " + a.main + " security: " + a.security; err != nil || got != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	t.Setenv("NETREC_ARCHIVE", "http://a.example http://b.example")
	if a, err := hostArchive(t.TempDir()); err != nil || a.main != "http://a.example" || a.security != "http://b.example" {
		t.Errorf("NETREC_ARCHIVE gives %v, %v", a, err)
	}
}

func TestNewestRelease(t *testing.T) {
	packages := []string{
		"linux-image-amd64", "linux-image-cloud-amd64", "linux-image-6.1-amd64",
		"linux-image-6.1.0-9-amd64", "linux-image-6.1.0-54-amd64", "linux-image-6.1.0-55-amd64-unsigned",
		"linux-image-6.1.0-60-cloud-amd64", "linux-image-6.1.0-61-rt-amd64", "linux-image-6.1.0-0.deb11.52-amd64",
		"linux-image-6.12.9+deb12-amd64", "linux-image-6.12.115+deb12-amd64", "linux-image-6.12.90+deb12.1-amd64",
		"linux-image-7.2.13+deb14-amd64", "linux-image-7.2.13+deb14-arm64",
	}
	for series, want := range map[string]string{
		"6.1": "6.1.0-54-amd64", "6.12": "6.12.115+deb12-amd64", "": "7.2.13+deb14-amd64", "5.10": "",
	} {
		if got := newestRelease(packages, series); got != want {
			t.Errorf("newest of %q is %q, want %q", series, got, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	const control = "Package: linux-image-7.2.13+deb14-amd64\nVersion: 7.2.13-1\n" +
		"Depends: dracut | linux-initramfs-tool, linux-base-7.2.13+deb14-amd64 (= 7.2.13-1), linux-modules-7.2.13+deb14-amd64 (= 7.2.13-1), kmod\n"
	version, parts := describe(control, "7.2.13+deb14-amd64")
	want := []string{"linux-base-7.2.13+deb14-amd64", "linux-modules-7.2.13+deb14-amd64"}
	if version != "7.2.13-1" || !slices.Equal(parts, want) {
		t.Errorf("got %s %v, want 7.2.13-1 %v", version, parts, want)
	}
}

func TestSelect(t *testing.T) {
	tests := []struct{ list, env, want string }{
		{"", "", "6.1"}, {"", "5.10,newest", "5.10 newest"}, {"6.12", "5.10", "6.12"},
		{"all", "", "5.10 6.1 6.12 6.18 newest"}, {"", "none", ""}, {"4.9", "", "unknown"},
	}
	for _, tt := range tests {
		t.Setenv("NETREC_KERNELS", tt.env)
		names, err := Select(tt.list)
		if got := strings.Join(names, " "); tt.want == "unknown" && err == nil || tt.want != "unknown" && got != tt.want {
			t.Errorf("Select(%q) with %q gives %q, %v, want %q", tt.list, tt.env, got, err, tt.want)
		}
	}
}

func TestLoadOrder(t *testing.T) {
	const dep = "kernel/c.ko: kernel/b.ko kernel/a-a.ko\nkernel/b.ko: kernel/a-a.ko\nkernel/a-a.ko:\nkernel/d.ko: kernel/a-a.ko\n"
	got := strings.Join(loadOrder(dep, []string{"c", "builtin", "d", "a_a"}), " ")
	if want := "kernel/a-a.ko kernel/b.ko kernel/c.ko kernel/d.ko"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWantModule(t *testing.T) {
	for name, want := range map[string]bool{
		"net/sched/sch_netem.ko.xz": true, "drivers/net/veth.ko": true, "fs/9p/9p.ko": true,
		"drivers/net/wireless/mac80211_hwsim.ko": true, "drivers/net/wireless/virtual/mac80211_hwsim.ko": true,
		"drivers/net/ethernet/intel/e1000.ko": false, "drivers/gpu/x.ko": false, "sound/core.ko": false,
	} {
		if got := wantModule(name); got != want {
			t.Errorf("wantModule(%s) = %v", name, got)
		}
	}
}

func TestExtractVmlinuxRefuses(t *testing.T) {
	good := make([]byte, 4096)
	good[bzSetupSects] = 1
	copy(good[bzMagic:], "HdrS")
	binary.LittleEndian.PutUint16(good[bzVersion:], 0x20f)
	binary.LittleEndian.PutUint32(good[bzPayloadLength:], 64)
	change := func(f func(b []byte)) []byte {
		b := slices.Clone(good)
		f(b)
		return b
	}
	tests := map[string][]byte{
		"empty":       nil,
		"short":       good[:bzHeaderEnd-1],
		"no magic":    change(func(b []byte) { b[bzMagic] = 0 }),
		"old":         change(func(b []byte) { binary.LittleEndian.PutUint16(b[bzVersion:], 0x207) }),
		"past end":    change(func(b []byte) { binary.LittleEndian.PutUint32(b[bzPayloadOffset:], 1<<31) }),
		"tiny":        change(func(b []byte) { binary.LittleEndian.PutUint32(b[bzPayloadLength:], 7) }),
		"unknown":     good,
		"broken gzip": change(func(b []byte) { copy(b[1024:], "\x1f\x8b\x08") }),
		"broken zstd": change(func(b []byte) { copy(b[1024:], "\x28\xb5\x2f\xfd") }),
	}
	for name, bz := range tests {
		if elf, err := extractVmlinux(t.Context(), bz); err == nil {
			t.Errorf("%s: gives %d bytes", name, len(elf))
		}
	}
}

func TestSlots(t *testing.T) {
	cache := t.TempDir()
	var releases []func()
	for range guestSlots {
		r, err := acquireSlot(t.Context(), cache)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockPoll)
	defer cancel()
	if _, err := acquireSlot(ctx, cache); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("one guest too many gives %v", err)
	}
	time.AfterFunc(2*lockPoll, releases[1])
	r, err := acquireSlot(t.Context(), cache)
	if err != nil {
		t.Fatalf("a slot that became free gives %v", err)
	}
	r()
	releases[0]()
}

func TestBuildIsWholeOrAbsent(t *testing.T) {
	cache := t.TempDir()
	broken := errors.New("no archive")
	_, err := build(t.Context(), cache, "x", func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "half"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return broken
	})
	if !errors.Is(err, broken) || isDir(filepath.Join(cache, "x")) {
		t.Fatalf("an interrupted build gives %v and leaves its folder", err)
	}
	fills := 0
	for range 3 {
		dir, err := build(t.Context(), cache, "x", func(dir string) error { fills++; return nil })
		if err != nil || !isDir(dir) {
			t.Fatalf("building gives %s, %v", dir, err)
		}
	}
	if fills != 1 {
		t.Errorf("built %d times", fills)
	}
}

func TestMissing(t *testing.T) {
	err := checkTools([]Tool{{"sh", "dash"}, {"no-such-tool", "pkg-a"}, {"/no/such/keyring", "pkg-b"}, {"nor-this", "pkg-a"}})
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatalf("got %v", err)
	}
	const want = "booting kernels: this machine lacks no-such-tool (package pkg-a), /no/such/keyring (package pkg-b), nor-this (package pkg-a)"
	if err.Error() != want {
		t.Errorf("got %q", err)
	}
	if got := missing.Packages(); !slices.Equal(got, []string{"pkg-a", "pkg-b"}) {
		t.Errorf("packages %v", got)
	}
}

func TestConfigRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no command":     {Kernel: "6.1"},
		"no such folder": {Kernel: "6.1", Command: []string{"true"}, Share: "/no/such/folder"},
		"line break":     {Kernel: "6.1", Command: []string{"true"}, Env: []string{"A=b\nrm"}},
		"unknown kernel": {Kernel: "2.4", Command: []string{"true"}},
	} {
		if _, err := Run(t.Context(), cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestImpossible: flags that no CPU has are the emulator's, all others the kernel's or ours.
func TestImpossible(t *testing.T) {
	for console, want := range map[string]string{
		"[  198.6] RSP: 0018:ffffc9000060f6f0 EFLAGS: 0e2a4646\n": "EFLAGS: 0e2a4646",
		"[    1.2] RSP: 0018:ffffc9000060f6f0 EFLAGS: 00010246\n": "",
		"[    1.2] RSP: 002b:00000c5dd0faf120 EFLAGS: 00000216\n": "",
		"Kernel panic - not syncing: Fatal exception\n":           "",
	} {
		if got := (&CrashError{Console: console}).Impossible(); got != want {
			t.Errorf("%q: %q, want %q", console, got, want)
		}
	}
}
