package client

import "transect/client/declare"

// Place is the position of an interceptor in the chain of a call.
type Place int

// The places, from the caller to the platform.
const (
	PlaceObserve Place = iota // sees each call and its result
	PlacePermit               // may refuse a call
	PlaceRecord               // answers a call from a ledger, or records it
	PlaceCharge               // counts what is sent
	PlacePlan                 // decides whether a write is sent
)

// Link is an interceptor of every call at its place.
type Link struct {
	place Place
	make  func(*Client) declare.Interceptor
}

// At returns the link of an interceptor.
func At(place Place, i declare.Interceptor) Link {
	return Link{place, func(*Client) declare.Interceptor { return i }}
}

// AtWith returns a link whose interceptor needs the client.
func AtWith(place Place, make func(*Client) declare.Interceptor) Link { return Link{place, make} }

func byPlace(a, b Link) int { return int(a.place - b.place) }
