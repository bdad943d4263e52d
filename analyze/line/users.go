package line

import (
	"fmt"
	"strconv"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// UserOptions are the options -U and -u of the BCC tools.
var UserOptions = []engine.Option{
	{Name: "print-uid", Short: "U", Kind: engine.Flag, Doc: "add the user's number"},
	{Name: "uid", Short: "u", Kind: engine.Number, Doc: "only this user, by number"},
}

// CgroupsHelp says which filters of these tools must be given before.
const CgroupsHelp = `Maps of cgroups, containers and mount namespaces (--cgroupmap, --mntnsmap, --containersmap)
need the running kernel. Use netrec record --cgroup or --container instead; a recording has
the cgroup of every process.`

// NoUser stands for a user that is not known.
const NoUser = -1

// Users is what these options want.
type Users struct {
	show    bool
	Only    int64 // noUser for all
	unknown int64 // rows without a user

	Uid scan.Int
}

// NewUsers reads the options.
func NewUsers(in *engine.Input) *Users {
	u := &Users{show: in.Flag("print-uid"), Only: NoUser}
	in.Bind(u)
	if s := in.Text("uid"); s != "" {
		u.Only, _ = strconv.ParseInt(s, 10, 64) // checked as a number before
	}
	return u
}

// Wants tells the user of a row and whether the row is asked for.
func (u *Users) Wants(r *engine.Row) (uid int64, wanted bool) {
	uid = NoUser
	if r.Has(u.Uid) {
		uid = r.Int(u.Uid)
	} else {
		u.unknown++
	}
	return uid, u.Only == NoUser || uid == u.Only
}

// UserField is the user of a row: people see it if they ask.
func UserField[T any](u *Users, uid func(*T) int64) render.Field[T] {
	return render.NumOr("uid", func(row *T) (int64, bool) { n := uid(row); return n, n != NoUser }).TextIf(u.show, "UID", -6)
}

// Note says what could not be told.
func (u *Users) Note(a *render.Answer, one, more string) {
	switch {
	case u.unknown == 0:
	case u.Only != NoUser:
		a.Note(fmt.Sprintf("left out %s: the user was not recorded", engine.Plural(u.unknown, one, more)))
	case u.show:
		a.Note(fmt.Sprintf("not recorded: the user of %s", engine.Plural(u.unknown, one, more)))
	}
}
