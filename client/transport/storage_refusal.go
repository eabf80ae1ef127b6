package transport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
)

// longestReason is how much of a storage's message is shown.
const longestReason = 300

// Refusal is what a storage says about a request it refused. It has nothing of
// the request's signature.
type Refusal struct{ Code, Message string }

// String returns "Message (Code)", "" when nothing was said.
func (r Refusal) String() string {
	switch {
	case r.Code == "":
		return r.Message
	case r.Message == "":
		return r.Code
	}
	return r.Message + " (" + r.Code + ")"
}

// StorageRefusal reads the body of a storage's answer: XML as of S3, Azure and
// Google Cloud, or JSON.
func StorageRefusal(body []byte) Refusal {
	var xmlForm struct{ Code, Message string }
	var jsonForm struct{ Code, Message string }
	var r Refusal
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	switch {
	case xml.Unmarshal(body, &xmlForm) == nil && xmlForm.Code != "":
		r = Refusal(xmlForm)
	case json.Unmarshal(body, &jsonForm) == nil:
		r = Refusal(jsonForm)
	}
	clean := func(text string) string {
		text = strings.Join(strings.Fields(Redact(text)), " ")
		if len(text) > longestReason {
			text = strings.ToValidUTF8(text[:longestReason], "") + "…"
		}
		return text
	}
	return Refusal{clean(r.Code), clean(r.Message)}
}
