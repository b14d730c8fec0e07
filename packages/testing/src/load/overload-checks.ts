/** A slower response counts as late: the client has given up. */
export const IN_TIME_MS = 1_000

const requiredHeaders = [
  /^HTTP\/1\.1 503 /,
  /\r\nretry-after: [1-9]\d*(\r\n|$)/i,
  /\r\nx-request-id: [0-9a-f-]{36}(\r\n|$)/i,
  /\r\ncontent-type: application\/json/i,
]

/** Whether a response is a complete rejection: 503 with a JSON problem, `Retry-After` and the request id. */
export function isValidRejection(head: string, body: string): boolean {
  if (!requiredHeaders.every((header) => header.test(head))) return false
  try {
    const { detail, code } = JSON.parse(body) as { detail?: unknown; code?: unknown }
    return typeof detail === 'string' && code === 'overloaded'
  } catch {
    return false
  }
}

/** Acknowledged writes whose event number is missing in the log of their board, or was acknowledged twice. */
export function lostWrites(acknowledged: [board: number, seq: number][], log: Set<number>[]): string[] {
  const known = new Set<string>()
  return acknowledged.flatMap(([board, seq]) => {
    const name = `change ${seq} of board ${board}`
    if (known.has(name)) return [`${name} was acknowledged twice`]
    known.add(name)
    return log[board - 1]?.has(seq) ? [] : [`${name} was acknowledged and is not in the log`]
  })
}
