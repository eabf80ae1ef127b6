Account = { balance = 0 }
function Account:new(o)
  o = o or {}
  setmetatable(o, self)
  self.__index = self
  return o
end
function Account:deposit(v) self.balance = self.balance + v end
function Account:limit() return 0 end
function Account:withdraw(v)
  if v - self.balance > self:limit() then error "insufficient funds" end
  self.balance = self.balance - v
end
SpecialAccount = Account:new()
function SpecialAccount:limit() return self.overdraft or 0 end
s = SpecialAccount:new { overdraft = 1000.00 }
s:deposit(100.00)
s:withdraw(200.00)
print(s.balance)
