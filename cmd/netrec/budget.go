package main

import (
	"fmt"
	"strconv"
	"strings"

	"netrec/schema"
)

// limit understands --budget. What may be thinned during the recording is a share from the start.
func (f *recordFlags) limit() error {
	if f.budget == "" {
		return nil
	}
	number, isPercent := strings.CutSuffix(f.budget, "%")
	p, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !isPercent || !(p > 0 && p < 100) {
		return hinted{fmt.Errorf("--budget %s: want a share of the host's CPU time", f.budget), "--budget 2%"}
	}
	f.opt.Budget = p / 100
	if f.opt.Share == nil {
		f.opt.Share = &schema.Share{Keep: 1, Of: 1}
	}
	return nil
}

// budgetHelp is what the help says of the budget.
const budgetHelp = `A budget (--budget 2%) keeps probes and recorder together below that share of the CPU time of all CPUs.
Under load, netrec samples the frequent events: sends, receives and segments by connection, each
kept whole or left out whole, and packets. The share is halved when the load grows and doubled
when it falls. States, connects, drops, retransmissions, resets and lookups are always recorded.
Each change of the share is in the file, and answers say that they are scaled.
`
