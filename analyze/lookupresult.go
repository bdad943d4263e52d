package analyze

import "strconv"

// lookupErrors are the errors of getaddrinfo, by their number without its sign. The C
// libraries of Linux have the same ones.
var lookupErrors = [...]string{1: "EAI_BADFLAGS", 2: "EAI_NONAME", 3: "EAI_AGAIN", 4: "EAI_FAIL", 5: "EAI_NODATA", 6: "EAI_FAMILY",
	7: "EAI_SOCKTYPE", 8: "EAI_SERVICE", 9: "EAI_ADDRFAMILY", 10: "EAI_MEMORY", 11: "EAI_SYSTEM", 12: "EAI_OVERFLOW"}

// lookupResult is what a lookup gave: ok, the error by its name, or that there was nothing.
func lookupResult(ret int64, herrno string, failed bool) string {
	switch {
	case !failed:
		return "ok"
	case herrno != "":
		return herrno
	case ret < 0 && ret > -int64(len(lookupErrors)):
		return lookupErrors[-ret]
	case ret != 0:
		return strconv.FormatInt(ret, 10)
	}
	return "not found"
}
