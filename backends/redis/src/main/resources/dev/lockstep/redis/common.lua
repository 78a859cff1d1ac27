-- The common part of the scripts of one queued lock; put before each of them when it is loaded, after clock.lua and keys.lua.
--
-- KEYS, all under one hash tag, so that a cluster has them in one place:
--   1 lock     hash: owner, until, info of the exclusive holder; wait, the lock for which it waits; token, the last one
--              given; of a semaphore also limit, how many permits there are, and extra, how many its holders have beyond
--              their first; format, if it is not 1
--   2 queue    sorted set: claim id by ticket
--   3 readers  sorted set: claim id of each shared holder by its expiry
--   4 claims   hash: claim id -> record of a waiter or reader; 'x' .. claim id -> a waiter's expiry; 'w' .. claim id -> the
--              lock for which a reader waits; slots -> those of a semaphore that were asked for (slots.lua)
--   5 gone     sorted set: claim ids that were given up while a request for them could still arrive, by expiry
--
-- A record is mode, state, number and info: 'Xb 0 …' waits and may be overtaken, 'Xh 1790000000000 …' was notified at
-- that time that the lock is free, 'Xd 0 …' and 'Sd 0 …' are granted the lock by the claim that frees it, 'Sr 1790000000000000
-- …' is a reader with its token. Holders of a semaphore are readers; a number after the mode says how many permits they
-- have or ask for: 'S1d 0 …', 'S3r 1790000000000000 …'. A name with a limit is a semaphore while it has readers or a
-- queue. Times are milliseconds of the server's clock; tokens start from its microseconds.
local LOCK, QUEUE, READERS, CLAIMS, GONE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local HINT_STALE = 300 -- how long a waiter may take to come when it was notified that the lock is free

local recorded, owner, expires, token -- the owner as it stands there, and if its time is not over
local limit, extra -- of a semaphore
local granted = {}

local function tell(id, word, more)
  redis.call('PUBLISH', 'lockstep:' .. client_of(id), word .. ' ' .. id .. (more or ''))
end

local function load()
  local fields = redis.call('HMGET', LOCK, 'owner', 'until', 'token', 'limit', 'extra', 'format')
  if fields[6] then
    error('LOCKSTEP_FORMAT ' .. fields[6], 0)
  end
  recorded, expires, token = fields[1], tonumber(fields[2]), tonumber(fields[3] or 0)
  owner = recorded and expires > now and recorded
  limit, extra = tonumber(fields[4]), tonumber(fields[5] or 0)
end

local function clear_owner()
  recorded, owner = false, false
  redis.call('HDEL', LOCK, 'owner', 'until', 'info', 'wait')
end

-- Makes a claim a reader with the last token, until a time.
local function add_reader(id, info, till, permits)
  redis.call('HSET', CLAIMS, id, reader_record(limit and permits, token, info))
  set_reader_until(LOCK, READERS, CLAIMS, id, till)
end

local function remove_reader(id)
  local held = redis.call('ZREM', READERS, id)
  if held == 1 and extra > 0 then -- one that had expired with the key may have left its record
    local more = tonumber(string.match(redis.call('HGET', CLAIMS, id) or '', '^S(%d+)r ') or 1) - 1
    if more > 0 then
      extra = extra - more
      redis.call('HSET', LOCK, 'extra', extra)
    end
  end
  redis.call('HDEL', CLAIMS, id, 'w' .. id)
  return held
end

-- How many permits of a semaphore are in use, when expired holders have been removed.
local function permits_in_use()
  local holders = redis.call('ZCARD', READERS)
  if holders == 0 then
    extra = 0 -- holders that had more have expired with their key
  end
  return holders + extra
end

-- Forgets how many permits there are, and who had which slot, if nobody uses the semaphore any more.
local function forget_unused()
  if limit and redis.call('EXISTS', QUEUE, READERS) == 0 then
    redis.call('HDEL', LOCK, 'limit', 'extra')
    redis.call('DEL', CLAIMS)
  end
end

-- Gives the lock to a claim until a time, or so many permits of a semaphore.
local function hold(id, mode, info, till, permits)
  token = next_token(token)
  if recorded then
    clear_owner() -- whose time is over, and who must not come back beside a reader
  end
  if mode == 'X' then
    recorded, owner, expires = id, id, till
    redis.call('HSET', LOCK, 'owner', id, 'until', till, 'token', token, 'info', info)
    redis.call('PEXPIRE', LOCK, till - now + TOKEN_KEPT + ahead(token))
  else
    if limit then
      extra = extra + permits - 1
      redis.call('HSET', LOCK, 'token', token, 'limit', limit, 'extra', extra)
    else
      redis.call('HSET', LOCK, 'token', token)
    end
    add_reader(id, info, till, permits)
  end
  granted[id] = token
  return token
end

-- Lets the exclusive holder have it until a time, if that is later.
local function prolong(till)
  if till > expires then
    expires = till
    set_owner_until(LOCK, till)
  end
end

local function prolong_reader(id, till)
  if till > tonumber(redis.call('ZSCORE', READERS, id)) then
    set_reader_until(LOCK, READERS, CLAIMS, id, till)
  end
end

local function token_of_reader(id)
  return tonumber(string.match(redis.call('HGET', CLAIMS, id), '^S%d*r (%d+)'))
end

-- Puts a claim at the end of the queue.
local function enter_queue(id)
  local last = redis.call('ZRANGE', QUEUE, -1, -1, 'WITHSCORES')
  redis.call('ZADD', QUEUE, (last[2] or 0) + 1, id)
end

-- Keeps a claim in the queue for a time.
local function stay_in_queue(id, patience)
  redis.call('HSET', CLAIMS, 'x' .. id, now + patience)
  keep(QUEUE, patience)
  keep(CLAIMS, patience)
end

local function leave_queue(id)
  redis.call('ZREM', QUEUE, id)
  redis.call('HDEL', CLAIMS, id, 'x' .. id)
end

local function purge_readers()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', READERS, '-inf', now)) do
    remove_reader(id)
  end
end

-- Serves the queue as far as the lock is free, or permits are; nobody passes a claim for which there are too few. Claims in
-- `mine` are the caller's: there to take it, and notified by the reply.
local function serve(mine)
  local served = {}
  while not owner do
    local id = redis.call('ZRANGE', QUEUE, 0, 0)[1]
    if not id then
      break
    end
    local fields = redis.call('HMGET', CLAIMS, id, 'x' .. id)
    local mode, permits, state, at, info = string.match(fields[1] or '', '^(%u)(%d*)(%l) (%d+) (.*)$')
    local till = tonumber(fields[2] or 0)
    if not mode or till <= now or (permits ~= '' and not limit) then
      leave_queue(id) -- its client is gone, or the server has lost the number of permits; if it lives it will queue again
    elseif mode == 'X' and redis.call('ZCARD', READERS) > 0 then
      break
    elseif limit and permits_in_use() + (tonumber(permits) or 1) > limit then
      break
    elseif mode == 'S' or state == 'd' or mine[id] then
      leave_queue(id)
      hold(id, mode, info, mine[id] or till, tonumber(permits) or 1)
      served[#served + 1] = id
    elseif state == 'b' then
      redis.call('HSET', CLAIMS, id, 'Xh ' .. digits(now) .. ' ' .. info)
      tell(id, 'free')
      break
    elseif now - at < HINT_STALE then
      break -- on its way
    else
      leave_queue(id) -- does not come; if it lives it will queue again
    end
  end
  for _, id in ipairs(served) do
    if not mine[id] then
      tell(id, 'granted', ' ' .. digits(granted[id]) .. ' ' .. is_wanted(QUEUE, id))
    end
  end
end

-- Notifies the holders' clients that a claim of another client waits.
local function tell_wanted(id)
  local holders = owner and { owner } or redis.call('ZRANGE', READERS, 0, -1)
  for _, holder in ipairs(holders) do
    if client_of(holder) ~= client_of(id) then
      tell(holder, 'wanted')
    end
  end
end

-- In how many milliseconds the lock may become free by itself; -1 if that is unknown.
local function free_in()
  if owner then
    return expires - now
  end
  local first = redis.call('ZRANGE', READERS, 0, 0, 'WITHSCORES')[2]
  return first and first - now or -1
end

-- Refuses for a server that may not write, whose missing keys prove nothing: this is a write.
local function require_writable()
  redis.call('ZREMRANGEBYSCORE', GONE, '-inf', now)
end
