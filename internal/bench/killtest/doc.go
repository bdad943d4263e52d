// Package killtest kills recorders under load, fills their disk, and lets their system calls
// fail, and holds what is left of the recordings against the log of the load.
//
// All of it is tests, because only tests may use recorder and analyzer together.
// They need root. testdata/kill/kill.sh runs the long version; NETREC_PYTHON names
// an interpreter with pyarrow and duckdb for the checks with stock readers.
package killtest
