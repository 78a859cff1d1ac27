-- Ends every hold of the lock, tells the holders, and serves who comes next.
-- Returns how many holds there were
load()
purge_readers()
local holders = redis.call('ZRANGE', READERS, 0, -1)
for _, id in ipairs(holders) do
  redis.call('HDEL', CLAIMS, id)
end
redis.call('DEL', READERS)
if owner then
  holders[#holders + 1] = owner
end
clear_owner()
for _, id in ipairs(holders) do
  tell(id, 'revoked')
end
serve({})
return #holders
