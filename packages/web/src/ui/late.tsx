import { type ComponentType, useEffect } from 'react'
import { Store, useStore } from './store.ts'

/**
 * A component in a chunk of its own that is drawn at once when the chunk is there. React's `lazy` would draw nothing at first
 * in any case, and hold back what follows for 300 milliseconds.
 */
export function late<P extends object>(load: () => Promise<ComponentType<P>>) {
  const loaded = new Store<ComponentType<P> | undefined>(undefined)
  let loading: Promise<void> | undefined
  const fetch = () => {
    loading ??= load().then(
      (part) => loaded.set(part),
      () => {
        // Without a network: the next time somebody wants it.
        loading = undefined
      },
    )
    return loading
  }
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each chunk, never while something is drawn
  function Late(props: P) {
    const Part = useStore(loaded)
    useEffect(() => void fetch(), [])
    return Part ? <Part {...props} /> : null
  }
  return Object.assign(Late, { fetch })
}

/** What is fetched ahead must not be in the way of what is needed now. */
const LATER_MS = 4_000

/** A while after the page was loaded, when there is nothing else to do. */
export function whenIdle(act: () => void) {
  const later = () => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(act)
    else act()
  }
  setTimeout(later, LATER_MS)
}
