-- wrk script of the mixed load. Environment: REQUESTS (lines of weight, method, target and body, separated by tabs), HEADERS
-- (lines of "name: value"), ROWS, SEED.
local requests, total, headers = {}, 0, {}
for weight, method, target, body in os.getenv("REQUESTS"):gmatch("([^\t\n]+)\t([^\t\n]+)\t([^\t\n]+)\t([^\t\n]*)") do
  total = total + tonumber(weight)
  requests[#requests + 1] = {upTo = total, method = method, target = target, body = body ~= "" and body or nil}
end
for name, value in os.getenv("HEADERS"):gmatch("([^:\n]+): ([^\n]+)") do headers[name] = value end
local rows, random = tonumber(os.getenv("ROWS")), math.random

function init() math.randomseed(tonumber(os.getenv("SEED"))) end

function request()
  -- Each 50th row is deleted.
  local id = random(0, rows / 50 - 1) * 50 + random(1, 49)
  local values = {
    id = id, last = id + 1000, group = random(1, 200), page = random(1, 10), bay = random(1, 499),
    text = string.char(64 + random(1, 26)) .. random(100, 999), n = random(1, 999999),
  }
  local function fill(text) return (text:gsub("{(%a+)}", values)) end
  local drawn = random() * total
  for _, next in ipairs(requests) do
    if drawn < next.upTo then
      return wrk.format(next.method, fill(next.target), headers, next.body and fill(next.body))
    end
  end
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"us":%d,"p99":%f,"errors":%d}\n', summary.requests, summary.duration,
    latency:percentile(99) / 1000, e.connect + e.read + e.write + e.status + e.timeout))
end
