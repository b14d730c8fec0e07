import { t } from './messages.ts'
import { Store, useStore } from './store.ts'

interface Announcement {
  text: string
  /** Grows with every announcement, so that a repeated sentence is a new one. */
  count: number
}
const announcement = new Store<Announcement>({ text: '', count: 0 })

/** Announces the user's own actions to screen readers. Changes by other users go through `announceOthers`. */
export const announce = (text: string) => announcement.update(({ count }) => ({ text, count: count + 1 }))

const THROTTLE_MS = 5_000
let waiting: string[] = []

/** Announces changes by other users, throttled to one sentence every five seconds. */
export function announceOthers(text: string) {
  // The first of them starts the timer.
  if (waiting.push(text) > 1) return
  setTimeout(() => {
    const [first = '', ...more] = waiting
    waiting = []
    announce(more.length === 0 ? first : t.moreChanges({ first, count: more.length }))
  }, THROTTLE_MS)
}

/** The page's only live region. It alternates between two elements, so that a repeated sentence is read again. */
export function Announcer() {
  const { text, count } = useStore(announcement)
  return (
    <div className="visually-hidden" role="status" aria-live="polite" data-announcer="">
      {count % 2 === 0 && <p>{text}</p>}
      {count % 2 === 1 && <div>{text}</div>}
    </div>
  )
}
