package findings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"netrec/analyze/engine"
)

// Unit is what a threshold is given in.
type Unit uint8

// Units.
const (
	Count    Unit = iota // a number
	Duration             // nanoseconds, written as 200ms
	Percent              // written as 90%
)

// format writes a threshold as parse reads it.
func (u Unit) format(v float64) string {
	switch u {
	case Duration:
		return time.Duration(v).String()
	case Percent:
		return strconv.FormatFloat(v, 'f', -1, 64) + "%"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func (u Unit) parse(s string) (float64, error) {
	if u == Duration {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return 0, errors.New("want a time such as 200ms")
		}
		return float64(d), nil
	}
	want := "want a number such as 10"
	if u == Percent {
		s, want = strings.TrimSuffix(s, "%"), "want a share such as 90%"
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0 && v <= 1e15) {
		return 0, errors.New(want)
	}
	return v, nil
}

// CheckThreshold tells what is wrong with RULE=VALUE.
func CheckThreshold(s string) error {
	_, _, err := parseThreshold(s)
	return err
}

func parseThreshold(s string) (*Rule, float64, error) {
	name, value, ok := strings.Cut(s, "=")
	var names []string
	for _, r := range Rules {
		if names = append(names, r.Name); r.Name != name {
			continue
		}
		if !ok {
			return nil, 0, fmt.Errorf("%s: want %s=%s", s, name, r.Unit.format(r.Default))
		}
		v, err := r.Unit.parse(value)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", s, err)
		}
		return r, v, nil
	}
	e := &engine.UsageError{Msg: fmt.Sprintf("no rule %q", name), Meant: "the rules are " + strings.Join(names, ", ")}
	if near := engine.Suggest(name, names); near != "" {
		e.Meant = fmt.Sprintf("did you mean %s?", near)
	}
	return nil, 0, e
}

// ThresholdOption is the option of analyses that show findings.
func ThresholdOption() engine.Option {
	o := engine.Option{Name: "threshold", Kind: engine.Several, Check: CheckThreshold, Doc: "change the threshold of a rule, as in slow-dns=200ms"}
	for _, r := range Rules {
		o.Choices = append(o.Choices, r.Name+"="+r.Unit.format(r.Default))
	}
	return o
}

// Help lists the rules with their thresholds.
func Help() string {
	var b strings.Builder
	for _, r := range Rules {
		fmt.Fprintf(&b, "  %-24s %s\n", r.Name+"="+r.Unit.format(r.Default), r.About)
	}
	return b.String()
}
