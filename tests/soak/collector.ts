import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Loaded into a service with `node --import`, so that the product needs no hook for it: at every SIGCONT it collects
 * garbage. What is left then is what the service keeps; at any other moment half of the memory is what nobody came to
 * collect yet, and that goes up and down by more than a leak of an hour.
 */
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGCONT', () => {
  collect()
  // What buffers held is given back only after the collection that found them.
  setImmediate(collect)
})
