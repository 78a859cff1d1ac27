-- Deletes the lock if its token is the one that is meant. KEYS: lock, token, one that never exists; ARGV: token
-- Returns 1 if it was, else 0
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('GET', KEYS[2]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return redis.call('DEL', KEYS[3]) -- on a read-only server, a missing key proves nothing
