package transfer

import "transect/client/fault"

// The protocol's sizes, in bytes.
const (
	MiB = 1 << 20
	GiB = 1 << 30

	DefaultChunk     = 10 * MiB
	MinChunk         = 5 * MiB
	MaxChunk         = 5 * GiB
	MaxPlatformChunk = 50 * MiB
	MaxParts         = 10000
)

// plan describes how a file is split into parts.
type plan struct {
	size  int64
	chunk int64
	parts int // 1: sent in one piece
}

// planFor splits a file of a size. Chunks grow where there would be too many parts.
func planFor(size int64, u Upload, throughPlatform bool) (plan, error) {
	largest := int64(MaxChunk)
	if throughPlatform {
		largest = MaxPlatformChunk
	}
	chunk, err := checkChunk(u.ChunkSize, largest)
	if err != nil {
		return plan{}, err
	}
	if size <= chunk || !u.Multipart && size < largest {
		return plan{size: size, chunk: max(size, chunk), parts: 1}, nil
	}
	chunk = max(chunk, (size+MaxParts-1)/MaxParts)
	if chunk > largest {
		return plan{}, fault.Of(&fault.UploadError{}, "%s is too large: %d parts of %d bytes are the most that can be sent",
			u.Path, MaxParts, largest)
	}
	return plan{size: size, chunk: chunk, parts: int((size + chunk - 1) / chunk)}, nil
}

func checkChunk(chunk, largest int64) (int64, error) {
	if chunk == 0 {
		return DefaultChunk, nil
	}
	if chunk < MinChunk || chunk > largest {
		return 0, fault.Of(&fault.ValueError{}, "chunk_size must be between %d and %d bytes, got %d", MinChunk, largest,
			chunk)
	}
	return chunk, nil
}

// span returns the range of part n, counted from 1.
func (p plan) span(n int) (offset, size int64) {
	if p.parts == 1 {
		return 0, p.size
	}
	offset = int64(n-1) * p.chunk
	return offset, min(p.chunk, p.size-offset)
}
