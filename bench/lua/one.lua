-- One kind of request as fast as answers come: wrk -s one.lua URL -- KIND
dofile(os.getenv("BENCH_LUA") .. "/common.lua")

function init(args)
  kind = args[1]
end

function request()
  local session = "s" .. (next_number() % 50)
  if kind == "save" then return save(session) end
  if kind == "restore" then return restore(session, "") end
  if kind == "action" then return action(session) end
  return wrk.format("GET", kind)
end
