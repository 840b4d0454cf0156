package secrets

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// secretPattern describes one kind of credential.
type secretPattern struct {
	kind string
	// hints are texts of which one is in every match, so that most texts need not be matched
	// against form. The second and third letters of a hint should be rare.
	hints []string
	form  *regexp.Regexp
	// random rejects a match that consists of words; nil accepts every match.
	random func(string) bool
}

// secretPatterns lists the known kinds. They are compiled on first use.
var secretPatterns = sync.OnceValue(func() []secretPattern {
	one := func(kind, hint, form string) secretPattern {
		return secretPattern{kind, []string{hint}, regexp.MustCompile(form), nil}
	}
	dense := func(kind, hint, form string) secretPattern {
		return secretPattern{kind, []string{hint}, regexp.MustCompile(form), isDense}
	}
	return []secretPattern{
		dense("an API key (sk-…)", "sk-", `\bsk-[\w-]{20,}`), // OpenAI, Anthropic, OpenRouter, DeepSeek, Moonshot
		one("an AWS access key id (AKIA…)", "AKIA", `\bAKIA[0-9A-Z]{16}\b`),
		one("an AWS access key id (ASIA…)", "ASIA", `\bASIA[0-9A-Z]{16}\b`),
		{
			"an AWS session token", []string{"IQoJb3JpZ2lu", "oGZXIvYXdz"},
			regexp.MustCompile(`\b(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[\w/+=-]{50,}`), nil,
		},
		one("an Amazon Bedrock key (ABSK…)", "ABSK", `\bABSK[A-Za-z0-9+/]{60,}=*`),
		one("an Amazon Bedrock key (bedrock-api-key-…)", "bedrock-api-key-", `\bbedrock-api-key-[A-Za-z0-9+/]{40,}=*`),
		one("an Azure key", "JQQJ99", `\b[A-Za-z0-9]{40,60}JQQJ99[A-Za-z0-9]{20,40}\b`),
		{
			"a Google API key (AIza…)", []string{"AIza"},
			regexp.MustCompile(`\bAIza[\w-]{35,}`), func(m string) bool { return len(m) == 39 }, // a longer one is other base64
		},
		one("a Google access token (ya29.…)", "ya29.", `\bya29\.[\w-]{20,}`),
		one("a Google client secret (GOCSPX-…)", "GOCSPX-", `\bGOCSPX-[\w-]{20,}`),
		one("a Google refresh token (1//…)", "1//0", `\b1//0[\w-]{40,}`),
		one("a GitHub token (github_pat_…)", "github_pat_", `\bgithub_pat_\w{30,}`),
		{
			"a GitHub token (gh._…)", []string{"hp_", "ho_", "hu_", "hs_", "hr_"},
			regexp.MustCompile(`\bgh[pousr]_\w{30,}`), nil,
		},
		one("a GitLab token (glpat-…)", "glpat-", `\bglpat-[\w-]{20,}`),
		one("a Hugging Face token (hf_…)", "hf_", `\bhf_[A-Za-z0-9]{30,}`),
		one("a Groq key (gsk_…)", "gsk_", `\bgsk_[A-Za-z0-9]{30,}`),
		one("an xAI key (xai-…)", "xai-", `\bxai-[A-Za-z0-9]{40,}`),
		one("a Perplexity key (pplx-…)", "pplx-", `\bpplx-[A-Za-z0-9]{30,}`),
		one("a Cerebras key (csk-…)", "csk-", `\bcsk-[a-z0-9]{30,}`),
		one("a Together key (tgp_v1_…)", "tgp_v1_", `\btgp_v1_[\w-]{30,}`),
		one("an NVIDIA key (nvapi-…)", "nvapi-", `\bnvapi-[\w-]{40,}`),
		dense("a Fireworks key (fw_…)", "fw_", `\bfw_[A-Za-z0-9]{20,}`),
		one("a Databricks token (dapi…)", "dapi", `\bdapi[0-9a-f]{32}\b`),
		one("a Slack token (xox…)", "xox", `\bxox[abeoprs]-[\w-]{10,}`),
		dense("a JSON web token", "eyJ", `\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}`),
		one("a private key (PEM)", "PRIVATE KEY-----", `-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z))`),
		{
			"a bearer token", []string{"earer "},
			regexp.MustCompile(`\b[Bb]earer [\w.~+/=-]*\d[\w.~+/=-]*`), func(m string) bool { return len(m) >= minBearer },
		},
		{"a user's password (Basic)", []string{"asic "}, regexp.MustCompile(`\b[Bb]asic [A-Za-z0-9+/]{12,}={0,2}`), isBasic},
		{
			"a named credential",
			[]string{
				"api_key", "api-key", "apikey", "apiKey", "API_KEY", "Api-Key", "API-Key", "API-KEY", "ApiKey",
				"ecret", "ECRET", "s_token", "sToken", "S_TOKEN", "n_token", "nToken", "N_TOKEN",
				"subscription-key", "Subscription-Key",
			},
			regexp.MustCompile(`(?i)(?:api[-_]?key|secret(?:[-_]?access)?[-_]?key|client[-_]?secret|(?:access|session)[-_]?token|subscription-key)\W{1,6}[\w/+-]{20,}`),
			isDense,
		},
	}
})

// hints finds the hints of all patterns.
var hints = sync.OnceValue(func() (h struct {
	*wordFinder
	pattern []int // by word
}) {
	var words []string
	for i, l := range secretPatterns() {
		for _, hint := range l.hints {
			words = append(words, hint)
			h.pattern = append(h.pattern, i)
		}
	}
	h.wordFinder = newWordFinder(words, false)
	return h
})

// minBearer is the least length of "Bearer " with its token. In prose and documentation, shorter
// words follow.
const minBearer = len("Bearer ") + 20

// hinted returns the patterns that may match in s, as a set of bits.
func hinted(s string) (set uint64) {
	h := hints()
	for at, w := h.find(s, 0); at >= 0; at, w = h.find(s, at+1) {
		set |= 1 << h.pattern[w]
	}
	return set
}

// minPattern is the length in bytes of the shortest match, a Slack token.
const minPattern = len("xoxb-") + 10

// findPattern returns the kind of the first pattern that matches in s, "" if none does.
func findPattern(s string) string {
	if len(s) < minPattern {
		return ""
	}
	set := hinted(s)
	for i := 0; set>>i != 0; i++ {
		if set>>i&1 == 0 {
			continue
		}
		l := secretPatterns()[i]
		for _, m := range l.form.FindAllString(s, -1) {
			if l.random == nil || l.random(m) {
				return l.kind
			}
		}
	}
	return ""
}

// minDense is the number of consecutive letters and digits from which a text is random.
const minDense = 16

// isDense reports whether s has a long run of letters and digits that contains both, which
// compound names and words do not have.
func isDense(s string) bool {
	run, letter, digit := 0, false, false
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letter = true
		default:
			run, letter, digit = -1, false, false
		}
		if run++; run >= minDense && letter && digit {
			return true
		}
	}
	return false
}

// isBasic reports whether the text after "Basic " is base64 of user:password.
func isBasic(s string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[len("Basic "):], "="))
	if err != nil {
		return false
	}
	user, password, ok := strings.Cut(string(plain), ":")
	return ok && password != "" && isText(user+password)
}

// isText reports whether s is UTF-8 without control characters other than tab and newline.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}
