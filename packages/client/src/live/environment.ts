import { randomId } from '../random-id.ts'
/** The part of a WebSocket that is used: a browser's, Node's, or a test's. */
export interface SocketLike {
  onmessage: ((message: { data: unknown }) => void) | null
  onclose: ((closing: { code: number }) => void) | null
  onerror: ((error: unknown) => void) | null
  send(text: string): void
  close(code?: number): void
}

/** Clock, randomness and network of a live board. Injected, so that tests can simulate them. */
export interface Environment {
  now(): number
  /** Sets a timer; returns a function that cancels it. */
  after(ms: number, work: () => void): () => void
  /** From 0 to 1. */
  random(): number
  newId(): string
  openSocket(url: string): SocketLike
  /** Calls `listener` when the page becomes visible, or when the network is back (`isOnline`). */
  onWake(listener: (isOnline: boolean) => void): () => void
}

interface EventTargetLike {
  addEventListener?(type: string, listener: () => void): void
  removeEventListener?(type: string, listener: () => void): void
  document?: EventTargetLike & { visibilityState: string }
  location?: { href: string }
}
const here = globalThis as unknown as EventTargetLike

/** The real environment: a browser, or Node. */
export const realEnvironment: Environment = {
  now: () => Date.now(),
  after: (ms, work) => {
    // Overdue timers fire immediately.
    const timer = setTimeout(work, Math.max(0, ms))
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  newId: randomId,
  openSocket: (url) => new WebSocket(new URL(url, here.location?.href).href.replace(/^http/, 'ws')) as SocketLike,
  onWake: (listener) => {
    const online = () => listener(true)
    const visible = () => here.document?.visibilityState !== 'hidden' && listener(false)
    const calls: [EventTargetLike | undefined, string, () => void][] = [
      [here, 'online', online],
      [here, 'pageshow', visible],
      [here, 'focus', visible],
      [here.document, 'visibilitychange', visible],
    ]
    for (const [target, type, call] of calls) target?.addEventListener?.(type, call)
    return () => {
      for (const [target, type, call] of calls) target?.removeEventListener?.(type, call)
    }
  },
}
