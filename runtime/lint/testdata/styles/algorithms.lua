local function quicksort(t, lo, hi)
  lo, hi = lo or 1, hi or #t
  if lo >= hi then return t end
  local p, i = t[hi], lo
  for j = lo, hi - 1 do
    if t[j] <= p then t[i], t[j] = t[j], t[i]; i = i + 1 end
  end
  t[i], t[hi] = t[hi], t[i]
  quicksort(t, lo, i - 1)
  return quicksort(t, i + 1, hi)
end
print(unpack(quicksort { 5, 2, 8, 1, 9 }))
local N = 4
local function place(a, n)
  if n > N then for i = 1, N do io.write(a[i], i < N and " " or "\n") end return true end
  for c = 1, N do
    local ok = true
    for i = 1, n - 1 do
      if a[i] == c or a[i] - i == c - n or a[i] + i == c + n then ok = false break end
    end
    if ok then a[n] = c if place(a, n + 1) then return true end end
  end
end
place({}, 1)
