package engine

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"netrec/analyze/agg"
	"netrec/analyze/render"
	"netrec/analyze/scan"
)

// breaking is an analysis that panics at a point of its life.
func breaking(name, where string) *Analysis {
	at := func(here string) {
		if here == where {
			panic("no good at " + here)
		}
	}
	return &Analysis{Name: name, New: func(in *Input) Fold {
		at("new")
		n := int64(0)
		in.Sockets("")
		in.On("tcp_rcv_est", func(*Row) {
			if n++; n == 2 {
				at("row")
			}
		})
		in.OnEnd(func(*agg.Socket) { at("end") })
		t := numbers(in, render.Spec{Name: "n"})
		return FoldFunc(func(*render.Answer) {
			at("finish")
			t.Line(n)
		})
	}}
}

// TestPanicCostsOneAnswer: whatever breaks in an analysis, the others have their answers, and
// its own says what happened.
func TestPanicCostsOneAnswer(t *testing.T) {
	for _, where := range []string{"new", "row", "end", "finish"} {
		src := parse(t, "", twoProcesses)
		got, oc := run1(t, src, nil, Call{Analysis: counter("before", "tcp_rcv_est")}, Call{Analysis: breaking("bad", where)}, Call{Analysis: counter("after", "tcp_rcv_est")})
		if src.n != 1 || strings.Count(got, "\nN\n3\n") != 2 || oc[0].Status != Answered || oc[2].Status != Answered {
			t.Errorf("%s: %d scans, answers of the others: %s", where, src.n, got)
		}
		want := regexp.MustCompile(`internal error at engine/contain_test\.go:\d+: no good at ` + where)
		if oc[1].Status != Broke || oc[1].Broken == nil || !want.MatchString(oc[1].Broken.Error()) || len(want.FindAllString(got, -1)) != 1 || strings.Contains(got, "N\n2\n") {
			t.Errorf("%s: outcome %+v, said %s", where, oc[1], got)
		}
	}
}

// TestPanicOfNoAnalysis: what all answers are made from is nobody's; then none is complete.
func TestPanicOfNoAnalysis(t *testing.T) {
	out, err := render.NewOutput("text", render.Bpftrace, &strings.Builder{}, &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	var b *Broken
	if _, err := Run(rotten{parse(t, "", twoProcesses)}, []Call{{Analysis: counter("a", "tcp_rcv_est")}}, Selection{}, out); !errors.As(err, &b) || b.Hint() == "" {
		t.Errorf("got %v", err)
	}
}

// rotten is a source whose reader breaks.
type rotten struct{ scan.Source }

func (rotten) Scan(scan.Query, func(*scan.Row) error) error { panic("rotten") }

// TestCheckOfABrokenAnalysis: what overview asks of every analysis breaks with none of them.
func TestCheckOfABrokenAnalysis(t *testing.T) {
	o, err := Check(&scan.Meta{}, breaking("bad", "new"))
	if err != nil || o.Status != Broke || !strings.Contains(o.Why, "no good at new") {
		t.Errorf("%+v, %v", o, err)
	}
}
