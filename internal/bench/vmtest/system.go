package vmtest

import "slices"

// systemPackages make a Debian that systemd runs and that packages can be installed on.
var systemPackages = []string{
	"apt", "base-files", "busybox-static", "coreutils", "curl", "dash", "dbus", "iproute2", "kmod", "libc-bin",
	"mount", "ncat", "passwd", "procps", "sed", "sudo", "systemd", "systemd-sysv", "tar", "util-linux",
}

// commandUnit runs the command when everything else is up. Whoever stops all other units
// leaves it.
const commandUnit = `[Unit]
Description=The command that the host gave
After=multi-user.target
IgnoreOnIsolate=yes
[Service]
Type=oneshot
Environment=run=/mnt/vmtest HOME=/root LANG=C.UTF-8 TERM=dumb
ExecStart=/bin/sh /mnt/vmtest/last
`

// systemRoot is the root of a guest with systemd. Its maintainer scripts have not run
// either: what they would have made of users, PAM and dpkg is here. Nobody logs in, so
// no terminal waits for a device manager that there is not.
var systemRoot = recipe{
	packages: systemPackages,
	dirs: append(slices.Clone(imageDirs), "etc/apt", "etc/apt/preferences.d", "etc/pam.d", "etc/sudoers.d", "etc/sysctl.d", "etc/systemd",
		"etc/systemd/system", "etc/systemd/system/graphical.target.wants", "var/cache", "var/cache/apt", "var/cache/apt/archives",
		"var/cache/apt/archives/partial", "var/lib/apt", "var/lib/apt/lists", "var/lib/apt/lists/partial", "var/lib/dpkg",
		"var/lib/dpkg/info", "var/lib/dpkg/parts", "var/lib/dpkg/triggers", "var/lib/dpkg/updates", "var/log/apt"),
	links: append(slices.Clone(imageLinks),
		[2]string{"etc/systemd/system/graphical.target.wants/vmtest.service", "../vmtest.service"},
		[2]string{"etc/systemd/system/getty@.service", "/dev/null"},
		[2]string{"etc/systemd/system/serial-getty@.service", "/dev/null"}),
	files: append(slices.Clone(imageFiles),
		[2]string{"etc/hostname", "debian\n"},
		[2]string{"etc/machine-id", "6e657472656374657374677565737401\n"},
		[2]string{"etc/systemd/system/vmtest.service", commandUnit},
		[2]string{"etc/sudoers.d/user", "user ALL=(ALL) NOPASSWD: ALL\n"},
		[2]string{"etc/pam.d/common-auth", "auth required pam_permit.so\n"},
		[2]string{"etc/pam.d/common-account", "account required pam_permit.so\n"},
		[2]string{"etc/pam.d/common-session", "session required pam_permit.so\n"},
		[2]string{"etc/pam.d/common-session-noninteractive", "session required pam_permit.so\n"},
		[2]string{"var/lib/dpkg/status", ""}, [2]string{"var/lib/dpkg/available", ""}),
}

// root is the recipe of the guest's root.
func (c *Config) root() recipe {
	if c.System {
		return systemRoot
	}
	return commandRoot
}
