import type { Card, Column, FullBoard, User } from '@lockstep/client'
import type { SubmittedChange } from '@lockstep/client/live'
import type { BoardState } from '@lockstep/client/react'
import { createContext, useContext } from 'react'
import { flushSync } from 'react-dom'
import { announce } from '../ui/announcer.tsx'
import { copyText } from '../ui/clipboard.ts'
import { Store } from '../ui/store.ts'
import { type Action, showToast } from '../ui/toasts.tsx'
import { type Direction, findCard, type Place, positionAt, stepPlace } from './board-model.ts'
import { lookUp, stepWords, subjectId } from './change-words.ts'
import { type Mark, type Marks, SHOWN_MS } from './marks.ts'

/** The card that has the focus, or had it last. `count` grows when the focus is to go there now. */
export interface Focus {
  card_id: string | undefined
  count: number
  /** Whether the browser's focus is on it, as far as is known: a card that is drawn anew takes it again. */
  is_held: boolean
}
/**
 * What is being dragged, and where it would land. Of a card, `over.index` is the index among the other cards that are shown;
 * a column lands before the column it is over (0) or behind it (1).
 */
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
  /** What others just did, or what was undone, by card. */
  readonly marks = new Store<Marks>(new Map())
  private readonly mark_timers = new Map<string, ReturnType<typeof setTimeout>>()
  /** Cards that are shown although the filter hides them, until it changes. */
  readonly revealed = new Store<ReadonlySet<string>>(new Set())
  readonly asking = new Store<Asking | undefined>(undefined)
  /** Opens another address of this client. */
  readonly navigate: (path: string) => void
  private state: BoardState
  /** Hides the message that offers to redo something. */
  private hideRedo: () => void = () => {}
  /** Hides the message that offers to undo something. */
  private hideUndo: () => void = () => {}
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
  readonly change: BoardState['change'] = (name, input, options) => {
    // A new change leaves nothing to redo.
    this.hideRedo()
    return this.state.change(name, input, options)
  }
  /** Who is connected to the board. Without a network nobody knows. */
  get presence(): BoardState['presence'] {
    return navigator.onLine ? this.state.presence : []
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
  /** Marks a card for a moment. */
  mark(card_id: string, mark: Mark) {
    this.marks.update((marks) => new Map(marks).set(card_id, mark))
    clearTimeout(this.mark_timers.get(card_id))
    const unmark = () => this.marks.update((marks) => new Map([...marks].filter(([id]) => id !== card_id)))
    this.mark_timers.set(card_id, setTimeout(unmark, SHOWN_MS))
  }
  /** Shows a card that the filter hides, until the filter changes. Tells whether it was hidden. */
  reveal(card_id: string): boolean {
    const found = this.find(card_id)
    if (!found || this.shown(found.column).includes(found.card)) return false
    this.revealed.update((ids) => new Set(ids).add(card_id))
    return true
  }
  /** The filter has changed: it decides alone again. */
  hideAgain() {
    this.revealed.update((ids) => (ids.size > 0 ? new Set() : ids))
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

  moveColumn({ id, title }: Column, position: number) {
    this.change('moveColumn', { column_id: id, position })
    announce(`Column “${title}” moved, position ${position + 1} of ${this.view.columns.length}.`)
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
    const made = this.change('deleteCard', { card_id })
    if (next) this.focusCard(next.id)
    else this.focusLane(column.id)
    this.offerUndo(`Deleted “${card.title}”`, made)
    return true
  }

  /** Says what was changed, and offers to undo exactly that. */
  offerUndo(text: string, made: SubmittedChange) {
    this.hideUndo = showToast(text, { label: 'Undo', run: () => this.undo(() => made.undo()) })
  }

  /** Hides what offers to undo or redo something: it works only while the board is open. */
  leave() {
    this.hideUndo()
    this.hideRedo()
  }

  /** Undoes the last change, or what `act` undoes. */
  undo(act = () => this.state.undo()) {
    this.showStep('Undid', act, () => ({ label: 'Redo', run: () => this.redo() }))
  }

  redo() {
    const act = () => this.state.redo()
    this.showStep('Redid', act, (made) => ({ label: 'Undo', run: () => this.undo(() => made.undo()) }))
  }

  /** Undoes or redoes something, says what it was, and shows the card. */
  private showStep(word: 'Undid' | 'Redid', act: () => SubmittedChange[], wayBack: (made: SubmittedChange) => Action) {
    this.hideRedo()
    const before = this.view
    // The page must show it before the card can be looked up and scrolled to.
    const made = flushSync(act)
    const [first] = made
    if (!first) return void showToast(word === 'Undid' ? 'Nothing to undo' : 'Nothing to redo')
    // The notice says why it could not be made.
    if (this.state.failedChanges.some(({ key }) => made.some((each) => each.key === key))) return
    const id = subjectId(first)
    const now = lookUp(this.view, id)
    const about = (now ?? lookUp(before, id))?.words ?? 'the board'
    const hide = showToast(`${word}: ${stepWords(first.change, word === 'Undid', about)}`, wayBack(first))
    if (word === 'Undid') this.hideRedo = hide
    else this.hideUndo = hide
    for (const { done } of made) void done.then((settled) => 'notice' in settled && hide())
    if (now?.card) this.showCard(now.card.id, word === 'Undid' ? 'Undone' : 'Redone')
    else scrollToLane(id)
  }

  /** Scrolls to a card and marks it. The focus follows, unless it is in a dialog. */
  private showCard(card_id: string, text: string) {
    this.reveal(card_id)
    const column_id = this.find(card_id)?.column.id ?? ''
    if (!document.querySelector('dialog[open]')) this.focusCard(card_id)
    scrollToLane(column_id)
    this.mark(card_id, { color: 'var(--accent)', text })
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

  /** Behind the card that had the focus last; else at the end of the first lane. Without a lane, one is asked for. */
  composeAnywhere() {
    const found = this.find(this.focus.get().card_id)
    const column = found?.column ?? this.view.columns[0]
    if (column) return this.compose(column.id, found?.card.id ?? column.cards.at(-1)?.id ?? null)
    showToast('Add a column first. Cards go into columns.')
    document.querySelector<HTMLElement>('[data-new-lane]')?.click()
    document.querySelector<HTMLElement>('.lane-new input')?.focus()
  }
}

const scrollToLane = (column_id: string) =>
  document
    .querySelector(`[data-column-id="${CSS.escape(column_id)}"]`)
    ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

const Context = createContext<BoardTools | undefined>(undefined)
export const BoardToolsProvider = Context.Provider

export function useTools(): BoardTools {
  const tools = useContext(Context)
  if (!tools) throw new Error('This belongs on a board page')
  return tools
}
