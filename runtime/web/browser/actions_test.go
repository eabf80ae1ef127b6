package browser_test

import (
	"fmt"
	"testing"
)

// Datasets are deleted and restored, one and several; each after a question that
// can be answered by going back.
func TestDeleteAndRestore(t *testing.T) {
	needsBrowser(t)
	s := surveyed(t)
	address, _ := s.ui("--local", "--allow-actions")
	p := open(t, address)
	p.visit("/datasets?name=FLIGHT_0001")
	p.click(`main td a[href^="/datasets/"]`)
	p.reads("h1", "FLIGHT_0001.JPG")
	one := eval[string](p, "location.pathname")
	p.click(`a[href^="/actions/delete"]`)
	p.reads("h1", "Delete datasets?")
	p.reads("main", "FLIGHT_0001.JPG")
	p.click(`main .bar a`) // back
	p.reads("h1", "FLIGHT_0001.JPG")
	p.enter(`a[href^="/actions/delete"]`)
	p.reads("h1", "Delete datasets?")
	p.enter("main form button")
	p.reads(".problem", "Deleted")
	p.visit("/datasets?name=FLIGHT_0001")
	p.reads("main", "No dataset matches.")
	p.visit(one)
	p.click(`a[href^="/actions/restore"]`)
	p.reads("h1", "Restore datasets?")
	p.click("main form button")
	p.see(`a[href^="/actions/delete"]`)

	// Several, on a phone and without JavaScript.
	p.scripts(false)
	p.width(narrow)
	p.visit("/datasets?name=FLIGHT_")
	for _, row := range []int{2, 3} {
		p.click(fmt.Sprintf("tbody tr:nth-child(%d) input", row))
	}
	p.click("main .bar button")
	p.reads("h1", "Delete datasets?") // the list has a form with a button as well
	p.reads("main", "FLIGHT_0007.JPG")
	p.reads("main", "FLIGHT_0006.JPG")
	p.fits("the question")
	p.click("main form button")
	p.reads("h1", "Datasets that were deleted")
	p.reads("tbody tr:nth-child(2)", "FLIGHT_000")
	p.picture("deleted-narrow")
	for _, row := range []int{1, 2} {
		p.click(fmt.Sprintf("tbody tr:nth-child(%d) input", row))
	}
	p.click("main .bar button")
	p.reads("h1", "Restore datasets?")
	p.click("main form button")
	p.reads("h1", "Datasets")
	p.visit("/datasets?name=FLIGHT_")
	p.reads("main", "of 8 datasets")
}

// An analytic is ordered for a mission, and once more; its log comes live.
func TestOrder(t *testing.T) {
	needsBrowser(t)
	s := surveyed(t)
	address, _ := s.ui("--local", "--allow-actions")
	p := open(t, address)
	p.visit("/")
	p.click(`main td a[href*="mission="]`)
	p.click(`a[href^="/actions/order"]`)
	p.until(`location.pathname === "/actions/order" && document.querySelector("main form select")`)
	eval[bool](p, `(() => { const s = document.querySelector("main form select"); s.value = [...s.options].find(o => o.text.startsWith("flight_report")).value; return true })()`)
	p.click("main form button")
	p.reads("main form.long", "mission")
	p.picture("order")
	p.click("main form.long button")
	p.reads("h1", "flight_report")
	p.reads("h1", "available")
	p.reads("#log", "writing the deliverables")
	first := eval[string](p, "location.pathname")
	p.click(`a[href^="/actions/order-again"]`)
	p.reads("h1", "Order again?")
	p.click("main form button")
	p.until(`location.pathname.startsWith("/products/") && location.pathname !== ` + quoted(first))
	p.reads("h1", "available")
	p.visit("/products")
	p.reads("main", "3 products")
}

// Without --allow-actions there is no button, and no address does anything.
func TestNothingIsChangedWithoutPermission(t *testing.T) {
	needsBrowser(t)
	s := surveyed(t)
	address, _ := s.ui("--local")
	p := open(t, address)
	p.reads(".foot", "read only")
	p.visit("/datasets?name=FLIGHT_0001")
	p.click(`main td a[href^="/datasets/"]`)
	p.until(`location.pathname.startsWith("/datasets/") && document.querySelector("h1")`)
	dataset := eval[string](p, `location.pathname.split("/").pop()`)
	p.visit("/products")
	p.click(`main a[href^="/products/"]`)
	p.until(`location.pathname.startsWith("/products/") && document.querySelector("h1")`)
	product := eval[string](p, `location.pathname.split("/").pop()`)
	for _, path := range []string{"/datasets", "/datasets/" + dataset, "/products", "/products/" + product, "/runs"} {
		p.visit(path)
		if n := eval[int](p, `document.querySelectorAll("a[href^='/actions'], form[action^='/actions'], form[method=post]").length`); n != 0 {
			t.Errorf("%s has %d ways to change something", path, n)
		}
	}
	form := eval[string](p, `fetch("/another").then(r => r.text()).then(t => new DOMParser().parseFromString(t, "text/html").querySelector("[name=form]").value)`)
	p.expect("403")
	for _, path := range []string{"/actions/delete?dataset=" + dataset, "/actions/restore?dataset=" + dataset, "/actions/cancel?product=" + product, "/actions/order-again?product=" + product, "/actions/order"} {
		p.visit(path)
		p.reads("main", "This is not permitted")
		p.reads("main", "--allow-actions")
		body := fmt.Sprintf(`new URLSearchParams({form: %s, dataset: %s, product: %s})`, quoted(form), quoted(dataset), quoted(product))
		if status := eval[int](p, fmt.Sprintf(`fetch(%s, {method: "POST", body: %s}).then(r => r.status)`, quoted(path), body)); status != 403 {
			t.Errorf("%s is answered by %d", path, status)
		}
	}
	p.visit("/datasets/" + dataset)
	p.reads("h1", "FLIGHT_0001.JPG")
}
