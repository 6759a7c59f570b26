-- What agents at work ask for, in the right mix and at their pace: wrk -s agents.lua URL -- PAUSE_MS
--
-- An agent makes a tool call every 5 seconds, reads its messages every 15, reports every 30, sends a
-- message every 60, and saves and restores every 15 minutes. wrk has no fixed rate, so each of its
-- connections waits between an answer and its next request: PAUSE_MS on average.
dofile(os.getenv("BENCH_LUA") .. "/common.lua")

local AGENTS, AGENTS_IN_A_SESSION = 1000, 10

function init(args)
  pause = tonumber(args[1])
  math.randomseed(number)
end

function delay()
  return math.floor(pause * 2 * math.random())
end

local function message(name)
  return wrk.format("POST", "/api/messages", nil, string.format(
    '{"from_agent_id":"%s","topic":"progress","payload":{"done":%d},"to_agent_id":"agent-%d"}',
    name, next_number(), math.random(AGENTS)))
end

local function report(name, session)
  return wrk.format("POST", "/api/agents", nil, string.format(
    '{"agent_id":"%s","session_id":"%s","current_usage":%d}',
    name, session, next_number() % 200000))
end

-- Requests in 900 seconds of one agent, added up: 180 calls, 60 reads, 30 reports, 15 messages, 1, 1.
function request()
  local agent = math.random(AGENTS)
  local name, session = "agent-" .. agent, "session-" .. math.floor(agent / AGENTS_IN_A_SESSION)
  local chance = math.random() * 287
  if chance < 180 then return action(session) end
  if chance < 240 then return wrk.format("POST", "/api/messages/" .. name .. "/receive") end
  if chance < 270 then return report(name, session) end
  if chance < 285 then return message(name) end
  if chance < 286 then return save(session) end
  return restore(session, name)
end
