import { createClient, createCluster } from '@redis/client'

const CONNECT_MS = 1_000

const socket = { connectTimeout: CONNECT_MS, reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000) }
/** More than are ever under way at once to a Redis that answers. */
const MAX_COMMANDS = 5_000
/**
 * Nothing is queued while Redis is away: whoever asks is told at once, and whoever cannot wait has a clock of his own. (The
 * client's is a timer for each command that stays for its five seconds, answered or not: thousands of them, on a busy day.)
 * What is asked of one that is frozen is queued up to a bound.
 */
const options = {
  disableOfflineQueue: true,
  commandsQueueMaxLength: MAX_COMMANDS,
  socket,
  commandOptions: { timeout: 0 },
}
/** Several addresses, with commas, are a cluster. */
const makeClient = (url: string) => createClient({ url, ...options })
const makeCluster = (urls: string[]) =>
  createCluster({
    rootNodes: urls.map((url) => ({ url })),
    defaults: options,
    commandOptions: options.commandOptions,
  })
export type Redis = ReturnType<typeof makeClient> | ReturnType<typeof makeCluster>
export const makeRedis = (url: string): Redis => (url.includes(',') ? makeCluster(url.split(',')) : makeClient(url))

/** Rejects when the answer takes too long: a call to a Redis that is frozen hangs. */
export async function withTimeout<T>(answer: Promise<T>, patienceMs: number): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new Error('Redis did not answer in time'))
  // When the process itself was held up, the answer may lie there unread: one more turn of the loop reads it.
  const timer = setTimeout(() => setImmediate(giveUp), patienceMs)
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
