package link

import "os"

// Guard ends this process when its worker is gone.
func (c *Child) Guard() {
	<-c.broken
	os.Exit(1)
}
