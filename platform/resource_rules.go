package platform

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"transect/platform/store"
)

// rule reads the value that was given for a property. What is wrong with it is
// kept in the form.
type rule func(f *form, key string) any

// form is a body, or an object inside it, that is read by rules.
type form struct {
	*args
	r        *Request
	referred *[]reference // by the whole body
}

// reference is a document that was referred to.
type reference struct {
	key  string
	kind kind
	doc  store.Doc
}

// fail keeps an error unless there is one already.
func (f *form) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// inside reads an object that is in this one.
func (f *form) inside(object store.Doc, key string, properties []property) store.Doc {
	inner := &form{args: within(object, f.at+key), r: f.r, referred: f.referred}
	checked := maps.Clone(object)
	inner.read(properties, checked, creating)
	f.fail(inner.err)
	return checked
}

// words takes text that is not empty; remark takes any.
func words(f *form, key string) any  { return f.text(key) }
func remark(f *form, key string) any { return f.optText(key) }

func flag(f *form, key string) any     { return f.boolean(key) }
func object(f *form, key string) any   { return f.object(key) }
func anything(f *form, key string) any { return f.doc[key] }

func number(f *form, key string) any {
	if _, ok := f.doc[key].(json.Number); !ok {
		f.wrong(key, "must be a number")
	}
	return f.doc[key]
}

func numbers(f *form, key string) any {
	for i, v := range f.list(key) {
		if _, ok := v.(json.Number); !ok {
			f.wrong(key, "element %d must be a number", i)
		}
	}
	return f.doc[key]
}

// pixels takes a count of pixels, or the text of one.
func pixels(f *form, key string) any {
	text, ok := f.doc[key].(string)
	if n, isNumber := f.doc[key].(json.Number); isNumber {
		text, ok = n.String(), true
	}
	if n, err := strconv.ParseInt(text, 10, 32); !ok || err != nil || n < 1 {
		f.wrong(key, "must be a number of pixels")
	}
	return f.doc[key]
}

func choice(allowed ...string) rule {
	return func(f *form, key string) any { return f.oneOf(key, allowed...) }
}

// ref takes the identifier of a document that exists.
func ref(k kind) rule {
	return func(f *form, key string) any {
		id := f.id(key)
		if f.err == nil {
			f.refer(k, key, []string{id})
		}
		return id
	}
}

// refs takes a list of identifiers of documents that exist, none twice.
func refs(k kind) rule {
	return func(f *form, key string) any {
		ids := f.ids(key, maxDescribed)
		list := make([]any, len(ids))
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				f.wrong(key, "%s is there twice", id)
			}
			list[i] = id
		}
		if f.err == nil {
			f.refer(k, key, ids)
		}
		return list
	}
}

// refer looks up what is referred to, and keeps it for what is to be compared.
func (f *form) refer(k kind, key string, ids []string) {
	docs, err := f.r.getAll(k, ids)
	var missing *failure
	if errors.As(err, &missing) {
		missing.Message = f.at + key + ": " + missing.Message
	}
	if err != nil {
		f.fail(err)
		return
	}
	for _, doc := range docs {
		*f.referred = append(*f.referred, reference{f.at + key, k, doc})
	}
}

// checkCompanies refuses references to documents of other companies.
func (f *form) checkCompanies(doc store.Doc) error {
	own := companiesOf(doc)
	for _, ref := range *f.referred {
		theirs := companiesOf(ref.doc)
		shared := slices.ContainsFunc(theirs, func(id any) bool { return slices.Contains(own, id) })
		if len(own) > 0 && len(theirs) > 0 && !shared {
			return invalid("%s: %s %s does not fit: it is of another company", ref.key, ref.kind.name, ref.doc["_id"])
		}
	}
	return nil
}

// companiesOf lists the companies that a document says it belongs to.
func companiesOf(doc store.Doc) []any {
	list, _ := doc["companies"].([]any)
	if company := doc["company"]; company != nil {
		list = append(slices.Clone(list), company)
	}
	return list
}

// objectOf takes an object with some properties, and others of any kind.
func objectOf(properties ...property) rule {
	return func(f *form, key string) any {
		object := f.optObject(key)
		if object == nil {
			return nil
		}
		return f.inside(object, key, properties)
	}
}

// objectsOf takes a list of such objects.
func objectsOf(properties ...property) rule {
	return func(f *form, key string) any {
		list := slices.Clone(f.list(key))
		for i, v := range list {
			object, ok := v.(map[string]any)
			if !ok {
				f.wrong(key, "element %d must be an object", i)
				return nil
			}
			list[i] = f.inside(object, key+"["+itoa(i)+"]", properties)
		}
		return list
	}
}

// quantity takes a number with its unit, any or one of those given.
func quantity(units ...string) rule {
	unit := rule(words)
	if units != nil {
		unit = choice(units...)
	}
	return objectOf(property{key: "value", rule: number, when: always}, property{key: "unit", rule: unit, when: always})
}

// quantities takes a lowest and a highest quantity.
var quantities = objectOf(property{key: "min", rule: quantity()}, property{key: "max", rule: quantity()})

// bands takes the parts of the spectrum that a sensor sees.
var bands = objectsOf(
	property{key: "name", rule: remark},
	property{key: "full_width_half_maximum", rule: number},
	property{key: "central_wavelength", rule: number},
)

// overlap takes how much neighbouring images share.
var overlap = objectOf(property{key: "forward", rule: number}, property{key: "lateral", rule: number})

// moments are the further forms in which a date may be kept.
var moments = append(slices.Clone(dates),
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04")

// moment reads a date; without a zone it is in UTC.
func moment(text string) (time.Time, bool) {
	for _, form := range moments {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// day takes a date and keeps its text, so that filters find it as it was given.
func day(f *form, key string) any {
	text := f.text(key)
	if _, ok := moment(text); !ok {
		f.wrong(key, "%q is no date such as 2024-03-31 or 2024-03-31T12:00:00.000Z", text)
	}
	return text
}

// period takes a start and an end.
func period(f *form, key string) any {
	value := objectOf(property{key: "start_date", rule: day}, property{key: "end_date", rule: day})(f, key)
	if doc, ok := value.(store.Doc); ok {
		checkPeriod(f.args, key+".end_date", doc)
	}
	return value
}

// checkPeriod refuses an end_date before the start_date.
func checkPeriod(a *args, key string, doc store.Doc) {
	start, started := moment(store.Text(doc, "start_date"))
	end, ended := moment(store.Text(doc, "end_date"))
	if started && ended && end.Before(start) {
		a.wrong(key, "%s is before start_date %s", doc["end_date"], doc["start_date"])
	}
}
