-- Tells who holds and who waits, without changing anything.
-- Returns a list of mode, token (0 for a waiter), info
load()
local found = {}
local function add(mode, number, info)
  found[#found + 1] = mode
  found[#found + 1] = number
  found[#found + 1] = info
end
if owner then
  add('X', token, redis.call('HGET', LOCK, 'info'))
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', READERS, '(' .. digits(now), '+inf')) do
  local number, info = string.match(redis.call('HGET', CLAIMS, id) or '', '^Sr (%d+) (.*)$')
  if number then
    add('S', tonumber(number), info)
  end
end
for _, id in ipairs(redis.call('ZRANGE', QUEUE, 0, -1)) do
  local fields = redis.call('HMGET', CLAIMS, id, 'x' .. id)
  local mode, info = string.match(fields[1] or '', '^(%u)%l %d+ (.*)$')
  if mode and tonumber(fields[2] or 0) > now then
    add(mode, 0, info)
  end
end
return found
