-- The textbook's lock: SET NX PX, with a token drawn beside it.
-- KEYS: lock, token; ARGV: value (claim id and info), ttl (ms)
-- Returns the token, or -1 if the lock is held by another
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  local token = next_token(redis.call('GET', KEYS[2]))
  redis.call('SET', KEYS[2], string.format('%.0f', token), 'PX', ARGV[2] + TOKEN_KEPT + ahead(token))
  return token
end
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return tonumber(redis.call('GET', KEYS[2]))
end
return -1
