package parquetfile

import (
	"errors"
	"fmt"

	"netrec/analyze/words"
)

// What can be wrong with a file, for errors.Is. The words are those of its users, to whom every
// such file is a capture.
var (
	ErrDamaged   = errors.New("damaged capture")               // Parquet whose parts contradict each other
	ErrColumn    = errors.New("column of another type")        // a column that the caller refuses
	ErrLimit     = errors.New("capture larger than a limit")   // more than Limits allow
	ErrUnsupport = errors.New("parquet feature not supported") // valid Parquet that is not decoded
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
	for _, t := range []error{ErrDamaged, ErrColumn, ErrLimit, ErrUnsupport} {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}
