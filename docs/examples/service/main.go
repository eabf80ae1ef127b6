// Command service answers each request with what a customer's script makes of it:
//
//	service rule.lua &
//	curl -d '{"hours": 250}' localhost:8080
//
// The script is compiled once and runs in a closed runtime of its own for each request, for a second at most and in
// 64 MiB of memory.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"time"

	"transect/runtime/embed"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: service SCRIPT")
	}
	src, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	p, err := embed.Compile(os.Args[1], src)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", service(p, time.Second)))
}

// service passes the JSON of a request to the script, whose value is the answer.
func service(p *embed.Program, most time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var given any
		if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<20)).Decode(&given); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(req.Context(), most)
		defer cancel()
		r, err := embed.New(ctx, embed.Options{Limits: embed.Limits{Memory: 64 << 20}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer r.Close()
		answer, err := r.Run(ctx, p, given)
		if err != nil { // with the script's name and line
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			log.Print(err)
		}
	})
}
