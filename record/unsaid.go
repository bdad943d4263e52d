package record

import (
	"encoding/binary"
	"fmt"

	"netrec/schema"
)

// unsaid is the losses told by rows that were lost themselves, with the commit they
// were in: one per event, CPU and cause, however long the disk stays full.
type unsaid map[loss]schema.Lost

type loss struct {
	event uint16
	cpu   int32
	cause uint8
}

// keep takes the rows of event lost out of a commit that was not written; those that
// say had put there are among them.
func (u unsaid) keep(rows []byte) {
	clear(u)
	for size := lostEvent.Size(); len(rows) >= size; rows = rows[size:] {
		var row schema.Lost
		if _, err := binary.Decode(rows[:size], binary.LittleEndian, &row); err != nil {
			continue // the recorder itself made it of this type
		}
		key := loss{row.LostEvent, row.LostCPU, row.Cause}
		if before, ok := u[key]; ok {
			row.Count += before.Count
			row.Window = int64(row.TS-before.TS) + before.Window
		}
		u[key] = row
	}
}

// say adds the rows to a pile. They stay unsaid until it is written.
func (u unsaid) say(p *pile) error {
	for _, row := range u {
		if err := p.own(lostEvent.ID, row); err != nil {
			return fmt.Errorf("repeat a loss: %w", err)
		}
	}
	return nil
}
