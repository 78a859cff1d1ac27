-- The usual case of release.lua: the owner gives the lock back, and nobody waits. It stands before everything else for the
-- reason of acquire-free.lua.
if ARGV[2] == '0' and redis.call('HGET', KEYS[1], 'owner') == ARGV[1] and redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('HDEL', KEYS[1], 'owner', 'until', 'info')
  return 1
end
