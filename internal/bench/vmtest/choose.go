package vmtest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// imagePackage matches signed images for whole machines: no cloud, rt or
// unsigned flavour. The first group is the release.
var imagePackage = regexp.MustCompile(`^linux-image-(\d+\.\d+\.[0-9.]*[^-]*(?:-[0-9.]+(?:deb[0-9.]+)?)?-amd64)$`)

// choose finds the newest image of a series and the packages it is split into.
func choose(ctx context.Context, apt *aptRoot, src source) (Kernel, []string, error) {
	names, err := apt.run(ctx, "apt-cache", "pkgnames", "linux-image-")
	if err != nil {
		return Kernel{}, nil, fmt.Errorf("listing kernels of %s: %w", src.suite, err)
	}
	release := newestRelease(strings.Fields(string(names)), src.series)
	if release == "" {
		return Kernel{}, nil, fmt.Errorf("suite %s has no kernel of series %q", src.suite, src.series)
	}
	k := Kernel{Name: src.name, Package: "linux-image-" + release, Release: release, Suite: src.suite}
	var packages []string
	for queue := []string{k.Package}; len(queue) > 0; queue = queue[1:] {
		name := queue[0]
		if slices.Contains(packages, name) {
			continue
		}
		text, err := apt.run(ctx, "apt-cache", "show", "--no-all-versions", name)
		if err != nil {
			return Kernel{}, nil, fmt.Errorf("reading about %s: %w", name, err)
		}
		version, parts := describe(string(text), release)
		if version == "" {
			// Backports forget parts of superseded kernels; unpackKernel notices
			// when what it needs was in one of them.
			continue
		}
		if k.Version == "" {
			k.Version = version
		}
		packages = append(packages, name)
		queue = append(queue, parts...)
	}
	if len(packages) == 0 {
		return Kernel{}, nil, fmt.Errorf("suite %s lists %s without offering it", src.suite, k.Package)
	}
	return k, packages, nil
}

// describe reads a package's version and which packages of the same release it
// depends on: newer kernels come split into several.
func describe(control, release string) (version string, parts []string) {
	for line := range strings.Lines(control) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Version":
			version = value
		case "Depends":
			for dep := range strings.SplitSeq(value, ",") {
				name, _, _ := strings.Cut(strings.TrimSpace(dep), " ")
				if strings.HasPrefix(name, "linux-") && strings.HasSuffix(name, "-"+release) {
					parts = append(parts, name)
				}
			}
		}
	}
	return version, parts
}

// newestRelease picks the highest release of a series by its numbers.
func newestRelease(packages []string, series string) string {
	best := ""
	for _, p := range packages {
		m := imagePackage.FindStringSubmatch(p)
		if m == nil || (series != "" && !strings.HasPrefix(m[1], series+".")) {
			continue
		}
		if best == "" || slices.Compare(numbers(m[1]), numbers(best)) > 0 {
			best = m[1]
		}
	}
	return best
}

// numbers gives the runs of digits of a release, which order releases.
func numbers(release string) []int {
	var out []int
	n, in := 0, false
	for _, c := range release {
		if c >= '0' && c <= '9' {
			n, in = n*10+int(c-'0'), true
			continue
		}
		if in {
			out = append(out, n)
		}
		n, in = 0, false
	}
	return out
}
