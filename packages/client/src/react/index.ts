'use client'

import { useEffect, useLayoutEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import type { Api } from '../live/api.ts'
import type { BoardListener } from '../live/index.ts'
import { type BoardOptions, type BoardState, sharedBoard } from './shared-board.ts'

export type { BoardListener, EventOrigin } from '../live/index.ts'
export type { BoardOptions, BoardState } from './shared-board.ts'

/**
 * Returns a live board. It is open while a component that uses it is mounted, and shared by all components of the
 * page. Rerenders on every change, at most every 50 ms for changes of others; unchanged parts are the same objects, so
 * `memo` works. Without an id, for example while it is being loaded, nothing is opened: the board is connecting.
 */
export function useBoard(client: Api, boardId: string | undefined, options?: BoardOptions): BoardState {
  // Layout effects run before the board is opened, so it has the options that any component passed.
  useLayoutEffect(() => {
    if (options) sharedBoard(client, boardId).options = options
  })
  return useBoardSelector(client, boardId, wholeState)
}

/**
 * Returns a part of a live board. Rerenders only when the selected value, or an entry of a selected list or object,
 * changes.
 */
export function useBoardSelector<T>(client: Api, boardId: string | undefined, select: (board: BoardState) => T): T {
  const shared = useMemo(() => sharedBoard(client, boardId), [client, boardId])
  const last = useRef<{ state: BoardState; select: typeof select; part: T }>(undefined)
  const read = () => {
    const { state } = shared
    const { current } = last
    if (current?.state === state && current.select === select) return current.part
    const next = select(state)
    const part = current && isShallowEqual(current.part, next) ? current.part : next
    last.current = { state, select, part }
    return part
  }
  return useSyncExternalStore(shared.subscribe, read, read)
}

/**
 * Calls `listener` for every event from now on, once and in order, after the board shows it. The latest function
 * passed is the one called. Keeps the board open like the other hooks.
 */
export function useBoardEvents(client: Api, boardId: string | undefined, listener: BoardListener): void {
  const latest = useRef(listener)
  useLayoutEffect(() => {
    latest.current = listener
  })
  useEffect(
    () => sharedBoard(client, boardId).onEvent((event, origin) => latest.current(event, origin)),
    [client, boardId],
  )
}

const wholeState = (board: BoardState) => board

/** Shallow equality: selectors may create a new list or object each time. */
function isShallowEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (!isPlain(one) || !isPlain(other)) return false
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => Object.is(one[key], other[key]))
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  Array.isArray(value) || (value instanceof Object && Object.getPrototypeOf(value) === Object.prototype)
