-- Compare and prolong, as many locks as there are keys. KEYS: lock and token of each; ARGV: ttl (ms), values
-- Returns for each 1, or 0 if it is lost
local reply = {}
for i = 2, #ARGV do
  local lock, token = KEYS[2 * i - 3], KEYS[2 * i - 2]
  local value = redis.pcall('GET', lock)
  if type(value) == 'table' and not is_foreign_key(value.err) then
    return value
  end
  local mine = value == ARGV[i]
  if mine then
    redis.call('PEXPIRE', lock, ARGV[1])
    if redis.call('PTTL', token) < ARGV[1] + TOKEN_KEPT then
      redis.call('PEXPIRE', token, ARGV[1] + TOKEN_KEPT)
    end
  elseif not value then
    redis.call('DEL', lock) -- on a read-only server, a missing key proves nothing
  end
  reply[#reply + 1] = mine and 1 or 0
end
return reply
