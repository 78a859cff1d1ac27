-- KEYS: lock, token. Returns the value and the token, or nothing if the lock is free
local value = redis.call('GET', KEYS[1])
if not value then
  return {}
end
return { value, tonumber(redis.call('GET', KEYS[2]) or 0) }
