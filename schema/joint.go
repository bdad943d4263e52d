package schema

// Joint is a program that does the work of several hooks at one place: the kernel then calls
// one program there, not one for each event. bpf/gen writes it.
type Joint struct {
	Prog  string
	Parts []Hook
}

// Joints lists the joint programs in the order of the events.
func Joints() []Joint {
	var joints []Joint
	at := map[string]int{}
	for _, e := range Events {
		for _, rung := range e.Ladder {
			for _, h := range rung {
				if !h.Joint {
					continue
				}
				i, ok := at[h.Target]
				if !ok {
					i = len(joints)
					at[h.Target] = i
					joints = append(joints, Joint{Prog: h.Target + "_joint"})
				}
				joints[i].Parts = append(joints[i].Parts, h)
			}
		}
	}
	return joints
}
