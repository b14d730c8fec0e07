import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Loaded into the service with `node --import`, so that the product needs no hook: runs a garbage collection on
 * SIGCONT. Without it, uncollected garbage varies by more than an hour's leak.
 */
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGCONT', () => {
  collect()
  // The memory of buffers is freed only after the collection that found them.
  setImmediate(collect)
})
