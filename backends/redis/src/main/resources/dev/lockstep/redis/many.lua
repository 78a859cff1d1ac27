-- Whether an error is about a key that another program has written: it has another type, or a value that is no number
-- where one belongs. It concerns its own lock alone; any other error is about the server.
local function is_foreign_key(message)
  return string.find(message, 'WRONGTYPE', 1, true) or string.find(message, 'attempt to ', 1, true)
end

-- Does something to one lock of many, whose result is `otherwise` if another program has written its key.
local function one_of_many(otherwise, action, ...)
  local done, result = pcall(action, ...)
  if done then
    return result
  end
  if not is_foreign_key(type(result) == 'table' and result.err or result) then
    error(result, 0)
  end
  return otherwise
end
