/** The result of one check. */
export interface Check {
  name: string
  /** `advice` is a choice that is right for some deployments, and no failure. */
  state: 'ok' | 'wrong' | 'advice' | 'skipped'
  detail: string
  /** How to fix it. */
  remedy?: string
}
export const ok = (name: string, detail: string): Check => ({ name, state: 'ok', detail })
export const wrong = (name: string, detail: string, remedy: string): Check => ({ name, state: 'wrong', detail, remedy })
export const advice = (name: string, detail: string, remedy: string): Check => ({
  name,
  state: 'advice',
  detail,
  remedy,
})

/** Checks report the current state, so they do not retry. */
export const TIMEOUT_MS = 5_000
export const noRetry = { maxTries: 1, timeoutMs: TIMEOUT_MS }
