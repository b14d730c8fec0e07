import type { Card, Column, FullBoard, User } from '@lockstep/client'
import type { BoardState } from '@lockstep/client/react'
import { createContext, useContext } from 'react'
import { announce } from '../ui/announcer.tsx'
import { copyText } from '../ui/clipboard.ts'
import { Store } from '../ui/store.ts'
import { showToast } from '../ui/toasts.tsx'
import { type Direction, findCard, type Place, positionAt, stepPlace } from './board-model.ts'
import type { Marks } from './marks.ts'

/** The card that has the focus, or had it last. `count` grows when the focus is to go there now. */
export interface Focus {
  card_id: string | undefined
  count: number
  /** Whether the browser's focus is on it, as far as is known: a card that is drawn anew takes it again. */
  is_held: boolean
}
/** What is being dragged, and where it would land: the index among the other cards that are shown. */
export interface Dragging {
  kind: 'card' | 'column'
  id: string
  height: number
  /** The card as it was taken, and the lane it was taken from, where its element stays until it is dropped. */
  card: Card | undefined
  from_id: string | undefined
  over: { column_id: string; index: number } | undefined
}
/** Where a new card is being written: after a card, or at the top. */
export interface Composing {
  column_id: string
  after_id: string | null
}
/** What is open over the board, by keys and menus alike. */
export interface Asking {
  what: 'move' | 'labels' | 'assignees'
  card_id: string
}

/**
 * What all parts of a board page share: the board as it is, and everything that can be done on it. Whoever changes something
 * does it here, so that keys, menus and the pointer do the same and say the same.
 */
export class BoardTools {
  readonly board_id: string
  readonly me: User
  readonly focus = new Store<Focus>({ card_id: undefined, count: 0, is_held: false })
  readonly dragging = new Store<Dragging | undefined>(undefined)
  readonly composing = new Store<Composing | undefined>(undefined)
  readonly renaming = new Store<string | undefined>(undefined)
  /** The cards with changes that the server has not confirmed yet. */
  readonly pending = new Store<ReadonlySet<string>>(new Set())
  /** What others just did, by card. */
  readonly marks = new Store<Marks>(new Map())
  readonly asking = new Store<Asking | undefined>(undefined)
  /** Opens another address of this client. */
  readonly navigate: (path: string) => void
  private state: BoardState
  private shown: (column: Column) => readonly Card[] = ({ cards }) => cards

  constructor(board_id: string, me: User, state: BoardState, navigate: (path: string) => void) {
    this.board_id = board_id
    this.me = me
    this.state = state
    this.navigate = navigate
  }

  /** The page tells what it shows, each time. */
  take(state: BoardState, shown: (column: Column) => readonly Card[]) {
    this.state = state
    this.shown = shown
  }

  get view(): FullBoard {
    const { view } = this.state
    if (!view) throw new Error('The board is not there yet')
    return view
  }
  get change(): BoardState['change'] {
    return this.state.change
  }
  /** Who is connected to the board. */
  get presence(): BoardState['presence'] {
    return this.state.presence
  }
  get status(): BoardState['status'] {
    return this.state.status
  }
  /** The user has seen that a change did not come about. */
  get dismiss(): BoardState['dismiss'] {
    return this.state.dismiss
  }
  get is_owner(): boolean {
    return this.view.members.some(({ user_id, role }) => user_id === this.me.id && role === 'owner')
  }
  member(user_id: string): User | undefined {
    return this.state.view?.members.find((member) => member.user_id === user_id)?.user
  }
  shownIn(column: Column): readonly Card[] {
    return this.shown(column)
  }
  find(card_id: string | undefined) {
    return this.state.view && findCard(this.state.view, card_id)
  }

  focusCard(card_id: string | undefined) {
    if (card_id) this.focus.update(({ count }) => ({ card_id, count: count + 1, is_held: true }))
  }
  /** The first card that is shown. */
  focusFirst() {
    this.focusCard(this.view.columns.flatMap((column) => this.shown(column))[0]?.id)
  }
  /** Where the focus goes when a lane has no card left for it. */
  focusLane(column_id: string) {
    this.focus.update((focus) => ({ ...focus, is_held: false }))
    document.querySelector<HTMLElement>(`[data-column-id="${column_id}"] .lane-add, [data-new-lane]`)?.focus()
  }
  openCard(card_id: string) {
    this.navigate(`/b/${this.board_id}/c/${card_id}`)
  }
  close() {
    this.navigate(`/b/${this.board_id}`)
  }

  move(card_id: string, place: Place) {
    const found = this.find(card_id)
    const column = this.view.columns.find(({ id }) => id === place.column_id)
    if (!found || !column) return
    const position = positionAt(column, this.shown(column), card_id, place)
    const from = found.column.id === column.id ? '' : ` from ${found.column.title} to ${column.title}`
    this.change('moveCard', { card_id, ...place })
    announce(`“${found.card.title}” moved${from}, ${position}.`)
    this.focusCard(card_id)
  }

  step(card_id: string, direction: Direction) {
    const place = stepPlace(this.view, this.shown, card_id, direction)
    if (place) this.move(card_id, place)
    else announce('It is at the edge.')
  }

  /** Asks first only when taking it back would not bring everything back. Tells whether it is deleted. */
  remove(card_id: string): boolean {
    const found = this.find(card_id)
    if (!found) return false
    const { card, column } = found
    const files = card.attachments.length
    const question = `Delete “${card.title}”? Its ${files === 1 ? 'file' : `${files} files`} cannot be brought back.`
    if (files > 0 && !confirm(question)) return false
    const shown = this.shown(column)
    const at = shown.findIndex(({ id }) => id === card_id)
    const next = shown[at + 1] ?? shown[at - 1]
    this.change('deleteCard', { card_id })
    if (next) this.focusCard(next.id)
    else this.focusLane(column.id)
    showToast(`“${card.title}” deleted`, { label: 'Undo', keys: 'Ctrl Z', run: () => this.undo() })
    return true
  }

  undo() {
    if (this.state.undo().length > 0) announce('Taken back.')
    else announce('There is nothing to take back.')
  }

  redo() {
    announce(this.state.redo().length > 0 ? 'Done again.' : 'There is nothing to do again.')
  }

  toggleMe(card_id: string) {
    const card = this.find(card_id)?.card
    if (!card) return
    const isOn = card.assignees.some(({ id }) => id === this.me.id)
    if (isOn) this.change('unassignCard', { card_id, user_id: this.me.id })
    else this.change('assignCard', { card_id, user_ids: [this.me.id] })
    announce(isOn ? `You are no longer on “${card.title}”.` : `You are on “${card.title}”.`)
  }

  copyLink(card_id: string): Promise<void> {
    return copyText(`${location.origin}/app/b/${this.board_id}/c/${card_id}`, 'The link is copied.')
  }

  compose(column_id: string, after_id: string | null) {
    this.composing.set({ column_id, after_id })
  }

  /** Behind the card that had the focus last; else at the end of the first lane. */
  composeAnywhere() {
    const found = this.find(this.focus.get().card_id)
    const column = found?.column ?? this.view.columns[0]
    if (column) this.compose(column.id, found?.card.id ?? column.cards.at(-1)?.id ?? null)
  }
}

const Context = createContext<BoardTools | undefined>(undefined)
export const BoardToolsProvider = Context.Provider

export function useTools(): BoardTools {
  const tools = useContext(Context)
  if (!tools) throw new Error('This belongs on a board page')
  return tools
}
