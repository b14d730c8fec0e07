import { createPortal } from 'react-dom'
import { useTopLayer } from './layers.ts'
import { Store, useStore } from './store.ts'

interface Spoken {
  text: string
  /** The same sentence twice is another one. */
  count: number
}
const spoken = new Store<Spoken>({ text: '', count: 0 })

/** Tells those who listen instead of looking. What others do is told by `announceOthers`. */
export const announce = (text: string) => spoken.update(({ count }) => ({ text, count: count + 1 }))

const QUIET_MS = 5_000
let waiting: string[] = []
let _timer: ReturnType<typeof setTimeout> | undefined

/** What others do: at most one sentence in five seconds, or nobody could follow. */
export function announceOthers(text: string) {
  waiting.push(text)
  _timer ??= setTimeout(() => {
    const [first = '', ...more] = waiting
    waiting = []
    _timer = undefined
    announce(
      more.length === 0
        ? first
        : `${first} And ${more.length === 1 ? 'one more change' : `${more.length} more changes`}.`,
    )
  }, QUIET_MS)
}

/** The one place from which the page speaks. Two lines in turn, so that a repeated sentence is read again. */
export function Announcer() {
  const { text, count } = useStore(spoken)
  const layer = useTopLayer()
  return createPortal(
    <div className="unseen" role="status" aria-live="polite" data-announcer="">
      {count % 2 === 0 && <p>{text}</p>}
      {count % 2 === 1 && <div>{text}</div>}
    </div>,
    layer,
  )
}
