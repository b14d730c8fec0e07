import { isIP } from 'node:net'
import { createClient, createCluster } from '@redis/client'
import { describeCertificateError } from './certificate-error.ts'
import { isLoopback } from './networks.ts'

const CONNECT_MS = 1_000

/** Maximum number of commands without a reply. A Redis that responds never has this many. */
const MAX_COMMANDS = 5_000
/**
 * Commands fail at once while Redis is unreachable, and queue up to a limit while it does not respond. The timeout of the
 * client is off, because it keeps a timer for every command for its full five seconds; callers use `withTimeout`.
 */
const commandOptions = { timeout: 0 }
/** A new object for each client, because the library writes the address into it. */
const options = () => ({
  disableOfflineQueue: true,
  commandsQueueMaxLength: MAX_COMMANDS,
  socket: {
    connectTimeout: CONNECT_MS,
    reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000),
    // Certificates are verified whatever the environment says.
    rejectUnauthorized: true,
  },
  commandOptions,
})

/** The host of a URL; an IPv6 address without its brackets. */
const hostOf = (url: string) => new URL(url).hostname.replace(/^\[(.+)\]$/, '$1')

function makeClient(url: string) {
  const { socket, ...others } = options()
  const host = hostOf(url)
  // For TLS servers with several certificates. Node.js does not send the name by itself.
  return createClient({ ...others, url, socket: { ...socket, ...(!isIP(host) && { servername: host }) } })
}

/** The nodes that the first reply names are reached in the same way as the first address: with its user, password and TLS. */
function makeCluster(urls: string[]) {
  const { username, password, protocol } = new URL(urls[0] ?? '')
  const { socket, ...others } = options()
  return createCluster({
    rootNodes: urls.map((url) => ({ url })),
    defaults: {
      ...others,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      socket: { ...socket, tls: protocol === 'rediss:' },
    },
    commandOptions,
  })
}
export type Redis = ReturnType<typeof makeClient> | ReturnType<typeof makeCluster>
/** Several URLs, separated by commas, are a cluster. */
export const makeRedis = (url: string): Redis => (url.includes(',') ? makeCluster(url.split(',')) : makeClient(url))

/** Whether nobody on a network can read or change what is sent. */
export const isPrivateRedis = (url: string) =>
  url.split(',').every((each) => each.startsWith('rediss:') || isLoopback(hostOf(each)))

/** Why Redis cannot be used, in a sentence; undefined if there is no remedy but to wait. It contains no password. */
export function describeRedisError(error: unknown, url: string): string | undefined {
  const hosts = url.split(',').map((each) => new URL(each).host)
  const name = `Redis at ${hosts.join(', ')}`
  if (/^(WRONGPASS|NOAUTH)/.test((error as Error).message))
    return `${name} rejects the user or the password of REDIS_URL.`
  return describeCertificateError(error, { name, setting: 'REDIS_URL', authorities: 'NODE_EXTRA_CA_CERTS' })
}

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
