import { useSyncExternalStore } from 'react'

/** An observable value. Components subscribe to it with `useStore`. */
export class Store<T> {
  private value: T
  private readonly listeners = new Set<() => void>()

  constructor(value: T) {
    this.value = value
  }

  readonly get = (): T => this.value

  readonly set = (value: T) => {
    if (Object.is(value, this.value)) return
    this.value = value
    for (const listener of [...this.listeners]) listener()
  }

  readonly update = (change: (value: T) => T) => this.set(change(this.value))

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }
}

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get)

/** Subscribes to a part of a store. Renders only when that part changes. */
export const useStorePart = <T, P>(store: Store<T>, select: (value: T) => P): P =>
  useSyncExternalStore(store.subscribe, () => select(store.get()))
