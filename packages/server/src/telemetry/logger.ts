import pino from 'pino'
import pretty from 'pino-pretty'

interface LogSettings {
  level: string
  /** `pretty` is for people at a terminal. */
  format?: 'json' | 'pretty'
  /** Instead of standard output. */
  file?: string
}

/** Creates the service's logger: one JSON object per line, to standard output or to a file. */
export function createLogger({ level, format = 'json', file }: LogSettings) {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } }
  if (format === 'pretty') return pino(options, readable())
  return file === undefined ? pino(options) : pino(options, pino.destination({ dest: file, sync: true }))
}

/** Readable lines: the time of day, the level, and requests in short form. */
const readable = () =>
  pretty({
    sync: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'request_id,method,route,status,duration_ms,address',
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
