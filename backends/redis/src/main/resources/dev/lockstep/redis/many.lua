-- Does something to one lock of many. A key that another program has written concerns its own lock alone, for which the
-- result is `otherwise`; any other error is about the server.
local function one_of_many(otherwise, action, ...)
  local done, result = pcall(action, ...)
  if done then
    return result
  end
  if not string.find(type(result) == 'table' and result.err or result, 'WRONGTYPE', 1, true) then
    error(result, 0)
  end
  return otherwise
end
