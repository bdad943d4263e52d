package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"netrec/record"
	"netrec/schema"
)

func probesCmd() *cobra.Command {
	var events []string
	cmd := &cobra.Command{
		Use:         "probes",
		Annotations: map[string]string{privileged: "yes"},
		Short:       "show which hook sees each event on this kernel, and why others do not",
		Long: `Attach the hooks of every event to this kernel for a moment. Show which hooks were chosen,
which others would work, and which were refused and why. Nothing is recorded.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := record.Select(events, schema.Full)
			if err != nil {
				return err
			}
			if len(events) == 0 {
				for i := range schema.Events {
					if schema.Events[i].Profile == schema.Asked {
						list = append(list, &schema.Events[i])
					}
				}
			}
			plans, err := record.Probe(list)
			if err != nil {
				return err
			}
			return printPlans(c.OutOrStdout(), plans)
		},
	}
	cmd.Flags().StringSliceVarP(&events, "events", "e", nil, "only these events and groups")
	completeFlags(cmd, map[string]completer{"events": completeEvents})
	return cmd
}

func printPlans(w io.Writer, plans []record.ProbePlan) error {
	missing := 0
	for _, p := range plans {
		chosen := strings.Join(p.Hooks, " + ")
		if chosen == "" {
			chosen = "NONE: this kernel cannot show it"
			missing++
		}
		fmt.Fprintf(w, "%-21s %-8s %s\n", p.Event, p.Profile, chosen)
		for _, f := range p.Files {
			fmt.Fprintf(w, "%30s in: %s\n", "", f.Path)
			for _, r := range f.Refused {
				fmt.Fprintf(w, "%30s refused: %s: %s\n", "", r.Hook, r.Why)
			}
		}
		if p.Unseen != "" {
			fmt.Fprintf(w, "%30s not seen: %s\n", "", p.Unseen)
		}
		for _, a := range p.Also {
			fmt.Fprintf(w, "%30s also possible: %s\n", "", a)
		}
		for _, r := range p.Refused {
			fmt.Fprintf(w, "%30s refused: %s: %s\n", "", r.Hook, r.Why)
		}
	}
	fmt.Fprintf(w, "%d of %d events can be recorded here\n", len(plans)-missing, len(plans))
	return nil
}
