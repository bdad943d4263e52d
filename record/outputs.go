package record

import (
	"sync"

	"netrec/record/capture"
	"netrec/record/place"
)

// outputs are the files of a recording: the first, and where those after it come from.
type outputs struct {
	asked   *Options
	file    *capture.Writer
	files   place.Files // that are named by time, or come after Output
	noFiles error       // why there are none
	filesMu sync.Mutex
	path    string // of the newest of them
	turning rotation
}

// open makes the first file, with the privileges there are. Those after it are made later, without
// them; that this cannot be is no reason not to record.
func (o *outputs) open() error {
	var err error
	if o.asked.Place == nil {
		if o.file, err = capture.Create(o.asked.Output, o.asked.Force, createdBy(o.asked.Version)); err == nil {
			o.files, o.noFiles = place.Open(place.After(o.asked.Output))
		}
		return err
	}
	if o.files, err = place.Open(*o.asked.Place); err != nil {
		return err
	}
	o.file, o.path, err = o.create()
	return err
}

// create makes the next file as the plan says.
func (o *outputs) create() (*capture.Writer, string, error) {
	if o.files == nil {
		return nil, "", o.noFiles
	}
	o.filesMu.Lock()
	defer o.filesMu.Unlock()
	f, path, err := o.files.Begin()
	if err != nil {
		return nil, "", err
	}
	w, err := capture.New(f, createdBy(o.asked.Version))
	if err != nil {
		o.files.Discard()
	}
	return w, path, err
}

// publish gives a file its name.
func (o *outputs) publish() error {
	o.filesMu.Lock()
	defer o.filesMu.Unlock()
	return o.files.Publish()
}

// discard removes a file that is not needed after all.
func (o *outputs) discard(c *preparedFile) {
	_ = c.file.Close()
	o.filesMu.Lock()
	defer o.filesMu.Unlock()
	o.files.Discard()
}

// prune removes files that are too many.
func (o *outputs) prune() error {
	if o.asked.Place == nil {
		return nil
	}
	o.filesMu.Lock()
	defer o.filesMu.Unlock()
	return o.files.Prune()
}

// discardNext discards the file that rotate prepares, when the recording ends.
func (o *outputs) discardNext() {
	if !o.turning.under {
		return
	}
	if c := <-o.turning.ready; c.err == nil {
		o.discard(c)
	}
}

// keeper is the process that makes the next files, 0 for none.
func (o *outputs) keeper() uint32 {
	if o.files == nil {
		return 0
	}
	return o.files.Pid()
}
