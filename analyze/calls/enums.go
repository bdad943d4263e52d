package calls

import "netrec/schema"

// FamilyNumber is the number of an address family, as the originals print it.
func FamilyNumber(name string) int64 { return EnumNumber("family", name) }

// EnumNumber is the number of a name in an enum of the schema; names that are numbers
// themselves stand for those.
func EnumNumber(enum, name string) int64 {
	for _, v := range schema.Enums[enum].Values {
		if v.Name == name {
			return v.Value
		}
	}
	n := int64(0)
	for _, c := range []byte(name) {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}
