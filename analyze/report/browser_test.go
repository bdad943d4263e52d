package report

import (
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netrec/analyze/scan"
)

var shots = flag.String("shots", "", "put pictures of the page into this directory")

const sample = "../../cmd/netrec/sample.parquet"

func sampleFile(t *testing.T) *scan.File {
	t.Helper()
	f, err := scan.Open(sample, scan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func pageFile(t *testing.T, srcs ...scan.Source) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := Write(srcs, Options{}, w); err != nil {
		t.Fatal(err)
	}
	return path
}

// blank lists the charts without a canvas, or with one of a single colour.
const blank = `[...document.querySelectorAll(".chart:not([hidden])")].filter((el) => {
	const c = el.querySelector("canvas");
	if (!c || !c.width) return true;
	const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", {willReadFrequently: true});
	copy.drawImage(c, 0, 0);
	const px = new Uint32Array(copy.getImageData(0, 0, c.width, c.height).data.buffer);
	return px.every((p) => p === px[0]);
}).map((el) => el.dataset.chart || el.dataset.hist || el.dataset.heat || el.id)`

// Screens that the page is looked at on.
var screens = []struct {
	name          string
	width, height int
	scheme        string
}{{"wide-light", 1400, 900, "light"}, {"wide-dark", 1400, 900, "dark"}, {"narrow-light", 390, 800, "light"}, {"narrow-dark", 390, 800, "dark"}}

func TestBrowser(t *testing.T) {
	b := startBrowser(t)
	path := pageFile(t, sampleFile(t))
	for _, s := range screens {
		b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": s.width, "height": s.height, "deviceScaleFactor": 1, "mobile": false}, nil)
		b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": s.scheme}}}, nil)
		b.open(path)
		var empty []string
		if b.eval(blank, &empty); len(empty) > 0 {
			t.Errorf("%s: charts without anything drawn: %v", s.name, empty)
		}
		var charts, wider int
		b.eval(`document.querySelectorAll(".chart canvas").length`, &charts)
		b.eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &wider)
		if charts < 10 || wider > 0 {
			t.Errorf("%s: %d charts, %d pixels wider than the screen", s.name, charts, wider)
		}
		bars(b, s.name)
		clickThrough(b, s.name)
		if c := b.complaints(); len(c) > 0 {
			t.Errorf("%s: %s", s.name, strings.Join(c, "\n"))
		}
		if *shots != "" {
			if err := os.MkdirAll(*shots, 0o755); err != nil {
				t.Fatal(err)
			}
			shoot(b, filepath.Join(*shots, s.name))
		}
	}
}

// bars measures the pieces of the bars, and follows a slow turn to its socket.
func bars(b *browser, screen string) {
	b.t.Helper()
	var got struct {
		Bars, Wrong, Clear int
		Service, Story     string
	}
	b.eval(`(() => {
		const bars = [...document.querySelectorAll("#waits .bar")].filter((bar) => bar.clientWidth > 200 && bar.clientHeight > 5), button = document.querySelector("#waits button.sock");
		const count = (test) => bars.filter((bar) => [...bar.children].some((i) => test(i, bar.clientWidth))).length;
		button.click();
		return {Bars: bars.length, Wrong: count((i, width) => Math.abs(i.getBoundingClientRect().width - i.dataset.part * width) > 1),
			Clear: count((i) => getComputedStyle(i).backgroundColor === "rgba(0, 0, 0, 0)"),
			Service: button.closest("tr").cells[2].textContent, Story: document.getElementById("story-name").textContent};
	})()`, &got)
	if got.Bars < 5 || got.Wrong != 0 || got.Clear != 0 || len(got.Service) < 3 || !strings.Contains(got.Story, got.Service) {
		b.t.Errorf("%s: where the time went: %+v", screen, got)
	}
}

// clickThrough clicks on sockets and sees whose story is shown.
func clickThrough(b *browser, screen string) {
	b.t.Helper()
	var n int
	b.eval(`document.querySelectorAll("#sockets table button.sock").length`, &n)
	if n < 5 {
		b.t.Fatalf("%s: %d sockets to click on", screen, n)
	}
	for _, i := range []int{n - 1, n / 2, 0} {
		var got struct {
			Name, Shown string
			Lines       int
			Top, Height float64
		}
		b.eval(fmt.Sprintf(`(() => {
			const button = document.querySelectorAll("#sockets table button.sock")[%d], story = document.getElementById("story");
			button.scrollIntoView({block: "center"});
			const at = button.getBoundingClientRect();
			document.elementFromPoint(at.left + 5, at.top + 5).click();
			return {Name: button.textContent, Shown: document.getElementById("story-name").textContent,
				Lines: document.querySelectorAll("#story-lines tbody tr").length, Top: story.getBoundingClientRect().top, Height: innerHeight};
		})()`, i), &got)
		if got.Name == "" || got.Name != got.Shown || got.Lines == 0 || got.Top < 0 || got.Top > got.Height {
			b.t.Errorf("%s: a click on socket %d shows %+v", screen, i, got)
		}
	}
	var empty []string
	if b.eval(blank, &empty); len(empty) > 0 {
		b.t.Errorf("%s: after clicks nothing is drawn in %v", screen, empty)
	}
}

// shoot takes pictures of the page, part by part.
func shoot(b *browser, name string) {
	b.eval(`window.scrollTo(0, 0)`, nil)
	var parts []struct {
		ID         string
		X, Y, W, H float64
	}
	b.eval(`[...document.querySelectorAll("section, #story")].map((s) => {
		const r = s.getBoundingClientRect();
		return {ID: s.id, X: r.left, Y: r.top + scrollY, W: r.width, H: Math.min(r.height, 2600)};
	})`, &parts)
	for _, p := range parts {
		var shot struct{ Data string }
		b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
			"clip": map[string]any{"x": p.X, "y": p.Y, "width": p.W, "height": p.H, "scale": 1}}, &shot)
		png, err := base64.StdEncoding.DecodeString(shot.Data)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(name+"-"+p.ID+".png", png, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

// A recording whose every name is an attack changes nothing of the page.
func TestBrowserHostile(t *testing.T) {
	b := startBrowser(t)
	b.open(pageFile(t, hostile(t)))
	var done struct {
		Pwned    string
		Scripts  int
		Images   int
		Handlers int
		Title    string
		Findings int
	}
	b.eval(`({Pwned: String(window.pwned), Scripts: document.scripts.length, Images: document.images.length, Title: document.title,
		Handlers: document.querySelectorAll("[onerror],[onclick],[onload],iframe,object,svg,form").length, Findings: document.querySelectorAll(".findings li").length})`, &done)
	if done.Pwned != "undefined" || done.Scripts != 3 || done.Images != 0 || done.Handlers != 0 || done.Findings == 0 || !strings.Contains(done.Title, "<b>") {
		t.Errorf("the page of a hostile recording: %+v", done)
	}
	if c := b.complaints(); len(c) > 0 {
		t.Errorf("%s", strings.Join(c, "\n"))
	}
}

// keepDrawn makes the page tell which values its charts were given.
const keepDrawn = `(() => {
	let real;
	window.drawn = {};
	Object.defineProperty(window, "uPlot", {get: () => real && new Proxy(real, {construct(to, args) {
		window.drawn[args[2].dataset.chart] = args[1];
		return new to(...args);
	}}), set: (v) => { real = v; }});
})()`

// What goes wrong once is drawn as one, however short the time of a point is.
func TestBrowserCounts(t *testing.T) {
	b := startBrowser(t)
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": keepDrawn}, nil)
	b.open(pageFile(t, parse(t, `{"Recording": {"start_ns": 1772373120000000000, "stop_ns": 1772373160000000000}}`, `
+10s tcp_retrans sock=0x10 snd_cwnd=5 retrans_kind=R retrans_segs=1
+20s skb_drop sock=0x10 drop_reason=NO_SOCKET`)))
	for chart, want := range map[string]float64{"trouble": 1, "drops": 1, "events": 10} {
		var most float64
		b.eval(`Math.max(...window.drawn["`+chart+`"][1])`, &most)
		if most != want {
			t.Errorf("chart %s goes up to %g, want %g", chart, most, want)
		}
	}
	var title string
	if b.eval(`document.querySelectorAll("#timeline h3")[2].textContent`, &title); title != "What went wrong, in each 100ms" {
		t.Errorf("the chart is called %q", title)
	}
}

// Two recordings are on one time axis, and every row and line says of which it is.
func TestBrowserSeveral(t *testing.T) {
	b := startBrowser(t)
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": keepDrawn}, nil)
	const talk = `
+1s sys_connect sock=0xffff888000001000 pid=7 comm=curl ret=-111 dur_ns=1000 family=inet sock_type=stream protocol=tcp dest_addr=10.0.0.2 dest_port=5432 conn=10.0.0.1:40000>10.0.0.2:5432
+2s skb_drop sock=0xffff888000001000 pid=7 drop_reason=NO_SOCKET`
	b.open(pageFile(t, parse(t, `{"Path": "a.parquet", "Host": {"name": "web1"}, "Recording": {"start_ns": 1772373120000000000, "stop_ns": 1772373130000000000}}`, talk),
		parse(t, `{"Path": "b.parquet", "Host": {"name": "web2"}, "Recording": {"start_ns": 1772373120000000000, "stop_ns": 1772373140000000000}}`, strings.ReplaceAll(talk, "+", "+1"))))
	var got struct {
		Title, Story    string
		Findings, Found int
		Times           []float64
		After           bool
	}
	b.eval(`(() => {
		const [time, first, second] = window.drawn.drops, at = (line) => time[line.findIndex((v) => v > 0)];
		document.querySelectorAll("#sockets table button.sock")[0].click();
		const s = document.getElementById("search");
		s.value = "web2";
		s.dispatchEvent(new Event("input"));
		const found = [...document.querySelectorAll(".findings li")];
		return {Title: document.title, Story: document.getElementById("story-name").textContent, Findings: found.length, Found: found.filter((f) => !f.hidden && f.textContent.includes("web2")).length,
			Times: [at(first), at(second)], After: first.at(-1) == null && second.at(-1) === 0};
	})()`, &got)
	if got.Title != "netrec: 2 recordings" || !strings.HasPrefix(got.Story, "web") || got.Findings != 2 || got.Found != 1 || fmt.Sprint(got.Times) != "[2 12]" || !got.After {
		t.Errorf("the page of two recordings: %+v", got)
	}
	if c := b.complaints(); len(c) > 0 {
		t.Errorf("%s", strings.Join(c, "\n"))
	}
}

// The address of the page keeps words, time and socket; tables show what is left of them.
func TestBrowserChoices(t *testing.T) {
	b := startBrowser(t)
	path := pageFile(t, sampleFile(t))
	b.open(path)
	type view struct {
		Shown, Rows, Wrong, Story int
		Said, Hash                string
	}
	look := func() (v view) {
		b.eval(`(() => {
			const rows = [...document.querySelectorAll("#sockets tr[data-row]")].filter((r) => !r.hidden);
			return {Shown: rows.length, Rows: document.querySelectorAll("#sockets tr[data-row]").length, Wrong: rows.filter((r) => !r.textContent.includes("::1")).length,
				Story: [...document.querySelectorAll("#story-lines tr[data-t]")].filter((r) => !r.hidden && (r.dataset.t < 2 || r.dataset.t > 3)).length,
				Said: document.getElementById("shown").textContent, Hash: location.hash};
		})()`, &v)
		return v
	}
	all := look()
	if all.Shown != all.Rows || all.Rows < 20 || all.Said != "" {
		t.Errorf("at first: %+v", all)
	}
	b.eval(`(() => { const s = document.getElementById("search"); s.value = "::1"; s.dispatchEvent(new Event("input")); })()`, nil)
	words := look()
	if words.Shown == 0 || words.Shown == all.Rows || words.Wrong != 0 || !strings.Contains(words.Said, " rows") || !strings.Contains(words.Hash, "q=") {
		t.Errorf("after a search for ::1: %+v", words)
	}
	b.eval(`document.querySelectorAll("#sockets table button.sock")[3].click()`, nil)
	b.eval(`document.querySelector("nav a[href='#drops']").click()`, nil)
	hash := look().Hash
	if !strings.HasPrefix(hash, "#drops?q=") || !strings.Contains(hash, "sock=") {
		t.Errorf("the address is %s", hash)
	}
	b.eval(`location.hash = "#timeline?t=2-3"`, nil)
	b.eval(`new Promise((done) => setTimeout(done, 300))`, nil)
	zoomed := look()
	if zoomed.Shown == 0 || zoomed.Shown == all.Rows || zoomed.Story != 0 || !strings.Contains(zoomed.Said, "2 s to 3 s") {
		t.Errorf("with the time of a link: %+v", zoomed)
	}
	drawn := dragMiddle(b)
	if twice := drawn.Max / drawn.Min; drawn.Min < 0.5 || twice < 1.9 || twice > 2.1 {
		t.Errorf("a drag from three to six tenths of some seconds zooms to %+v", drawn)
	}
	b.eval(`document.getElementById("all").click()`, nil)
	if again := look(); again.Shown != all.Rows || again.Said != "" {
		t.Errorf("after show all: %+v", again)
	}
	if c := b.complaints(); len(c) > 0 {
		t.Errorf("%s", strings.Join(c, "\n"))
	}
}

// dragMiddle zooms with the mouse, from three to six tenths of the first chart, and returns the time in
// the address after it.
func dragMiddle(b *browser) (zoomed struct{ Min, Max float64 }) {
	b.t.Helper()
	var at struct{ X, Y, W float64 }
	b.eval(`(() => {
		document.getElementById("all").click();
		const over = document.querySelector("[data-chart] .u-over");
		over.scrollIntoView({block: "center"});
		const r = over.getBoundingClientRect();
		return {X: r.left, Y: r.top + r.height / 2, W: r.width};
	})()`, &at)
	for _, m := range []struct {
		kind string
		part float64
		held int
	}{{"mouseMoved", .3, 0}, {"mousePressed", .3, 1}, {"mouseMoved", .45, 1}, {"mouseMoved", .6, 1}, {"mouseReleased", .6, 0}} {
		button := "left"
		if m.kind == "mouseMoved" && m.held == 0 {
			button = "none"
		}
		b.call("Input.dispatchMouseEvent", map[string]any{"type": m.kind, "x": at.X + m.part*at.W, "y": at.Y, "button": button, "buttons": m.held, "clickCount": 1}, nil)
	}
	b.eval(`new Promise((done) => setTimeout(() => {
		const [Min, Max] = (new URLSearchParams(location.hash.split("?")[1]).get("t") || "0-0").split("-").map(Number);
		done({Min, Max});
	}, 200))`, &zoomed)
	return zoomed
}
