/** Whoever waits longer has gone. */
export const IN_TIME_MS = 1_000

const announced = [
  /^HTTP\/1\.1 503 /,
  /\r\nretry-after: [1-9]\d*(\r\n|$)/i,
  /\r\nx-request-id: [0-9a-f-]{36}(\r\n|$)/i,
  /\r\ncontent-type: application\/json/i,
]

/** A refusal as it must be: JSON with a sentence and a code, when to come back, and the id of the request. */
export function isRightRefusal(head: string, body: string): boolean {
  if (!announced.every((form) => form.test(head))) return false
  try {
    const { detail, code } = JSON.parse(body) as { detail?: unknown; code?: unknown }
    return typeof detail === 'string' && code === 'overloaded'
  } catch {
    return false
  }
}

/** Changes that were acknowledged under a number that their board's log does not have, or under the same as another. */
export function lostWrites(acknowledged: [board: number, seq: number][], log: Set<number>[]): string[] {
  const known = new Set<string>()
  return acknowledged.flatMap(([board, seq]) => {
    const name = `change ${seq} of board ${board}`
    if (known.has(name)) return [`${name} was acknowledged twice`]
    known.add(name)
    return log[board - 1]?.has(seq) ? [] : [`${name} was acknowledged and is not in the log`]
  })
}
