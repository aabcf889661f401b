package textfeat

import "testing"

func TestAppendLower(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"ASCII 1_2":         "ascii 1_2",
		"ÄÖÜß ЖΩ":           "äöüß жω",
		"İstanbul":          "i\u0307stanbul",
		"ΟΔΟΣ ΣΟΦΟΣ Σ":      "οδος σοφος σ", // a Σ alone has no letter before it
		"ΑΣ'Α ΑΣ' ΑΣ\u0301": "ασ'α ας' ας\u0301",
		"ΑΣ.":               "ας.",
		"\U00010400":        "\U00010428",
	} {
		if got := string(appendLower(nil, text)); got != want {
			t.Errorf("lower(%q) = %q, want %q", text, got, want)
		}
	}
}
