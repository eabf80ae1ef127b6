package link

import "os"

// Guard ends this process when its worker is gone.
func (c *Child) Guard() {
	select {
	case <-c.broken:
		os.Exit(1)
	case <-c.ended:
	}
}
