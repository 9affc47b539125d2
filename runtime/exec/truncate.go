package exec

import (
	"encoding/json"
	"fmt"
	"strings"
)

// cut is what stands for a result that is too large. It is valid JSON and says
// what is missing.
type cut struct {
	Truncated bool            `json:"truncated"`
	Total     int             `json:"total"`
	Shown     int             `json:"shown"`
	Unit      string          `json:"unit,omitempty"` // "bytes" unless elements are counted
	Member    string          `json:"member,omitempty"`
	Hint      string          `json:"hint"`
	Items     json.RawMessage `json:"items,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Text      string          `json:"text,omitempty"`
}

const hint = "ask for less: a filter, fewer fields, or a page at a time"

// cutRoom is what the words around a cut result may take.
const cutRoom = 512

// truncate cuts a result that is over limit bytes, so that it stays valid JSON:
// a list keeps its first elements, an object the first elements of its largest
// list, and anything else becomes the beginning of its text.
func truncate(result json.RawMessage, limit int) json.RawMessage {
	if len(result) <= limit {
		return result
	}
	room := max(limit-cutRoom, 0)
	var list []json.RawMessage
	if json.Unmarshal(result, &list) == nil {
		shown := fitting(list, room)
		return json.RawMessage(compact(cut{Truncated: true, Total: len(list), Shown: shown, Hint: hint, Items: array(list[:shown])}))
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(result, &object) == nil {
		if name, list := largestList(object); name != "" {
			shown := fitting(list, room-(len(result)-len(object[name])))
			if rest, err := edit(result, []string{name}, array(list[:shown])); err == nil && len(rest) <= limit {
				return json.RawMessage(compact(cut{Truncated: true, Total: len(list), Shown: shown, Member: name, Hint: hint, Result: rest}))
			}
		}
	}
	return json.RawMessage(compact(cutBytes(string(result), room)))
}

// truncateText cuts a text that is over limit bytes; the result then is JSON.
func truncateText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	shown := strings.ToValidUTF8(text[:max(limit-cutRoom, 0)], "")
	return fmt.Sprintf("%s\n[truncated: %d of %d bytes shown; %s]", shown, len(shown), len(text), hint)
}

func cutBytes(text string, room int) cut {
	// Quoting may double the size.
	shown := strings.ToValidUTF8(text[:min(room/2, len(text))], "")
	return cut{Truncated: true, Total: len(text), Shown: len(shown), Unit: "bytes", Hint: hint, Text: shown}
}

// fitting is how many of the first elements take at most room bytes.
func fitting(list []json.RawMessage, room int) int {
	for i, e := range list {
		if room -= len(e) + 1; room < 0 {
			return i
		}
	}
	return len(list)
}

// largestList finds the member that is a list and takes most bytes.
func largestList(object map[string]json.RawMessage) (string, []json.RawMessage) {
	var name string
	for n, v := range object {
		if v[0] == '[' && (name == "" || len(v) > len(object[name]) || len(v) == len(object[name]) && n < name) {
			name = n
		}
	}
	var list []json.RawMessage
	if name == "" || json.Unmarshal(object[name], &list) != nil {
		return "", nil
	}
	return name, list
}
