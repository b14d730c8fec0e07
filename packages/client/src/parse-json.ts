/** Parses JSON; undefined if it is not valid. */
export function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}
