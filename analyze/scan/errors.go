package scan

import (
	"errors"
	"fmt"

	"netrec/analyze/words"
)

// What can be wrong with a file, for errors.Is. Every error that Open and Scan
// return for the file's own fault wraps one of them.
var (
	ErrNotCapture = errors.New("not a capture")                 // not Parquet, or not our table
	ErrDamaged    = errors.New("damaged capture")               // Parquet whose parts contradict each other
	ErrNewer      = errors.New("capture of a newer netrec")     // a format this version does not know
	ErrColumn     = errors.New("column of another type")        // a column of ours that holds something else
	ErrLimit      = errors.New("capture larger than a limit")   // more than Options allow
	ErrUnsupport  = errors.New("parquet feature not supported") // valid Parquet that this reader does not decode
)

// Damaged is an ErrDamaged.
func Damaged(format string, a ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, a...))
}

// TooLarge is an ErrLimit.
func TooLarge(what string, got, limit int64) error {
	return fmt.Errorf("%w: %s: %s, at most %s", ErrLimit, what, words.Thousands(got), words.Thousands(limit))
}

// Damage keeps the kind of an error that has one and calls the rest damage.
func Damage(what string, err error) error {
	switch {
	case errors.Is(err, ErrColumn): // says by itself where it is
		return err
	case typedError(err):
		return fmt.Errorf("%s: %w", what, err)
	}
	return Damaged("%s: %w", what, err)
}

// typedError reports whether an error already says what kind of fault it is.
func typedError(err error) bool {
	for _, t := range []error{ErrNotCapture, ErrDamaged, ErrNewer, ErrColumn, ErrLimit, ErrUnsupport} {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

// guard turns a panic of a decoder into an error: the last line of defence
// after every explicit check.
func guard(doing string, err *error) {
	if p := recover(); p != nil {
		*err = Damaged("%s: decoder stopped: %v", doing, p)
	}
}
