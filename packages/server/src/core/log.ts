import pino from 'pino'

/** The service's log: one JSON object a line, to standard output or to a file. */
export function createLog(level: string, file?: string) {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } }
  return file === undefined ? pino(options) : pino(options, pino.destination({ dest: file, sync: true }))
}

/** What is said of an error. PostgreSQL's own `detail` can repeat a whole row, and stays out. */
function describeError(error: Error & { code?: string; constraint?: string; table?: string }) {
  const { name, message, code, constraint, table, stack } = error
  return { name, message, code, constraint, table, stack }
}
