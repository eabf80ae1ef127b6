package link

import "os"

// Guard exits this process when its worker is gone.
func (c *Child) Guard() {
	<-c.broken
	os.Exit(1)
}
