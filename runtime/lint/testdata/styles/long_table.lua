local months = {
  "January", "February", "March", "April", "May", "June", "July", "August",
  "September", "October", "November", "December",
}
local settings = {
  ["window.width"] = 800; ["window.height"] = 600;
  colors = { { 255, 0, 0 }, { 0, 255, 0 }, { 0, 0, 255 }, },
  handlers = { click = function(x, y) return x + y end, [1] = print, },
  [0] = "zero", [-1] = "minus", [1.5] = "half",
}
for i, m in ipairs(months) do settings[m] = i end
print(#months, settings["window.width"], settings.colors[2][2], settings.handlers.click(1, 2), settings[0])
