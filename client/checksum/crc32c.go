package checksum

import (
	"hash/crc32"
	"sync"
)

// Made when it is needed: making it would be part of every start.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// CRC32C tells damaged bytes from sound ones, with the polynomial of Castagnoli,
// which processors compute by themselves.
func CRC32C(data []byte) uint32 { return crc32.Checksum(data, castagnoli()) }
