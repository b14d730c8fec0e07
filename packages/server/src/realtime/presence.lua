-- The connections to one board. Keys: connections (sorted set; member connection|user, score expiry in ms), users
-- (hash; user to number of connections), names (hash; user to username), version (string).
-- Arguments: operation (open, join, refresh, leave, shorten, reap, list), lifetime in ms, channel, lifetime of the keys in s;
-- then for each connection its id, its user and the username. The script publishes every transition itself, so that
-- messages are in the order in which the state changed.
local connections, users, names, version = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local operation, lifetime, channel, keep = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local messages = {}

-- Versions start at the current time, so that they keep growing when Redis loses its data.
if redis.call('EXISTS', version) == 0 and operation ~= 'list' then
  redis.call('SET', version, string.format('%.0f', now * 1000))
end
local function publish(kind, user, name, connection)
  redis.call('INCR', version)
  local transition = cjson.encode({ type = kind, user_id = user, username = name, connection = connection })
  local message = redis.call('GET', version) .. '|' .. transition
  messages[#messages + 1] = message
  redis.call('SPUBLISH', channel, 'p|' .. message)
end
local function leave(user)
  if redis.call('HINCRBY', users, user, -1) > 0 then return end
  local name = redis.call('HGET', names, user)
  redis.call('HDEL', users, user)
  redis.call('HDEL', names, user)
  publish('user_left', user, name or '', '')
end

for _, member in ipairs(redis.call('ZRANGEBYSCORE', connections, '-inf', '(' .. now, 'LIMIT', 0, 200)) do
  redis.call('ZREM', connections, member)
  leave(string.match(member, '|(.*)$'))
end

for i = 5, #ARGV, 3 do
  local connection, user, name = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local member = connection .. '|' .. user
  local is_join = operation == 'open' or operation == 'join'
  if is_join or operation == 'refresh' then
    if redis.call('ZADD', connections, now + lifetime, member) == 1 then
      local count = redis.call('HINCRBY', users, user, 1)
      redis.call('HSET', names, user, name)
      -- Every new connection is published. One that is registered again is published only if the user was missing.
      if is_join then publish('user_joined', user, name, connection)
      elseif count == 1 then publish('user_joined', user, name, '') end
    end
  elseif operation == 'leave' then
    if redis.call('ZREM', connections, member) == 1 then leave(user) end
  elseif operation == 'shorten' then
    redis.call('ZADD', connections, 'XX', now + lifetime, member)
  end
end

local first = redis.call('ZRANGE', connections, 0, 0, 'WITHSCORES')
if #first == 0 then
  redis.call('DEL', connections, users, names)
else
  for i = 1, 3 do redis.call('EXPIRE', KEYS[i], keep) end
end
if redis.call('EXISTS', version) == 1 then redis.call('EXPIRE', version, 86400) end
-- Milliseconds until the next connection expires (-1 if there is none), the version, the published messages, and for `open`
-- and `list` the users.
return {
  first[2] and string.format('%.0f', math.max(0, first[2] - now)) or '-1',
  redis.call('GET', version) or '0',
  messages,
  (operation == 'open' or operation == 'list') and redis.call('HGETALL', names) or {},
}
