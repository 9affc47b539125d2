package clip

import "testing"

func TestText(t *testing.T) {
	for _, c := range []struct {
		s    string
		most int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"abé", 3, "ab…"}, {"日本", 5, "日…"}, {"日本", 6, "日本"}, {"日", 2, "…"},
	} {
		if got := Text(c.s, c.most); got != c.want {
			t.Errorf("%q, %d: %q, want %q", c.s, c.most, got, c.want)
		}
	}
}
