package analyze

import (
	"fmt"
	"strconv"

	"netrec/analyze/engine"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// userOptions are the options -U and -u of the BCC tools.
var userOptions = []engine.Option{
	{Name: "print-uid", Short: "U", Kind: engine.Flag, Doc: "add the user's number"},
	{Name: "uid", Short: "u", Kind: engine.Number, Doc: "only this user, by number"},
}

// cgroupsHelp says which filters of these tools must be given before.
const cgroupsHelp = `Maps of cgroups, containers and mount namespaces (--cgroupmap, --mntnsmap, --containersmap)
need the running kernel. Use netrec record --cgroup or --container instead; a recording has
the cgroup of every process.`

// noUser stands for a user that is not known.
const noUser = -1

// users is what these options want.
type users struct {
	show    bool
	only    int64 // noUser for all
	unknown int64 // rows without a user
	uid     scan.Col
}

func newUsers(in *engine.Input) *users {
	u := &users{show: in.Flag("print-uid"), only: noUser, uid: in.Int("uid")}
	if s := in.Text("uid"); s != "" {
		u.only, _ = strconv.ParseInt(s, 10, 64) // checked as a number before
	}
	return u
}

// wants tells the user of a row and whether the row is asked for.
func (u *users) wants(r *engine.Row) (uid int64, wanted bool) {
	uid = noUser
	if r.Has(u.uid) {
		uid = r.Int(u.uid)
	} else {
		u.unknown++
	}
	return uid, u.only == noUser || uid == u.only
}

// column is the user's: people see it if they ask.
func (u *users) column() render.Column {
	c := render.Col("uid", render.Int)
	if u.show {
		c = c.Text("UID", -6)
	}
	return c
}

func putUser(t *render.Table, uid int64) *render.Table { return t.IntOr(uid, uid != noUser) }

// note says what could not be told.
func (u *users) note(a *render.Answer, one, more string) {
	switch {
	case u.unknown == 0:
	case u.only != noUser:
		a.Note(fmt.Sprintf("left out %s: the user was not recorded", engine.Plural(u.unknown, one, more)))
	case u.show:
		a.Note(fmt.Sprintf("not recorded: the user of %s", engine.Plural(u.unknown, one, more)))
	}
}
