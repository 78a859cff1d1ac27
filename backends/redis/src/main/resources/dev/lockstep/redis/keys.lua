-- Operations on the keys of any lock with a queue. The keys are described in common.lua.
local SLACK = 5000 -- how long keys stay when all that is in them has expired

local function digits(number)
  return string.format('%.0f', number)
end

-- The record of a reader, or of a holder of so many permits; permits is nil or false for a lock.
local function reader_record(permits, token, info)
  return 'S' .. (permits or '') .. 'r ' .. digits(token) .. ' ' .. info
end

local function client_of(id)
  return string.sub(id, 1, 22)
end

-- Lets a key outlive its contents, for so long that a claim that comes in the meantime can clean up all of it.
local function keep(key, ms)
  if redis.call('PTTL', key) < ms + SLACK then
    redis.call('PEXPIRE', key, ms + SLACK)
  end
end

-- Sets until when the exclusive holder has a lock. Its key has a token, and so never expires earlier than before.
local function set_owner_until(lock, till)
  redis.call('HSET', lock, 'until', till)
  keep(lock, till - now + TOKEN_KEPT)
end

-- Sets until when a reader has a lock.
local function set_reader_until(lock, readers, claims, id, till)
  redis.call('ZADD', readers, till, id)
  keep(readers, till - now)
  keep(claims, till - now)
  keep(lock, till - now + TOKEN_KEPT)
end

-- Whether another client than the claim's waits near the head: 1 or 0. A key that is no queue has nobody waiting.
local function is_wanted(queue, id)
  for _, other in ipairs(redis.pcall('ZRANGE', queue, 0, 2)) do
    if client_of(other) ~= client_of(id) then
      return 1
    end
  end
  return 0
end
