-- Makes a record of each kind for each drift.
for name, kind in pairs(require("kinds")) do
  for _, drift in ipairs({ "changed", "deleted", "added" }) do
    kind.make(name .. " " .. drift)
  end
end
