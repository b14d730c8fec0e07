import type { Config } from './config/read-config.ts'
import { describeDatabaseError, isDatabaseError } from './database/connection-failure.ts'
import { NotDurable } from './database/durability-check.ts'
import { SchemaMismatch } from './database/migrations/schema-compatibility.ts'
import { UnfitPooler } from './database/pooler-check.ts'

/** Why the service did not start and what to do, in a sentence; undefined for a defect of the service. */
export function describeStartFailure(error: unknown, config: Config): string | undefined {
  if ([SchemaMismatch, NotDurable, UnfitPooler].some((kind) => error instanceof kind)) return (error as Error).message
  return (
    describeListenError(error as NodeJS.ErrnoException, config) ??
    (isDatabaseError(error) ? describeDatabaseError(error, config.database.url) : undefined)
  )
}

interface ListenError extends NodeJS.ErrnoException {
  port?: number
  hostname?: string
}

function describeListenError({ code, syscall, port, hostname }: ListenError, { http, metrics }: Config) {
  const isListening = syscall === 'listen' || syscall === 'bind'
  const isLookup = syscall === 'getaddrinfo' && (hostname === http.host || hostname === metrics.host)
  if (!isListening && !isLookup) return undefined
  const isMetrics = isListening ? port === metrics.port && port !== http.port : hostname === metrics.host
  const [prefix, host] = isMetrics ? ['METRICS_', metrics.host] : ['', http.host]
  if (code === 'EADDRINUSE')
    return `Port ${port} of ${host} is in use. Stop the process that uses it, or set ${prefix}PORT to another one.`
  if (code === 'EACCES') return `This user may not listen on port ${port}. Set ${prefix}PORT to 1024 or more.`
  return `This machine has no address ${host} (${code}). Correct ${prefix}HOST.`
}
