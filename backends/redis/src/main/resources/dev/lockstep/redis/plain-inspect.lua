-- KEYS: lock and token of each. Returns for each the value and the token, or nothing if the lock is free
local reply = {}
for i = 1, #KEYS, 2 do
  local value = redis.call('GET', KEYS[i])
  reply[#reply + 1] = value and { value, tonumber(redis.call('GET', KEYS[i + 1]) or 0) } or {}
end
return reply
