import { renameSync, writeFileSync } from 'node:fs'
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Event-loop probe, loaded into the service with `node --import`, so that the product needs no hook. On SIGWINCH it writes its
 * measurements to a file and resets them. (SIGUSR2 would end the service.) On SIGCONT it first runs a garbage collection.
 *
 * `wall` is the time between two ticks of a timer of one millisecond, including the time of other processes. `held` is the CPU
 * time of this thread between two ticks: how long the service blocked the loop.
 */
const file = process.env['PROBE_FILE'] ?? ''
const wall = monitorEventLoopDelay({ resolution: 1 })
wall.enable()
const held = createHistogram()
const used = () => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
let last = used()
setInterval(() => {
  const now = used()
  held.record(Math.max(1, now - last))
  last = now
}, 1).unref()
let nth = 0
let cpu = process.cpuUsage()

const round = (ms: number) => Math.round(ms * 100) / 100
function write() {
  const { user, system } = process.cpuUsage(cpu)
  cpu = process.cpuUsage()
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage()
  const seen = {
    nth: ++nth,
    wallP999: round(wall.percentile(99.9) / 1e6),
    wallMax: round(wall.max / 1e6),
    heldP50: round(held.percentile(50) / 1e3),
    heldP99: round(held.percentile(99) / 1e3),
    heldP999: round(held.percentile(99.9) / 1e3),
    heldMax: round(held.max / 1e3),
    samples: held.count,
    cpuMs: round((user + system) / 1e3),
    rss,
    heapUsed,
    external,
    arrayBuffers,
  }
  wall.reset()
  held.reset()
  writeFileSync(`${file}.part`, JSON.stringify(seen))
  renameSync(`${file}.part`, file)
}
process.on('SIGWINCH', write)
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGCONT', () => {
  collect()
  write()
})
