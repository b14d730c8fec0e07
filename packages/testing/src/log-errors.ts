const ERROR_LEVELS = ['error', 'fatal']

/** The errors in the output of a service: log lines of that level, and lines that are not log lines at all. */
export function errorsIn(output: string): string[] {
  return output.split('\n').flatMap((line) => {
    if (line === '') return []
    if (!line.startsWith('{')) return [`the service printed: ${line.slice(0, 300)}`]
    const {
      level = '',
      msg = '',
      err,
    } = JSON.parse(line) as { level?: string; msg?: string; err?: { message: string; stack: string } }
    if (!ERROR_LEVELS.includes(level) && !/unhandled/i.test(line)) return []
    return [`the service logged: ${msg} ${err?.stack?.slice(0, 400) ?? ''}`]
  })
}
