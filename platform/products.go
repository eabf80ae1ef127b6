package platform

import (
	"slices"
	"time"

	"transect/platform/store"
)

// Products are the results of orders.
var products = &resource{name: "product", plural: "products"}

// The states of a product.
const (
	productPending   = "pending"
	productRunning   = "running"
	productAvailable = "available"
	productFailed    = "failed"
	productRejected  = "rejected"
	productCancelled = "cancelled"
)

// maxLogs is how many log lines are answered when no limit is given.
const maxLogs = 1_000_000

func init() {
	serve("products", products, map[string]endpoint{
		"cancel-product":        do(cancelProduct),
		"retrieve-product-logs": do(retrieveLogs, "limit", "offset", "after"),
	})
}

// cancelProduct ends a product that has not ended yet.
func cancelProduct(r *Request) (any, error) {
	id := r.text("product")
	doc, err := r.get(products, id)
	if err != nil {
		return nil, err
	}
	if status := store.Text(doc, "status"); status != productPending && status != productRunning {
		return nil, conflict("product %s has ended already: it is %s", id, status)
	}
	doc["status"] = productCancelled
	doc["end_date"] = date(r.now())
	// Without its job nothing more is kept of what is still running.
	if err := r.tx.Exec("DELETE FROM jobs WHERE id = ?", id); err != nil {
		return nil, err
	}
	if err := r.p.addLog(r.tx, id, "warning", "cancelled", nil); err != nil {
		return nil, err
	}
	r.afterwards(func() { r.p.workers.stop(id) })
	return doc, r.save(products, doc)
}

// retrieveLogs answers with the log lines of a product, oldest first: all of
// them, or at most limit of those after a timestamp, or from an offset.
func retrieveLogs(r *Request) (any, error) {
	a, id := r.args(), r.text("product")
	limit := a.integer("limit", maxLogs, 1, maxLogs)
	offset := a.integer("offset", 0, 0, 1<<40)
	var after int64
	if a.has("after") {
		t, err := time.Parse(time.RFC3339Nano, a.optText("after"))
		if err != nil {
			a.wrong("after", "must be the timestamp of a log line")
		}
		after = t.UnixMicro()
	}
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.get(products, id)
	if err != nil {
		return nil, err
	}
	rows, err := r.tx.Query("SELECT time, record FROM logs WHERE product = ? AND time > ? ORDER BY time LIMIT ? OFFSET ?",
		id, after, limit, offset)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	logs := []store.Doc{}
	for rows.Next() {
		var micro int64
		var record []byte
		if err := rows.Scan(&micro, &record); err != nil {
			return nil, err
		}
		line, err := store.Decode(record)
		if err != nil {
			return nil, err
		}
		line["timestamp"] = time.UnixMicro(micro).UTC().Format("2006-01-02T15:04:05.000000Z")
		logs = append(logs, line)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	total := 0
	err = r.tx.QueryRow("SELECT count(*) FROM logs WHERE product = ?", id).Scan(&total)
	// The last line is written together with the end, so none can follow it.
	ended := !slices.Contains([]string{productPending, productRunning}, store.Text(doc, "status"))
	return store.Doc{"total": store.Doc{"value": total}, "logs": logs, "complete": ended}, err
}
