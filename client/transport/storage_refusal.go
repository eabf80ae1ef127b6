package transport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
)

// longestReason limits the message of a storage that is shown, in bytes.
const longestReason = 300

// Refusal is the error response of a storage. It contains nothing of the request's signature.
type Refusal struct{ Code, Message string }

// String returns "Message (Code)", or "" if it is empty.
func (r Refusal) String() string {
	switch {
	case r.Code == "":
		return r.Message
	case r.Message == "":
		return r.Code
	}
	return r.Message + " (" + r.Code + ")"
}

// StorageRefusal parses the body of a storage's error response: XML as of S3, Azure and Google Cloud, or
// JSON.
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
