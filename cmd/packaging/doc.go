// Package packaging has what is released: dist.sh builds it, check.sh looks into it, and the
// test here follows docs/service.md on a Debian machine. It is no code that anybody imports.
package packaging
