import { createElement, memo, StrictMode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { type Card, type Client, createClient, type FullBoard } from '../../../client/src/index.ts'
import { localQueue } from '../../../client/src/live/index.ts'
import { type BoardState, useBoard, useBoardEvents, useBoardSelector } from '../../../client/src/react/index.ts'

export interface PageOptions {
  baseUrl: string
  token: string
  board_id: string | undefined
  isStrict?: boolean
  /** Renders nothing but an event listener. */
  isHeadless?: boolean
  /** Stores unsent changes for this user. */
  userId?: string
}
interface BoardProps {
  client: Client
  board_id: string | undefined
}

/** Number of renders per component. */
const renders: Record<string, number> = {}
const count = (name: string) => {
  renders[name] = (renders[name] ?? 0) + 1
}
const cardsOf = (view: FullBoard | undefined) => view?.columns.flatMap((column) => column.cards) ?? []

/** A card passed as a prop. */
const HandedCard = memo(function HandedCard({ card }: { card: Card }) {
  count(`handed ${card.title}`)
  return createElement('li', null, card.title)
})

/** A card read with a selector. */
const FoundCard = memo(function FoundCard({ client, board_id, card_id }: BoardProps & { card_id: string }) {
  const card = useBoardSelector(client, board_id, ({ view }) => cardsOf(view).find(({ id }) => id === card_id))
  count(`found ${card?.title}`)
  return createElement('li', null, card?.title)
})

/** A new list of ids on each render: rerenders only if the ids differ. */
const Found = memo(function Found({ client, board_id }: BoardProps) {
  const ids = useBoardSelector(client, board_id, ({ view }) => cardsOf(view).map(({ id }) => id))
  count('found')
  const cards = ids.map((card_id) => createElement(FoundCard, { key: card_id, client, board_id, card_id }))
  return createElement('ul', { id: 'found' }, cards)
})

/** The events that the listener received, and which render had created it. */
const deliveredEvents: [type: string, isOwn: boolean, render: number, title: unknown][] = []
const titleIn = (event: object) => ('data' in event ? (event.data as { title?: unknown }).title : undefined)
function Events({ client, board_id }: BoardProps) {
  count('events')
  const render = renders['events'] ?? 0
  useBoardEvents(
    client,
    board_id,
    (event, { isOwn }) => void deliveredEvents.push([event.type, isOwn, render, titleIn(event)]),
  )
  return useBoardSelector(client, board_id, ({ view }) => view?.title)
}

function Listener({ client, board_id }: BoardProps) {
  useBoardEvents(
    client,
    board_id,
    (event, { isOwn }) => void deliveredEvents.push([event.type, isOwn, 0, titleIn(event)]),
  )
  return null
}

let shown: BoardState | undefined
function Board({ client, board_id, userId }: BoardProps & Pick<PageOptions, 'userId'>) {
  const options = userId ? { storage: localQueue(localStorage), userId } : undefined
  const board = useBoard(client, board_id, options)
  count('board')
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

/** Tracks timers that have neither fired nor been cancelled. */
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

export function mount(options: PageOptions) {
  watchTimers()
  root = createRoot(page.document.querySelector('#root'))
  render(options)
}

/** Renders again, for example with another board. */
export function render({ baseUrl, token, board_id, isStrict, isHeadless, userId }: PageOptions) {
  client ??= createClient({ baseUrl, token })
  const board = isHeadless
    ? createElement(Listener, { client, board_id })
    : createElement(Board, { client, board_id, ...(userId && { userId }) })
  root?.render(isStrict ? createElement(StrictMode, null, board) : board)
}

export function unmount() {
  root?.unmount()
  client?.close()
}

/** Accessors for the tests. */
export const board = () => shown as BoardState
export const session = () => client as Client
export const events = () => [...deliveredEvents]
export const rendered = () => ({ ...renders })
export const openTimers = () => timers?.size ?? 0
