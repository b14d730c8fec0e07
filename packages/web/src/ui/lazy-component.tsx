import { type ComponentType, useEffect } from 'react'
import { Store, useStore } from './store.ts'

/**
 * A lazily loaded component. If its chunk is loaded already, it renders at once. React's `lazy` would always suspend first,
 * and throttle what follows by 300 ms.
 */
export function lazyComponent<P extends object>(load: () => Promise<ComponentType<P>>) {
  const loaded = new Store<ComponentType<P> | undefined>(undefined)
  let loading: Promise<void> | undefined
  const fetch = () => {
    loading ??= load().then(
      (component) => loaded.set(component),
      () => {
        // Offline: the next use loads it again.
        loading = undefined
      },
    )
    return loading
  }
  function Lazy(props: P) {
    const Loaded = useStore(loaded)
    useEffect(() => void fetch(), [])
    return Loaded ? <Loaded {...props} /> : null
  }
  return Object.assign(Lazy, { fetch })
}

/** Prefetching must not compete with the initial load. */
const IDLE_DELAY_MS = 4_000

/** Runs a callback when the browser is idle, after a delay. */
export function whenIdle(act: () => void, delayMs = IDLE_DELAY_MS) {
  const schedule = () => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(act)
    else act()
  }
  setTimeout(schedule, delayMs)
}
