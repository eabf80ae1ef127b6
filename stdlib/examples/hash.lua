-- hash.md5
assert(require("hash").md5("abc") == "900150983cd24fb0d6963f7d28e17f72")

-- hash.md5_file
require("fs").write("abc.txt", "abc")
assert(require("hash").md5_file("abc.txt") == "900150983cd24fb0d6963f7d28e17f72")

-- hash.sha1
assert(require("hash").sha1("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")

-- hash.sha1_file
require("fs").write("abc.txt", "abc")
assert(require("hash").sha1_file("abc.txt") == "a9993e364706816aba3e25717850c26c9cd0d89d")

-- hash.sha256
assert(require("hash").sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")

-- hash.sha256_file
require("fs").write("abc.txt", "abc")
assert(require("hash").sha256_file("abc.txt") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")

-- hash.sha512
assert(require("hash").sha512("abc") == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")

-- hash.sha512_file
require("fs").write("abc.txt", "abc")
assert(require("hash").sha512_file("abc.txt") == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")

-- hash.crc32
assert(require("hash").crc32("abc") == "352441c2")

-- hash.crc32_file
require("fs").write("abc.txt", "abc")
assert(require("hash").crc32_file("abc.txt") == "352441c2")

-- hash.crc32c
assert(require("hash").crc32c("abc") == "364b3fb7")

-- hash.crc32c_file
require("fs").write("abc.txt", "abc")
assert(require("hash").crc32c_file("abc.txt") == "364b3fb7")

-- hash.xxh64
assert(require("hash").xxh64("abc") == "44bc2cf5ad770999")

-- hash.xxh64_file
require("fs").write("abc.txt", "abc")
assert(require("hash").xxh64_file("abc.txt") == "44bc2cf5ad770999")

-- hash.hmac
local hash = require("hash")
assert(hash.hmac("sha256", "Jefe", "what do ya want for nothing?") == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")

-- hash.hmac_file
local hash = require("hash")
require("fs").write("abc.txt", "abc")
assert(hash.hmac_file("sha1", "key", "abc.txt") == hash.hmac("sha1", "key", "abc"))

-- hash.new
local hash = require("hash")
local h = hash.new("sha256")
h:update("a"):update("bc")
assert(h:sum() == hash.sha256("abc"))

-- hash.equal
assert(require("hash").equal("352441C2", "352441c2"))

-- hasher:update
local h = require("hash").new("crc32")
for _, piece in ipairs({ "a", "b", "c" }) do h:update(piece) end
assert(h:sum() == "352441c2")

-- hasher:sum
local h = require("hash").new("sha1", { key = "secret" })
assert(h:update("abc"):sum({ form = "base64" }) == require("hash").hmac("sha1", "secret", "abc", { form = "base64" }))
