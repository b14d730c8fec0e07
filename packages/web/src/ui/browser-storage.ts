/** `localStorage` that never throws. It may be full or blocked; then nothing is stored. */
const PREFIX = 'lockstep/'

export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined
  } catch {
    return undefined
  }
}

export function writeStored(name: string, text: string | undefined) {
  try {
    if (text === undefined) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, text)
  } catch {
    // Callers keep the value in memory.
  }
}
