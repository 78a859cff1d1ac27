-- Writes the token of a claim that has a majority, if this server is still the claim's and has given no token since.
-- KEYS: as in common.lua, then the charter; ARGV: claim id, token that it saw here, its token, longest ttl known (ms), servers
-- Returns {0} if not, else {1, age (ms), longest ttl (ms), wanted}
load()
if owner ~= ARGV[1] or token ~= tonumber(ARGV[2]) then
  return { 0 }
end
redis.call('HSET', LOCK, 'token', ARGV[3])
keep(LOCK, ahead(ARGV[3]) + TOKEN_KEPT)
local age, longest = charter(tonumber(ARGV[4]), tonumber(ARGV[5]), false)
return { 1, age, longest, is_wanted(QUEUE, owner) }
