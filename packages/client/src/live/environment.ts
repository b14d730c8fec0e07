/** As much of a WebSocket as is used: the browser's, Node's, or a test's. */
export interface SocketLike {
  onmessage: ((message: { data: unknown }) => void) | null
  onclose: ((closing: { code: number }) => void) | null
  onerror: ((error: unknown) => void) | null
  send(text: string): void
  close(code?: number): void
}

/** Everything of the world that a live board touches, handed in so that a test can be the world. */
export interface Environment {
  now(): number
  /** Does something later, unless it is called off. */
  after(ms: number, work: () => void): () => void
  /** From 0 to 1. */
  random(): number
  newId(): string
  openSocket(url: string): SocketLike
  /** Tells when the page is looked at again, or the network is back (`is_online`). */
  onWake(listener: (is_online: boolean) => void): () => void
}

interface Listens {
  addEventListener?(type: string, listener: () => void): void
  removeEventListener?(type: string, listener: () => void): void
  document?: Listens & { visibilityState: string }
  location?: { href: string }
}
const here = globalThis as unknown as Listens

/** The world as it is: a browser, or Node. */
export const realEnvironment: Environment = {
  now: () => Date.now(),
  after: (ms, work) => {
    // What is overdue comes at once.
    const timer = setTimeout(work, Math.max(0, ms))
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  newId,
  openSocket: (url) => new WebSocket(new URL(url, here.location?.href).href.replace(/^http/, 'ws')) as SocketLike,
  onWake: (listener) => {
    const online = () => listener(true)
    const seen = () => here.document?.visibilityState !== 'hidden' && listener(false)
    const calls: [Listens | undefined, string, () => void][] = [
      [here, 'online', online],
      [here, 'pageshow', seen],
      [here, 'focus', seen],
      [here.document, 'visibilitychange', seen],
    ]
    for (const [target, type, call] of calls) target?.addEventListener?.(type, call)
    return () => {
      for (const [target, type, call] of calls) target?.removeEventListener?.(type, call)
    }
  },
}

/** A random UUID, also on pages without TLS, where `crypto.randomUUID` is missing. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte, i) =>
    (i === 6 ? (byte & 0x0f) | 0x40 : i === 8 ? (byte & 0x3f) | 0x80 : byte).toString(16).padStart(2, '0'),
  ).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
