-- KEYS: lock and token of each. Returns for each the value, the token and the time left (ms), nothing if the lock is free, or an error
local reply = {}
for i = 1, #KEYS, 2 do
  local value, token = redis.pcall('GET', KEYS[i]), redis.pcall('GET', KEYS[i + 1])
  if type(value) == 'table' or type(token) == 'table' then
    reply[#reply + 1] = type(value) == 'table' and value or token
  else
    reply[#reply + 1] = value and { value, tonumber(token or 0) or 0, redis.call('PTTL', KEYS[i]) } or {}
  end
end
return reply
