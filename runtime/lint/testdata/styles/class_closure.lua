-- Objects as closures over their state.
local function Account(balance)
  local self = {}
  function self.deposit(v) balance = balance + v end
  function self.withdraw(v)
    if v > balance then error("insufficient funds") end
    balance = balance - v
  end
  function self.balance() return balance end
  return self
end

local a = Account(100)
a.deposit(50)
a.withdraw(30)
print(a.balance(), pcall(a.withdraw, 1000))
