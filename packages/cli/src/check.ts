/** What the doctor found of one thing. */
export interface Check {
  name: string
  state: 'ok' | 'wrong' | 'skipped'
  detail: string
  /** How to mend it. */
  remedy?: string
}
export const ok = (name: string, detail: string): Check => ({ name, state: 'ok', detail })
export const wrong = (name: string, detail: string, remedy: string): Check => ({ name, state: 'wrong', detail, remedy })

/** A doctor wants to know how it is now, not after some tries. */
export const PATIENCE_MS = 5_000
export const once = { max_tries: 1, timeout_ms: PATIENCE_MS }
