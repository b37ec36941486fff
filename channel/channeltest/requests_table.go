package channeltest

import (
	"fmt"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
)

// committed is one row: the bytes of a syscall.json, and what they mean. carried
// is "" for a request that is carried out as it stands.
type committed struct{ name, raw, carried string }

// sleep makes a committed sleep with one launch; more is put into that launch.
func sleep(more string) string {
	return `{"type":"sleep","launches":[{"name":"a","command":"true"` + more + `}],"note":"","submit":false}`
}

// carriedAs makes a sleep as it will be carried out.
func carriedAs(minutes, array int, more string) string {
	return fmt.Sprintf(`{"type":"sleep","launches":[{"name":"a","command":"true","minutes":%d,"artifacts":[],"array":%d%s}],"note":"","submit":false}`,
		minutes, array, more)
}

func launches(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"n%d","command":"true","minutes":1,"artifacts":[],"array":1}`, i)
	}
	return `{"type":"sleep","launches":[` + strings.Join(list, ",") + `],"note":"","submit":false}`
}

func submit(report, more string) string {
	return `{"type":"sleep","launches":[],"note":"","submit":true,"report":"` + report + `"` + more + `}`
}

// verdict makes one with that many findings; change is applied to each.
func verdict(findings int, notes string, change ...string) string {
	one := strings.NewReplacer(change...).Replace(
		`{"file":"a.go","line":3,"confidence":"high","summary":"s","detail":"","blocking":true,"kind":"change","category":"c"}`)
	list := strings.TrimSuffix(strings.Repeat(one+",", findings), ",")
	return `{"type":"verdict","findings":[` + list + `],"notes":"` + notes + `"}`
}

// chars are n characters of two bytes each.
func chars(n int) string { return strings.Repeat("é", n) }

func paths(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"out/%d.json"`, i)
	}
	return `,"artifacts":[` + strings.Join(list, ",") + `]`
}

// padded is a request of exactly so many bytes.
func padded(raw string, size int) string { return raw + strings.Repeat(" ", size-len(raw)) }

func accepted() []committed {
	full := carriedAs(30, 1, "")
	rows := []committed{
		{"nothing but the type", `{"type":"sleep"}`, `{"type":"sleep","launches":[],"note":"","submit":false}`},
		{"defaults", sleep(""), full},
		{"white space, and keys in another order", " {\r\n\t\"launches\" : [ { \"command\":\"true\" , \"name\":\"a\" } ] , \"type\":\"sleep\" }\n", full},
		{"escapes", `{"t\u0079pe":"sl\u0065ep","note":"\u00e9\ud83d\ude00\/\\ud800"}`, `{"type":"sleep","note":"é😀/\\ud800"}`},
		{"name of 32", strings.Replace(carriedAs(1, 1, ""), `"a"`, `"0`+strings.Repeat("-", 31)+`"`, 1), ""},
		{"launches at the bound", launches(channel.MaxLaunches), ""},
		{"command at the bound", strings.Replace(carriedAs(1, 1, ""), "true", chars(channel.MaxCommandChars), 1), ""},
		{"minutes at the bounds", carriedAs(1, 1, ""), ""},
		{"minutes above", sleep(`,"minutes":241`), carriedAs(channel.MaxMinutes, 1, "")},
		{"minutes far above", sleep(`,"minutes":99999999999999999999999`), carriedAs(channel.MaxMinutes, 1, "")},
		{"array above", sleep(`,"array":17`), carriedAs(30, channel.MaxArray, "")},
		{"concurrency", sleep(`,"array":4,"concurrency":2`), carriedAs(30, 4, `,"concurrency":2`)},
		{"concurrency above", sleep(`,"array":4,"concurrency":5`), carriedAs(30, 4, `,"concurrency":4`)},
		{"concurrency without an array", sleep(`,"concurrency":5`), full},
		{"concurrency 0", sleep(`,"array":4,"concurrency":0`), carriedAs(30, 4, "")},
		{"why is folded", sleep(`,"why":"  a\n\tb  c "`), carriedAs(30, 1, `,"why":"a b c"`)},
		{"why at the bound once folded", sleep(`,"why":" ` + chars(channel.MaxWhyChars) + `\n\n"`), carriedAs(30, 1, `,"why":"`+chars(channel.MaxWhyChars)+`"`)},
		{"artifacts at the bound", strings.Replace(carriedAs(1, 1, ""), `,"artifacts":[]`, paths(channel.MaxArtifacts), 1), ""},
		{"artifact path at the bound", strings.Replace(carriedAs(1, 1, ""), `[]`, `["`+chars(channel.MaxPathChars)+`"]`, 1), ""},
		{"artifacts of odd names", strings.Replace(carriedAs(1, 1, ""), `[]`, `["...","a b","-r","..a/b..","é~"]`, 1), ""},
		{"note at the bound", `{"type":"sleep","note":"` + chars(channel.MaxNoteChars) + `"}`, ""},
		{"submit", submit("r", ""), ""},
		{"report is trimmed", submit(`\n r \n`, ""), submit("r", "")},
		{"report at the bound", submit(chars(channel.MaxReportChars), ""), ""},
		{"eval_minutes", submit("r", `,"eval_minutes":1`), ""},
		{"eval_minutes above", submit("r", `,"eval_minutes":1441`), submit("r", `,"eval_minutes":1440`)},
		{"submit with launches", `{"type":"sleep","launches":[{"name":"a","command":"true"}],"submit":true,"report":"r"}`, ""},
		{"a sleep of the most bytes", padded(full, channel.MaxSleepBytes), full},
		{"verdict without findings", verdict(0, ""), ""},
		{"verdict", verdict(3, "n"), ""},
		{"finding that is not local", verdict(1, "", `"line":3`, `"line":null`), ""},
		{"finding without a category", verdict(1, "", `,"category":"c"`, ""), ""},
		{"verdict at the bounds", verdict(channel.MaxFindings, chars(channel.MaxFindingChars)), ""},
		{"finding texts at the bound", verdict(1, "", `"s"`, `"`+chars(channel.MaxFindingChars)+`"`, `""`, `"`+chars(channel.MaxFindingChars)+`"`), ""},
		{"a verdict of the most bytes", padded(verdict(1, ""), channel.MaxVerdictBytes), verdict(1, "")},
	}
	for i := range rows {
		if rows[i].carried == "" {
			rows[i].carried = rows[i].raw
		}
	}
	return rows
}

func refused() []committed {
	rows := append(refusedJSON(), refusedSleeps()...)
	return append(rows, refusedVerdicts()...)
}

// refusedJSON are bytes that two readers could read in two ways, or none.
func refusedJSON() []committed {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []committed{
		{"empty file", "", ""},
		{"no object", `["sleep"]`, ""},
		{"no JSON", `type: sleep`, ""},
		{"cut short", `{"type":"sleep"`, ""},
		{"something follows", `{"type":"sleep"} x`, ""},
		{"a second object follows", `{"type":"sleep"}{"type":"sleep"}`, ""},
		{"a bracket follows", `{"type":"sleep"}]`, ""},
		{"comma at the end", `{"type":"sleep",}`, ""},
		{"byte order mark", "\ufeff" + `{"type":"sleep"}`, ""},
		{"NaN", `{"type":"sleep","launches":[{"name":"a","command":"true","minutes":NaN}]}`, ""},
		{"key twice", `{"type":"sleep","note":"a","note":"b"}`, ""},
		{"key twice in two spellings", `{"type":"sleep","note":"a","no\u0074e":"b"}`, ""},
		{"key twice in a launch", sleep(`,"name":"b"`), ""},
		{"key in capitals", `{"type":"sleep","Note":"x"}`, ""},
		{"unknown key", `{"type":"sleep","extra":1}`, ""},
		{"unknown key in a launch", sleep(`,"gpus":1`), ""},
		{"invalid UTF-8", `{"type":"sleep","note":"` + "\xff" + `"}`, ""},
		{"surrogate in UTF-8", `{"type":"sleep","note":"` + "\xed\xa0\x80" + `"}`, ""},
		{"half of a surrogate pair", `{"type":"sleep","note":"\ud800"}`, ""},
		{"surrogates in the wrong order", `{"type":"sleep","note":"\udc00\ud800"}`, ""},
		{"control character", `{"type":"sleep","note":"` + "\x01" + `"}`, ""},
		{"100,000 lists deep", nested(100_000), ""},
		{"20,000 lists deep in a key", `{"type":"sleep","x":` + nested(20_000) + `}`, ""},
		{"20,000 lists deep in launches", `{"type":"sleep","launches":` + nested(20_000) + `}`, ""},
		{"one byte above a sleep", padded(`{"type":"sleep"}`, channel.MaxSleepBytes+1), ""},
		{"one byte above a verdict", padded(verdict(0, ""), channel.MaxVerdictBytes+1), ""},
		{"ten million bytes", padded(verdict(0, ""), 10_000_000), ""},
	}
}

func refusedSleeps() []committed {
	return []committed{
		{"no type", `{}`, ""},
		{"type of another kind", `{"type":"nap"}`, ""},
		{"type is null", `{"type":null}`, ""},
		{"note is null", `{"type":"sleep","note":null}`, ""},
		{"note is a number", `{"type":"sleep","note":1}`, ""},
		{"launches is null", `{"type":"sleep","launches":null}`, ""},
		{"launches is an object", `{"type":"sleep","launches":{}}`, ""},
		{"launch is null", `{"type":"sleep","launches":[null]}`, ""},
		{"one launch too many", launches(channel.MaxLaunches + 1), ""},
		{"two of one name", `{"type":"sleep","launches":[{"name":"a","command":"x"},{"name":"a","command":"y"}]}`, ""},
		{"no name", `{"type":"sleep","launches":[{"command":"x"}]}`, ""},
		{"no command", `{"type":"sleep","launches":[{"name":"a"}]}`, ""},
		{"empty name", strings.Replace(sleep(""), `"a"`, `""`, 1), ""},
		{"name of 33", strings.Replace(sleep(""), `"a"`, `"`+strings.Repeat("a", 33)+`"`, 1), ""},
		{"name with a dash first", strings.Replace(sleep(""), `"a"`, `"-a"`, 1), ""},
		{"name with a capital", strings.Replace(sleep(""), `"a"`, `"A"`, 1), ""},
		{"name with a line end", strings.Replace(sleep(""), `"a"`, `"a\n"`, 1), ""},
		{"name with a digit of another script", strings.Replace(sleep(""), `"a"`, `"٣"`, 1), ""},
		{"name that leads away", strings.Replace(sleep(""), `"a"`, `"../a"`, 1), ""},
		{"blank command", strings.Replace(sleep(""), "true", ` \n\t`, 1), ""},
		{"one character above a command", strings.Replace(sleep(""), "true", chars(channel.MaxCommandChars+1), 1), ""},
		{"NUL in a command", strings.Replace(sleep(""), "true", `a\u0000b`, 1), ""},
		{"minutes 0", sleep(`,"minutes":0`), ""},
		{"minutes far below", sleep(`,"minutes":-99999999999999999999999`), ""},
		{"minutes is a boolean", sleep(`,"minutes":true`), ""},
		{"minutes is a string", sleep(`,"minutes":"5"`), ""},
		{"minutes is a fraction", sleep(`,"minutes":1.5`), ""},
		{"minutes is null", sleep(`,"minutes":null`), ""},
		{"array 0", sleep(`,"array":0`), ""},
		{"array is a boolean", sleep(`,"array":true`), ""},
		{"concurrency below 0", sleep(`,"array":2,"concurrency":-1`), ""},
		{"concurrency is a boolean", sleep(`,"array":2,"concurrency":true`), ""},
		{"one character above why", sleep(`,"why":"` + chars(channel.MaxWhyChars+1) + `"`), ""},
		{"why is a list", sleep(`,"why":["a"]`), ""},
		{"one artifact too many", sleep(paths(channel.MaxArtifacts + 1)), ""},
		{"artifacts is a string", sleep(`,"artifacts":"a"`), ""},
		{"artifact is a number", sleep(`,"artifacts":[1]`), ""},
		{"empty artifact", sleep(`,"artifacts":[""]`), ""},
		{"artifact from the root", sleep(`,"artifacts":["/etc/passwd"]`), ""},
		{"artifact from home", sleep(`,"artifacts":["~/x"]`), ""},
		{"artifact upward", sleep(`,"artifacts":["a/../../x"]`), ""},
		{"artifact with a dot", sleep(`,"artifacts":["./x"]`), ""},
		{"artifact with an empty part", sleep(`,"artifacts":["a//b"]`), ""},
		{"artifact that is a directory", sleep(`,"artifacts":["a/"]`), ""},
		{"artifact with a backslash", sleep(`,"artifacts":["a\\b"]`), ""},
		{"artifact with a NUL", sleep(`,"artifacts":["a\u0000b"]`), ""},
		{"one character above an artifact", sleep(`,"artifacts":["` + chars(channel.MaxPathChars+1) + `"]`), ""},
		{"one character above a note", `{"type":"sleep","note":"` + chars(channel.MaxNoteChars+1) + `"}`, ""},
		{"submit is a number", `{"type":"sleep","submit":1}`, ""},
		{"submit is a string", `{"type":"sleep","submit":"true"}`, ""},
		{"submit without a report", `{"type":"sleep","submit":true}`, ""},
		{"blank report", submit(` \n`, ""), ""},
		{"one character above a report", submit(chars(channel.MaxReportChars+1), ""), ""},
		{"report without a submit", `{"type":"sleep","report":"r"}`, ""},
		{"eval_minutes without a submit", `{"type":"sleep","eval_minutes":5}`, ""},
		{"eval_minutes 0", submit("r", `,"eval_minutes":0`), ""},
		{"eval_minutes is a boolean", submit("r", `,"eval_minutes":true`), ""},
		{"eval_minutes is null", submit("r", `,"eval_minutes":null`), ""},
		{"findings in a sleep", `{"type":"sleep","findings":[]}`, ""},
	}
}

func refusedVerdicts() []committed {
	rows := []committed{
		{"verdict without findings", `{"type":"verdict","notes":""}`, ""},
		{"verdict without notes", `{"type":"verdict","findings":[]}`, ""},
		{"verdict with a note", `{"type":"verdict","findings":[],"notes":"","note":""}`, ""},
		{"one finding too many", verdict(channel.MaxFindings+1, ""), ""},
		{"one character above notes", verdict(0, chars(channel.MaxFindingChars+1)), ""},
		{"one character above a summary", verdict(1, "", `"s"`, `"`+chars(channel.MaxFindingChars+1)+`"`), ""},
		{"line is a boolean", verdict(1, "", `"line":3`, `"line":true`), ""},
		{"blocking is a number", verdict(1, "", `true`, `1`), ""},
		{"blocking is null", verdict(1, "", `true`, `null`), ""},
		{"confidence unknown", verdict(1, "", `"high"`, `"certain"`), ""},
		{"kind unknown", verdict(1, "", `"change"`, `"praise"`), ""},
		{"unknown key in a finding", verdict(1, "", `"detail"`, `"extra":1,"detail"`), ""},
	}
	for _, part := range []string{
		`"file":"a.go",`, `"line":3,`, `"confidence":"high",`, `"summary":"s",`, `"detail":"",`, `"blocking":true,`, `"kind":"change",`,
	} {
		name, _, _ := strings.Cut(part, ":")
		rows = append(rows, committed{"finding without " + strings.Trim(name, `"`), verdict(1, "", part, ""), ""})
	}
	return rows
}
