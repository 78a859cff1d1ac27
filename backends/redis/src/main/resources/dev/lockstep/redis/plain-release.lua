-- Compare and delete. KEYS: lock; ARGV: value
-- Returns 1 if it had the lock, else 0
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
