-- Ends every hold of the lock, notifies the holders, and serves the next claim.
-- Returns how many holds there were
load()
purge_readers()
local holders = redis.call('ZRANGE', READERS, 0, -1)
for _, id in ipairs(holders) do
  remove_reader(id)
end
if owner then
  holders[#holders + 1] = owner
end
clear_owner()
for _, id in ipairs(holders) do
  tell(id, 'revoked')
end
serve({})
forget_unused()
return #holders
