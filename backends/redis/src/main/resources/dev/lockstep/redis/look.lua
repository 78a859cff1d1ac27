-- Keeps claims of one client in the queue, and looks whether any of them has the lock or can have it.
-- ARGV: ttl, waiter expiry (ms), claim ids
-- Returns {free in, then for each claim: token if it has the lock, 0 if it waits, -1 if it is not known; wanted}
local ttl, patience = tonumber(ARGV[1]), tonumber(ARGV[2])
local mine = {}

load()
purge_readers()
for i = 3, #ARGV do
  local id = ARGV[i]
  if owner == id then
    prolong(now + ttl)
    granted[id] = token
  elseif redis.call('ZSCORE', READERS, id) then
    prolong_reader(id, now + ttl)
    granted[id] = token_of_reader(id)
  elseif redis.call('ZSCORE', QUEUE, id) then
    mine[id] = now + ttl
    stay_in_queue(id, patience)
    local hinted = owner and string.match(redis.call('HGET', CLAIMS, id) or '', '^Xh %d+ (.*)$')
    if hinted then
      redis.call('HSET', CLAIMS, id, 'Xd 0 ' .. hinted) -- came too late once; the next time it need not come
    end
  end
end
serve(mine)

local head = redis.call('ZRANGE', QUEUE, 0, 0)[1]
if head and mine[head] and not limit then
  tell_wanted(head)
end
local reply = { free_in() }
for i = 3, #ARGV do
  local id = ARGV[i]
  if granted[id] then
    reply[#reply + 1] = granted[id]
    reply[#reply + 1] = is_wanted(QUEUE, id)
  else
    reply[#reply + 1] = mine[id] and 0 or -1
    reply[#reply + 1] = 0
  end
end
return reply
