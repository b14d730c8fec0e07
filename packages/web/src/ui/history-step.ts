import { navigate, useHistoryState } from 'wouter/use-browser-location'

/**
 * What is open over the page without a URL of its own, by name. It is in the state of its own entry in the browser history, so
 * that Back closes it and leaves the page as it is.
 */
type Steps = Partial<Record<string, unknown>>
const shownSteps = () => (history.state ?? {}) as Steps

export const isStepOpen = (name: string): boolean => name in shownSteps()
export const useHistoryStep = <T>(name: string) => useHistoryState<Steps | null>()?.[name] as T | undefined

/** Opens it, or changes what it shows. */
export const openStep = (name: string, value: object) =>
  navigate(location.href, { state: { ...shownSteps(), [name]: value }, replace: isStepOpen(name) })

let isClosing = false

/** Closes the last one that was opened, and then calls `act`. The browser goes back a moment later; until then, further calls do nothing. */
export function closeStep(act?: () => void) {
  if (isClosing) return
  isClosing = true
  const handleBack = () => {
    isClosing = false
    // Closing returns the focus; the action may move it after that.
    if (act) setTimeout(act)
  }
  addEventListener('popstate', handleBack, { once: true })
  history.back()
}
