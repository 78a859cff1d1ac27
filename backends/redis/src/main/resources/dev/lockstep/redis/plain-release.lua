-- Compare and delete. KEYS: lock, one that never exists; ARGV: value
-- Returns 1 if it had the lock, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return redis.call('DEL', KEYS[2]) -- on a read-only server, a missing key proves nothing
