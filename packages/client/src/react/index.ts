import { useEffect, useLayoutEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import type { Api } from '../live/api.ts'
import type { BoardListener } from '../live/index.ts'
import { type BoardOptions, type BoardState, sharedBoard } from './shared-board.ts'

export type { AboutEvent, BoardListener } from '../live/index.ts'
export type { BoardOptions, BoardState } from './shared-board.ts'

/**
 * A live board, open while a component that uses it is mounted, and the same for all components of the page. Renders
 * whenever anything of it is new; parts that did not change are the same objects, for `memo`.
 */
export function useBoard(client: Api, board_id: string, options?: BoardOptions): BoardState {
  // The board is opened when all components of a commit are there, with what one of them says.
  if (options) sharedBoard(client, board_id).options = options
  return useBoardSelector(client, board_id, everything)
}

/** A part of a live board. Renders only when the part is another one, or a list or an object of other parts. */
export function useBoardSelector<T>(client: Api, board_id: string, select: (board: BoardState) => T): T {
  const shared = useMemo(() => sharedBoard(client, board_id), [client, board_id])
  const last = useRef<{ state: BoardState; select: typeof select; part: T }>(undefined)
  const read = () => {
    const { state } = shared
    const { current } = last
    if (current?.state === state && current.select === select) return current.part
    const next = select(state)
    const part = current && isAlike(current.part, next) ? current.part : next
    last.current = { state, select, part }
    return part
  }
  return useSyncExternalStore(shared.subscribe, read, read)
}

/**
 * Calls `listener` for every event of a live board from now on, in order, each once, when the board shows it. It may be
 * another function each time: the latest is called. Keeps the board open as the other hooks do.
 */
export function useBoardEvents(client: Api, board_id: string, listener: BoardListener): void {
  const latest = useRef(listener)
  useLayoutEffect(() => {
    latest.current = listener
  })
  useEffect(
    () => sharedBoard(client, board_id).onEvent((event, about) => latest.current(event, about)),
    [client, board_id],
  )
}

const everything = (board: BoardState) => board

/** Equal, or a list or plain object of equal parts: a selector may well make a new one each time. */
function isAlike(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (!isPlain(one) || !isPlain(other)) return false
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => Object.is(one[key], other[key]))
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  Array.isArray(value) || (value instanceof Object && Object.getPrototypeOf(value) === Object.prototype)
