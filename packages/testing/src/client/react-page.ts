import { createElement, memo, StrictMode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { type Card, type Client, createClient, type FullBoard } from '../../../client/src/index.ts'
import { localQueue } from '../../../client/src/live/index.ts'
import { type BoardState, useBoard, useBoardEvents, useBoardSelector } from '../../../client/src/react/index.ts'

export interface Given {
  base_url: string
  token: string
  board_id: string
  is_strict?: boolean
  /** Nothing is shown: there is only somebody who listens. */
  is_silent?: boolean
  /** Keeps unsent changes, for this user. */
  user_id?: string
}
interface Place {
  client: Client
  board_id: string
}

/** How often each component rendered. */
const renders: Record<string, number> = {}
const count = (name: string) => {
  renders[name] = (renders[name] ?? 0) + 1
}
const cardsOf = (view: FullBoard | undefined) => view?.columns.flatMap((column) => column.cards) ?? []

/** One card as it is handed down. */
const HandedCard = memo(function HandedCard({ card }: { card: Card }) {
  count(`handed ${card.title}`)
  return createElement('li', null, card.title)
})

/** One card that looks for itself. */
const FoundCard = memo(function FoundCard({ client, board_id, card_id }: Place & { card_id: string }) {
  const card = useBoardSelector(client, board_id, ({ view }) => cardsOf(view).find(({ id }) => id === card_id))
  count(`found ${card?.title}`)
  return createElement('li', null, card?.title)
})

/** The ids alone, made anew each time: only other ids make it render. */
const Found = memo(function Found({ client, board_id }: Place) {
  const ids = useBoardSelector(client, board_id, ({ view }) => cardsOf(view).map(({ id }) => id))
  count('found')
  const cards = ids.map((card_id) => createElement(FoundCard, { key: card_id, client, board_id, card_id }))
  return createElement('ul', { id: 'found' }, cards)
})

/** What the listener was told, and how often a component had rendered that made it. */
const told: [type: string, is_own: boolean, render: number][] = []
function Events({ client, board_id }: Place) {
  count('events')
  const render = renders['events'] ?? 0
  useBoardEvents(client, board_id, ({ type }, { is_own }) => void told.push([type, is_own, render]))
  return useBoardSelector(client, board_id, ({ view }) => view?.title)
}

function Listener({ client, board_id }: Place) {
  useBoardEvents(client, board_id, ({ type }, { is_own }) => void told.push([type, is_own, 0]))
  return null
}

let shown: BoardState | undefined
function Board({ client, board_id, user_id }: Place & Pick<Given, 'user_id'>) {
  const options = user_id ? { storage: localQueue(localStorage), user_id } : undefined
  const board = useBoard(client, board_id, options)
  shown = board
  const cards = cardsOf(board.view).map((card) => createElement(HandedCard, { key: card.id, card }))
  return createElement(
    'main',
    { 'data-phase': board.status.phase },
    createElement('h1', null, board.view?.title),
    createElement('ul', { id: 'handed' }, cards),
    createElement(Found, { client, board_id }),
    createElement(Events, { client, board_id }),
  )
}

/** The tests are compiled without the browser's types. */
const page = globalThis as unknown as { document: { querySelector(selector: string): Element } }
let root: Root | undefined
let client: Client | undefined
let timers: Set<unknown> | undefined

/** Timers that neither came nor were called off. */
function watchTimers() {
  if (timers) return
  const open = new Set<unknown>()
  timers = open
  const { setTimeout: start, clearTimeout: stop } = globalThis
  globalThis.setTimeout = ((work: () => void, ms?: number) => {
    const timer = start(() => {
      open.delete(timer)
      work()
    }, ms)
    open.add(timer)
    return timer
  }) as typeof setTimeout
  globalThis.clearTimeout = ((timer: never) => {
    open.delete(timer)
    stop(timer)
  }) as typeof clearTimeout
}

export function mount({ base_url, token, board_id, is_strict, is_silent, user_id }: Given) {
  watchTimers()
  client ??= createClient({ base_url, token })
  root = createRoot(page.document.querySelector('#root'))
  const board = is_silent
    ? createElement(Listener, { client, board_id })
    : createElement(Board, { client, board_id, ...(user_id && { user_id }) })
  root.render(is_strict ? createElement(StrictMode, null, board) : board)
}

export function unmount() {
  root?.unmount()
  client?.close()
}

/** The board of the page, to change it, and what was counted. */
export const board = () => shown as BoardState
export const session = () => client as Client
export const events = () => [...told]
export const rendered = () => ({ ...renders })
export const openTimers = () => timers?.size ?? 0
