-- The usual case of acquire.lua: the lock is free, nobody waits, reads or was given up, and it was no semaphore. It stands before everything else
-- because setting up the functions of common.lua takes the server longer than all of this. So the fields
-- of the holder are a copy of those in hold(), as those in release-alone.lua are of clear_owner(). Arguments as in acquire.lua.
if ARGV[2] == 'X' then
  local known = redis.call('HMGET', KEYS[1], 'owner', 'token', 'limit', 'format')
  if not (known[1] or known[3] or known[4]) and redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[5]) == 0 then
    local token = next_token(known[2])
    redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', now + ARGV[5], 'token', token, 'info', ARGV[7])
    redis.call('PEXPIRE', KEYS[1], ARGV[5] + TOKEN_KEPT + ahead(token))
    return { 1, token, 0 }
  end
end
