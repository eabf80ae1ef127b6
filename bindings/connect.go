package bindings

import (
	"encoding/json"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/vm"
)

// connectKeys are the arguments of sdk.connect, as the interface names them.
var connectKeys = []string{"url", "user", "password", "client_id", "client_secret", "secret", "access_token", "domain", "scope",
	"proxy_url", "ca_cert", "config_path", "file_path", "profile", "force_prompt", "service", "connection", "timeout", "revision"}

// settings reads the table given to sdk.connect. Keys nobody knows are merged
// into the configuration, as the interface wants; but one that is nearly a
// known key is a slip.
func settings(L *lua.LState) (*client.Settings, error) {
	v, err := vm.FromLua(L.Get(1))
	if err != nil {
		return nil, fault.In("sdk.connect", err)
	}
	s := &client.Settings{}
	given, ok := v.(map[string]any)
	switch v.(type) {
	case nil, vm.EmptyTable:
		return s, nil
	}
	if !ok {
		return nil, fault.In("sdk.connect", fault.Of(&fault.ParameterError{}, "wants a table, such as sdk.connect{ url = …, user = …, password = … }"))
	}
	texts := map[string]*string{"url": &s.URL, "user": &s.User, "password": &s.Password, "client_id": &s.ClientID,
		"client_secret": &s.ClientSecret, "secret": &s.ClientSecret, "access_token": &s.AccessToken, "domain": &s.Domain, "scope": &s.Scope,
		"proxy_url": &s.ProxyURL, "ca_cert": &s.CACert, "config_path": &s.ConfigPath, "file_path": &s.ConfigPath, "profile": &s.Profile}
	for key, value := range given {
		if err := set(s, texts, key, value); err != nil {
			return nil, fault.In("sdk.connect", fault.Of(&fault.ParameterError{}, "argument %s: %w", key, err))
		}
	}
	in := vm.Of(L)
	s.ConfigPath, s.CACert = in.Path(s.ConfigPath), in.Path(s.CACert)
	return s, nil
}

func set(s *client.Settings, texts map[string]*string, key string, value any) error {
	if to, ok := texts[key]; ok {
		if *to, ok = value.(string); !ok {
			return fmt.Errorf("wants text")
		}
		return nil
	}
	switch key {
	case "force_prompt":
		var ok bool
		if s.ForcePrompt, ok = value.(bool); !ok {
			return fmt.Errorf("wants true or false")
		}
	case "timeout":
		seconds, ok := asNumber(value)
		if !ok || seconds <= 0 {
			return fmt.Errorf("wants seconds, above 0")
		}
		s.Timeout = time.Duration(seconds * float64(time.Second))
	case "revision":
		text, err := json.Marshal(value)
		if err != nil || json.Unmarshal(text, &s.Revision) != nil {
			return fmt.Errorf("wants 1, 2 or 3")
		}
	case "service":
		if one, ok := value.(string); ok {
			value = []any{one}
		}
		list, ok := value.([]any)
		if !ok {
			return fmt.Errorf("wants text or a list of texts")
		}
		for _, e := range list {
			s.Service = append(s.Service, fmt.Sprint(e))
		}
	case "connection":
		return setConnection(s, value)
	default:
		if near := suggest.Nearest(key, connectKeys); near != "" {
			return fmt.Errorf("is unknown, did you mean %s?", near)
		}
		if s.Extra == nil {
			s.Extra = map[string]any{}
		}
		s.Extra[key] = value
	}
	return nil
}

func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// setConnection reads the settings of the wire. A slip in one that decides
// about certificates must not go unnoticed.
func setConnection(s *client.Settings, value any) error {
	given, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("wants a table of max_retries and disable_ssl_certificate")
	}
	s.Connection = &client.Connection{}
	for key, v := range given {
		switch n, isNumber := asNumber(v); key {
		case "max_retries":
			retries := int(n)
			if !isNumber || n < 0 || n != float64(retries) {
				return fmt.Errorf("max_retries wants a whole number from 0 on")
			}
			s.Connection.MaxRetries = &retries
		case "disable_ssl_certificate":
			if s.Connection.DisableSSLCertificate, ok = v.(bool); !ok {
				return fmt.Errorf("disable_ssl_certificate wants true or false")
			}
		default:
			return fmt.Errorf("has no key %s, there are max_retries and disable_ssl_certificate", key)
		}
	}
	return nil
}
