package scan

import (
	"bufio"
	"io"
	"os"
	"strings"
)

// sniffPLY tells a mesh, which has faces, from a point cloud.
func sniffPLY(f *os.File, size int64) content {
	lines := bufio.NewScanner(io.NewSectionReader(f, 0, min(size, 256<<10)))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 3 && fields[0] == "element" && (fields[1] == "face" || fields[1] == "tristrips") && fields[2] != "0":
			return content{kind: "mesh", format: "ply"}
		case len(fields) == 1 && fields[0] == "end_header":
			return content{kind: "pcl", format: "ply"}
		}
	}
	return content{kind: "pcl", format: "ply"}
}
