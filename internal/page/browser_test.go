package page

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/engine"
)

// hostile is all that an author could write to run something, to load something or to
// break out of where its text stands.
func hostile() string {
	const load = `document.title='taken';top.document.title='taken';fetch('/loaded')`
	return strings.Join([]string{
		`<script>` + load + `</script>`,
		`"><img src="/loaded" onerror="` + load + `">`,
		`' onmouseover='` + load + `' x='`,
		`</style><style>@import "/loaded"; body{background:url(/loaded)}</style>`,
		`</title></pre></details><iframe src="/loaded"></iframe>`,
		`<meta http-equiv="refresh" content="0;url=/loaded"><base href="/loaded/">`,
		`<link rel=stylesheet href=/loaded><svg onload="` + load + `"><use href="/loaded#x"/></svg>`,
		`{{.Title}} --> ]]> javascript:` + load,
		"\u202etxet desrever\u202c \u2066isolated\u2069 \x1b[31mred \x00 \xff",
		strings.Repeat("nobreak", 500),
	}, "\n")
}

// browse opens a page in a browser, in a frame as wide as a phone, and returns what the
// frame around it found, and all that was asked of the server.
func browse(t *testing.T, html []byte) (found string, asked []string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	const frame = `<!doctype html><title>untouched</title><iframe src="/page" style="width:375px;height:800px;border:0"></iframe><p></p>
<script>document.querySelector('iframe').onload = e => {
	const d = e.target.contentDocument, root = d.documentElement
	d.querySelectorAll('details').forEach(x => x.open = true)
	const titles = document.title + ', ' + d.title
	const elements = ['script', 'img', 'iframe', 'link', 'base', 'use', 'a'].map(x => d.querySelectorAll(x).length).join(' ')
	const styled = getComputedStyle(d.querySelector('details.run')).borderRadius
	document.querySelector('p').textContent = 'FOUND[' + [titles, elements, 'width ' + root.scrollWidth, styled, d.querySelectorAll('style').length].join('; ') + ']'
}</script>`
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			io.WriteString(w, frame)
		case "/page":
			w.Write(html)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+t.TempDir(),
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--virtual-time-budget=3000", "--dump-dom", server.URL+"/")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", browser, err)
	}
	_, found, _ = strings.Cut(string(out), "<p>FOUND[")
	found, _, ok := strings.Cut(found, "]</p>")
	if !ok {
		t.Fatalf("the frame found nothing:\n%.2000s", out)
	}
	return found, asked
}

// Nothing that an author writes runs, loads or becomes an element, the page's own style
// is used, and nothing is wider than a phone, also with everything unfolded.
func TestHostileTexts(t *testing.T) {
	evil := story("evil", hostile(), 2)
	evil.Launches[0].Name = hostile()
	evil.Trouble = hostile()
	line := 3
	text := hostile()
	judge := story("judge", text, 0)
	judge.Role, judge.Outcome, judge.Judges = engine.Judge, engine.Concluded, []engine.Judged{{Run: "evil"}, {Run: text}}
	judge.Verdict = &engine.VerdictCount{Findings: 60, Blocking: 60}
	judge.FullVerdict = &engine.Verdict{Notes: text}
	for range 60 {
		judge.FullVerdict.Findings = append(judge.FullVerdict.Findings, channel.Finding{
			File: text, Line: &line, Confidence: text, Summary: text, Detail: text, Blocking: true, Kind: text, Category: &text,
		})
	}
	huge := story("huge", strings.Repeat(hostile(), 500), 1)
	found, asked := browse(t, rendered(t, evil, huge, judge))
	const want = "untouched, Runs · outerloop; 0 0 0 0 0 0 0; width 375; 12px; 1"
	if found != want {
		t.Errorf("the browser found %q, not %q", found, want)
	}
	for _, path := range asked {
		if path != "/" && path != "/page" && path != "/favicon.ico" {
			t.Errorf("the page had %s loaded", path)
		}
	}
}

// The frame of the test above does see what a page without the escaping would do.
func TestBrowserWouldShowAnAttack(t *testing.T) {
	naked := "<!doctype html><title>Runs · outerloop</title><details class=run></details>" + hostile()
	found, asked := browse(t, []byte(naked))
	if !strings.HasPrefix(found, "taken, ") || !strings.Contains(strings.Join(asked, " "), "/loaded") {
		t.Errorf("the attack did nothing: found %q, asked for %q", found, asked)
	}
}
