-- A hello at the pace of agents: wrk -s hello.lua URL -- PAUSE_MS
dofile(os.getenv("BENCH_LUA") .. "/common.lua")

function init(args)
  pause = tonumber(args[1])
  math.randomseed(number)
end

function delay()
  return math.floor(pause * 2 * math.random())
end

function request()
  return wrk.format("GET", "/hello")
end
