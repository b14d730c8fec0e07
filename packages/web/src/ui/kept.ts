/** The browser's storage, where what cannot be kept is simply not kept: it may be full, or forbidden. */
const PREFIX = 'lockstep/'

export function readKept(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined
  } catch {
    return undefined
  }
}

export function keep(name: string, text: string | undefined) {
  try {
    if (text === undefined) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, text)
  } catch {
    // It lives on in memory.
  }
}
