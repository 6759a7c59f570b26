-- Bodies and helpers that the scripts share.
wrk.headers["Content-Type"] = "application/json"

local decisions = {}
for number = 0, 79 do
  decisions[#decisions + 1] = string.format('"decision %d: %s"', number, string.rep("x", 60))
end
local KEY_DECISIONS = table.concat(decisions, ",")

-- Each thread counts for itself; the start keeps their numbers apart.
local counter = 0
function setup(thread)
  counter = counter + 1
  thread:set("number", counter * 100000000)
end

function next_number()
  number = number + 1
  return number
end

function save(session)
  return wrk.format("POST", "/api/compact/save", nil, string.format(
    '{"session_id":"%s","trigger":"auto","context_summary":"Working on authentication",' ..
    '"key_decisions":[%s],"number":%d}', session, KEY_DECISIONS, next_number()))
end

function restore(session, agent)
  return wrk.format("POST", "/api/compact/restore", nil, string.format(
    '{"session_id":"%s","agent_id":"%s","agent_type":"developer"}', session, agent))
end

function action(session)
  return wrk.format("POST", "/api/actions", nil, string.format(
    '{"tool_name":"Write","session_id":"%s","exit_code":0,"file_paths":["/app/src/module_%d.php"]}',
    session, next_number()))
end

-- One line that bench/wrk.py reads: latencies are in microseconds.
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %.0f %.0f %.0f %d\n",
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
