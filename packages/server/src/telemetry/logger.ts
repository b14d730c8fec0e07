import { createRequire } from 'node:module'
import pino from 'pino'
import type PinoPretty from 'pino-pretty'
import { VERSION } from '../platform/version.ts'

interface LogSettings {
  level: string
  /** `pretty` is for people at a terminal. */
  format?: 'json' | 'pretty'
  /** Host and port, which tell the instances of a service apart. */
  instance?: string
  /** Instead of standard output. */
  file?: string
}

/** Creates the service's logger: one JSON object per line, to standard output or to a file. */
export function createLogger({ level, format = 'json', instance, file }: LogSettings) {
  const options = {
    level,
    base: { service: 'lockstep', version: VERSION, instance },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
  }
  const pretty = format === 'pretty' ? loadPretty() : undefined
  if (pretty) return pino(options, readable(pretty))
  return file === undefined ? pino(options) : pino(options, pino.destination({ dest: file, sync: true }))
}

/** A development dependency: without it, as in production installations, the log is JSON. */
function loadPretty(): typeof PinoPretty | undefined {
  try {
    return createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** Readable lines: the time of day, the level, and requests in short form. */
const readable = (pretty: typeof PinoPretty) =>
  pretty({
    sync: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'service,version,instance,request_id,method,route,status,duration_ms,address,user_id,board_id',
    messageFormat: ({ msg, method, route, status, duration_ms }) =>
      msg === 'request'
        ? `${String(method)} ${typeof route === 'string' ? route : '(no route)'} ${String(status)} in ${String(duration_ms)} ms`
        : String(msg),
  })

/** The logged fields of an error. PostgreSQL's `detail` is left out, because it can repeat a whole row. */
function describeError(error: Error & { code?: string; constraint?: string; table?: string }) {
  const { name, message, code, constraint, table, stack } = error
  return { name, message, code, constraint, table, stack }
}
