package client

// Products are ordered analytics: their state, their logs, what they made.
type Products struct {
	Cancel          Op[Ref, Product]                   `set:"cancel-product" doc:"Cancel a running product."`
	Describe        Op[Ref, Product]                   `read:"describe-product" doc:"Describe a product."`
	RetrieveLogs    Op[Ref, ProductLogs]               `read:"retrieve-product-logs" returns:"{total, logs}, oldest first, each {timestamp, record}" doc:"Return the log lines written so far."`
	FollowLogs      Op[FollowLogs, *Cursor[LogLine]]   `read:"describe-product|retrieve-product-logs" returns:"iterator of {timestamp, record, product, cursor}" doc:"Go through the log lines of a product, or of several in order of time, as they come, until all have ended."`
	Wait            Op[WaitForProducts, Some[Product]] `read:"" composed:"yes" extra:"no" doc:"Wait until a product has ended, or all of a list, and return it or them. One that is not available then raises a RuntimeError."`
	DownloadOutputs Op[DownloadOutputs, []Output]      `read:"" composed:"yes" extra:"no" returns:"list of {path, bytes, dataset, component, skipped}" doc:"Download all files of all datasets a product made, verified by checksum. Files that are there with the right content are skipped."`
	Search          SearchOp[ProductQuery, Product]    `read:"search-products" page:"0" doc:"Find products."`
}

// Inputs of the product operations.
type (
	FollowLogs struct {
		Product IDs `arg:"product,req,pos" doc:"product, or a list of products"`
		After   any `arg:"after" in:"none" doc:"cursor of the last line that was read, to go on behind it; with several products a table, product to cursor"`
		Extra
	}
	ProductQuery struct {
		Query
		Project ID `arg:"project" wire:"filter.project.$eq" only:"search" doc:"project, in place of a filter"`
	}
)
