-- What the scripts of the queued lock share; put before each of them when it is loaded.
--
-- KEYS, all under one hash tag, so that a cluster has them in one place:
--   1 lock     hash: owner, until, info of the exclusive holder; token, the last one given
--   2 queue    sorted set: claim id by ticket
--   3 readers  sorted set: claim id of each shared holder by its expiry
--   4 claims   hash: claim id -> record of a waiter or reader; 'x' .. claim id -> a waiter's expiry
--   5 gone     sorted set: claim ids that were given up while a request for them could still arrive, by expiry
--
-- A record is mode, state, number and info: 'Xb 0 …' waits and may be overtaken, 'Xh 1790000000000 …' was told at that time
-- that the lock is free, 'Xd 0 …' and 'Sd 0 …' are granted the lock by whoever frees it, 'Sr 1790000000000000 …' is a
-- reader with its token. Times are milliseconds of the server's clock; tokens start from its microseconds.
local LOCK, QUEUE, READERS, CLAIMS, GONE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local TOKEN_KEPT = 1200000 -- how long an unused lock's token is remembered: longer than clocks are set back
local SLACK = 5000 -- how long keys stay when all that is in them has expired
local HINT_STALE = 300 -- how long a waiter may take to come when it was told that the lock is free

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local recorded, owner, expires, token -- the owner as it stands there, and if its time is not over
local granted = {}

local function digits(number)
  return string.format('%.0f', number)
end

local function client_of(id)
  return string.sub(id, 1, 22)
end

local function tell(id, word, more)
  redis.call('PUBLISH', 'lockstep:' .. client_of(id), word .. ' ' .. id .. (more or ''))
end

-- Lets a key outlive what is in it, by so much that whoever comes meanwhile can clear up all that belongs to it.
local function keep(key, ms)
  if redis.call('PTTL', key) < ms + SLACK then
    redis.call('PEXPIRE', key, ms + SLACK)
  end
end

local function load()
  local fields = redis.call('HMGET', LOCK, 'owner', 'until', 'token')
  recorded, expires, token = fields[1], tonumber(fields[2]), tonumber(fields[3] or 0)
  owner = recorded and expires > now and recorded
end

local function clear_owner()
  recorded, owner = false, false
  redis.call('HDEL', LOCK, 'owner', 'until', 'info')
end

-- Gives the lock to a claim until a time.
local function hold(id, mode, info, till)
  token = math.max(token + 1, time[1] * 1000000 + time[2])
  if mode == 'X' then
    recorded, owner, expires = id, id, till
    redis.call('HSET', LOCK, 'owner', id, 'until', till, 'token', token, 'info', info)
  else
    if recorded then
      clear_owner() -- whose time is over, and who must not come back beside a reader
    end
    redis.call('HSET', LOCK, 'token', token)
    redis.call('ZADD', READERS, till, id)
    redis.call('HSET', CLAIMS, id, 'Sr ' .. digits(token) .. ' ' .. info)
    keep(READERS, till - now)
    keep(CLAIMS, till - now)
  end
  redis.call('PEXPIRE', LOCK, till - now + TOKEN_KEPT)
  granted[id] = token
  return token
end

-- Lets the exclusive holder have it until a time, if that is later.
local function prolong(till)
  if till > expires then
    expires = till
    redis.call('HSET', LOCK, 'until', till)
    redis.call('PEXPIRE', LOCK, till - now + TOKEN_KEPT)
  end
end

local function prolong_reader(id, till)
  if till > tonumber(redis.call('ZSCORE', READERS, id)) then
    redis.call('ZADD', READERS, till, id)
    keep(READERS, till - now)
    keep(CLAIMS, till - now)
    keep(LOCK, till - now + TOKEN_KEPT)
  end
end

local function token_of_reader(id)
  return tonumber(string.match(redis.call('HGET', CLAIMS, id), '^Sr (%d+)'))
end

local function leave_queue(id)
  redis.call('ZREM', QUEUE, id)
  redis.call('HDEL', CLAIMS, id, 'x' .. id)
end

local function purge_readers()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', READERS, '-inf', now)) do
    redis.call('ZREM', READERS, id)
    redis.call('HDEL', CLAIMS, id)
  end
end

-- Whether another client than the claim's waits near the head.
local function is_wanted(id)
  for _, other in ipairs(redis.call('ZRANGE', QUEUE, 0, 2)) do
    if client_of(other) ~= client_of(id) then
      return 1
    end
  end
  return 0
end

-- Serves the queue as far as the lock is free. Claims in `mine` are the caller's: there to take it, and told by the reply.
local function serve(mine)
  local served = {}
  while not owner do
    local id = redis.call('ZRANGE', QUEUE, 0, 0)[1]
    if not id then
      break
    end
    local fields = redis.call('HMGET', CLAIMS, id, 'x' .. id)
    local mode, state, at, info = string.match(fields[1] or '', '^(%u)(%l) (%d+) (.*)$')
    local till = tonumber(fields[2] or 0)
    if not mode or till <= now then
      leave_queue(id) -- its client is gone
    elseif mode == 'X' and redis.call('ZCARD', READERS) > 0 then
      break
    elseif mode == 'S' or state == 'd' or mine[id] then
      leave_queue(id)
      hold(id, mode, info, mine[id] or till)
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
      tell(id, 'granted', ' ' .. digits(granted[id]) .. ' ' .. is_wanted(id))
    end
  end
end

-- Tells the holders' clients that a claim of another client waits.
local function tell_wanted(id)
  local holders = owner and { owner } or redis.call('ZRANGE', READERS, 0, -1)
  for _, holder in ipairs(holders) do
    if client_of(holder) ~= client_of(id) then
      tell(holder, 'wanted')
    end
  end
end

-- In how many milliseconds the lock may become free without anybody's doing; -1 if nobody knows.
local function free_in()
  if owner then
    return expires - now
  end
  local first = redis.call('ZRANGE', READERS, 0, 0, 'WITHSCORES')[2]
  return first and first - now or -1
end
