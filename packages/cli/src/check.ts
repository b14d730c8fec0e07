/** The result of one check. */
export interface Check {
  name: string
  state: 'ok' | 'wrong' | 'skipped'
  detail: string
  /** How to fix it. */
  remedy?: string
}
export const ok = (name: string, detail: string): Check => ({ name, state: 'ok', detail })
export const wrong = (name: string, detail: string, remedy: string): Check => ({ name, state: 'wrong', detail, remedy })

/** Checks report the current state, so they do not retry. */
export const TIMEOUT_MS = 5_000
export const noRetry = { maxTries: 1, timeoutMs: TIMEOUT_MS }
