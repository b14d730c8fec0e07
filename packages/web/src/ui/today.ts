import { localDay, nextMidnight } from '@lockstep/client/days'
import { useEffect } from 'react'
import { Store } from './store.ts'

/** The current day in the time zone of the viewer. */
export const today = new Store(localDay(new Date()))

/** A timer for midnight would be late after the computer has slept, because timers stop meanwhile. */
const MAX_WAIT_MS = 60_000

/** Keeps `today` current: with a timer, and when the tab becomes visible, because browsers delay timers of hidden tabs. */
export function useCurrentDay() {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = () => {
      const now = new Date()
      today.set(localDay(now))
      clearTimeout(timer)
      timer = setTimeout(check, Math.min(nextMidnight(now).getTime() - now.getTime(), MAX_WAIT_MS))
    }
    check()
    document.addEventListener('visibilitychange', check)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', check)
    }
  }, [])
}
