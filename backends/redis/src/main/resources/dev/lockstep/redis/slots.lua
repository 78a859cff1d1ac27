-- Gives a holder of a semaphore its slots, which it keeps.
--
-- The field slots of the claims has a line for each slot that was asked for: its number, the token and the claim id of the
-- holder that had it last. Tokens must rise from one holder of a slot to the next, and an older holder may ask later than a
-- younger one. So each is given the slots with the highest tokens below its own, which leaves those with lower tokens to
-- older holders; slots that nobody asked for come last.
--
-- ARGV: claim id
-- Returns the slots, ascending; nothing if it has no permits
local id = ARGV[1]

load()
purge_readers()
local permits, mine = string.match(redis.call('HGET', CLAIMS, id) or '', '^S(%d+)r (%d+)')
if not limit or not permits or not redis.call('ZSCORE', READERS, id) then
  require_writable()
  return {}
end
permits, mine = tonumber(permits), tonumber(mine)

local known, own = {}, {}
for slot, last, holder in string.gmatch(redis.call('HGET', CLAIMS, 'slots') or '', '(%d+) (%d+) (%S+)\n') do
  known[tonumber(slot)] = { token = tonumber(last), holder = holder }
  if holder == id then
    own[#own + 1] = tonumber(slot)
  end
end

if #own == 0 then
  local held = {}
  for _, holder in ipairs(redis.call('ZRANGE', READERS, 0, -1)) do
    held[holder] = true
  end
  local free = {}
  for slot, last in pairs(known) do
    if not held[last.holder] and last.token < mine then
      free[#free + 1] = slot
    end
  end
  table.sort(free, function(a, b)
    return known[a].token > known[b].token or (known[a].token == known[b].token and a < b)
  end)
  for slot = 0, limit - 1 do
    if #free >= permits then
      break
    end
    if not known[slot] then
      free[#free + 1] = slot
    end
  end
  for i = 1, permits do
    own[i] = free[i]
    known[free[i]] = { token = mine, holder = id }
  end
  local lines = {}
  for slot, last in pairs(known) do
    lines[#lines + 1] = string.format('%d %.0f %s\n', slot, last.token, last.holder)
  end
  redis.call('HSET', CLAIMS, 'slots', table.concat(lines))
end
table.sort(own)
return own
