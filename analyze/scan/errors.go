package scan

import (
	"errors"

	"netrec/analyze/parquetfile"
)

// What can be wrong with a file, for errors.Is. Every error that Open and Scan
// return for the file's own fault wraps one of them.
var (
	ErrNotCapture = errors.New("not a capture")             // not Parquet, or not our table
	ErrNewer      = errors.New("capture of a newer netrec") // a format this version does not know
	ErrDamaged    = parquetfile.ErrDamaged                  // Parquet whose parts contradict each other
	ErrColumn     = parquetfile.ErrColumn                   // a column of ours that holds something else
	ErrLimit      = parquetfile.ErrLimit                    // more than Options allow
	ErrUnsupport  = parquetfile.ErrUnsupport                // valid Parquet that this reader does not decode
)

// guard turns a panic of a decoder into an error: the last line of defence
// after every explicit check.
func guard(doing string, err *error) {
	if p := recover(); p != nil {
		*err = parquetfile.Damaged("%s: decoder stopped: %v", doing, p)
	}
}
