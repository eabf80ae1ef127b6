-- log.debug
local log = require("log")
log.debug("ordered", { product = "p1", files = 3 })

-- log.info
local log = require("log")
log.info("ordered", { product = "p1", files = 3 })

-- log.warn
local log = require("log")
log.warn("ordered", { product = "p1", files = 3 })

-- log.error
local log = require("log")
log.error("ordered", { product = "p1", files = 3 })

-- log.with
local log = require("log")
local flight = log.with({ mission = "m1" })
flight:info("uploaded", { file = "DJI_0001.JPG" })
flight:with({ part = 2 }):warn("slow")

-- logger:debug
local log = require("log").with({ run = 7 })
log:debug("ordered", { product = "p1", files = 3 })

-- logger:info
local log = require("log").with({ run = 7 })
log:info("ordered", { product = "p1", files = 3 })

-- logger:warn
local log = require("log").with({ run = 7 })
log:warn("ordered", { product = "p1", files = 3 })

-- logger:error
local log = require("log").with({ run = 7 })
log:error("ordered", { product = "p1", files = 3 })

-- logger:with
local log = require("log").with({ run = 7 })
local flight = log:with({ mission = "m1" })
flight:info("uploaded", { file = "DJI_0001.JPG" })
flight:with({ part = 2 }):warn("slow")
