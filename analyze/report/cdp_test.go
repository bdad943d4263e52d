package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium, spoken to over a pipe in its DevTools protocol.
type browser struct {
	t       *testing.T
	in      io.Writer
	mu      sync.Mutex
	id      int
	answers map[int]chan message
	session string
	events  []message
	loaded  chan struct{}
}

// message is a command, its answer or an event.
type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

// patience is how long the browser may take for one thing: far more than it needs.
const patience = 2 * time.Minute

func findBrowser() string {
	for _, name := range []string{os.Getenv("NETREC_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startBrowser opens a page of its own in a browser that ends with the test.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	path := findBrowser()
	if path == "" {
		t.Skip("the page is not looked at: no Chromium on this machine (NETREC_BROWSER names one)")
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: in, answers: map[int]chan message{}, loaded: make(chan struct{}, 8)}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil, nil)
		in.Close()
		_ = cmd.Wait() // it ends by our closing it, whatever its code
	})
	go b.read(out)
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func (b *browser) read(r io.Reader) {
	br := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := br.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			continue
		}
		b.mu.Lock()
		if c := b.answers[m.ID]; m.ID != 0 && c != nil {
			c <- m
			delete(b.answers, m.ID)
		} else {
			b.events = append(b.events, m)
		}
		b.mu.Unlock()
		if m.Method == "Page.loadEventFired" {
			b.loaded <- struct{}{}
		}
	}
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		b.t.Fatal(err)
	}
	c := make(chan message, 1)
	b.mu.Lock()
	b.id++
	m := message{ID: b.id, Method: method, SessionID: b.session, Params: raw}
	b.answers[m.ID] = c
	b.mu.Unlock()
	line, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(line, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case m = <-c:
	case <-time.After(patience):
		b.t.Fatalf("%s: no answer from the browser", method)
	}
	if m.Error != nil {
		b.t.Fatalf("%s: %s", method, m.Error)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
	}
}

// open shows a file and waits until it is loaded and had time to draw.
func (b *browser) open(path string) {
	b.t.Helper()
	b.mu.Lock()
	b.events = nil
	b.mu.Unlock()
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	select {
	case <-b.loaded:
	case <-time.After(patience):
		b.t.Fatalf("%s is not loaded", path)
	}
	b.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`, nil)
}

// eval runs an expression in the page.
func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var v struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &v)
	if v.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, v.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(v.Result.Value, result); err != nil {
			b.t.Fatalf("%s: %s: %v", expression, v.Result.Value, err)
		}
	}
}

// complaints are errors and warnings of the page, and everything that it asked the
// network for beside itself.
func (b *browser) complaints() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	documents := 0
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			all = append(all, fmt.Sprintf("%s %s", e.Method, e.Params))
		case "Network.requestWillBeSent", "Network.webSocketCreated":
			if documents++; documents > 1 {
				all = append(all, fmt.Sprintf("asked the network: %s", e.Params))
			}
		}
	}
	return all
}
