import pino from 'pino'
import pretty from 'pino-pretty'

interface LogSettings {
  level: string
  /** `pretty` is for a person at a terminal. */
  format?: 'json' | 'pretty'
  /** Instead of standard output. */
  file?: string
}

/** The service's log: one JSON object a line, to standard output or to a file. */
export function createLogger({ level, format = 'json', file }: LogSettings) {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } }
  if (format === 'pretty') return pino(options, readable())
  return file === undefined ? pino(options) : pino(options, pino.destination({ dest: file, sync: true }))
}

/** Lines for reading: the time of day, how grave it is, and a request in a few words. What is lost is the id of the request. */
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

/** What is said of an error. PostgreSQL's own `detail` can repeat a whole row, and stays out. */
function describeError(error: Error & { code?: string; constraint?: string; table?: string }) {
  const { name, message, code, constraint, table, stack } = error
  return { name, message, code, constraint, table, stack }
}
