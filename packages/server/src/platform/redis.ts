import { createClient, createCluster } from '@redis/client'

const CONNECT_MS = 1_000

const socket = { connectTimeout: CONNECT_MS, reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000) }
/** Maximum number of commands without a reply. A Redis that responds never has this many. */
const MAX_COMMANDS = 5_000
/**
 * Commands fail at once while Redis is unreachable, and queue up to a limit while it does not respond. The timeout of the
 * client is off, because it keeps a timer for every command for its full five seconds; callers use `withTimeout`.
 */
const options = {
  disableOfflineQueue: true,
  commandsQueueMaxLength: MAX_COMMANDS,
  socket,
  commandOptions: { timeout: 0 },
}
const makeClient = (url: string) => createClient({ url, ...options })
const makeCluster = (urls: string[]) =>
  createCluster({
    rootNodes: urls.map((url) => ({ url })),
    defaults: options,
    commandOptions: options.commandOptions,
  })
export type Redis = ReturnType<typeof makeClient> | ReturnType<typeof makeCluster>
/** Several URLs, separated by commas, are a cluster. */
export const makeRedis = (url: string): Redis => (url.includes(',') ? makeCluster(url.split(',')) : makeClient(url))

/** Rejects when the reply takes too long. A command to a frozen Redis would never settle. */
export async function withTimeout<T>(reply: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const fail = () => reject(new Error('Redis did not reply in time'))
  // After a blocked event loop the reply may have arrived unread: one more iteration of the loop reads it.
  const timer = setTimeout(() => setImmediate(fail), timeoutMs)
  try {
    return await Promise.race([reply, timeout])
  } finally {
    clearTimeout(timer)
  }
}
