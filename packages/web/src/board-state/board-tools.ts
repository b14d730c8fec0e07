import type { Card, Column, FullBoard, User } from '@lockstep/client'
import type { Day } from '@lockstep/client/days'
import type { SubmittedChange } from '@lockstep/client/live'
import type { BoardState } from '@lockstep/client/react'
import { createContext, useContext } from 'react'
import { flushSync } from 'react-dom'
import { announce } from '../ui/announcer.tsx'
import { copyText } from '../ui/clipboard.ts'
import { confirmAction } from '../ui/confirm.ts'
import { dayNames } from '../ui/days.ts'
import { openLayers } from '../ui/layers.ts'
import { personColor } from '../ui/person-color.ts'
import { serverLimits } from '../ui/server-limits.ts'
import { Store } from '../ui/store.ts'
import { showToast, type ToastAction } from '../ui/toasts.ts'
import { setBoardArchived } from './archive-board.ts'
import { type CardPlacement, type Direction, positionAt, stepPlacement } from './board-model.ts'
import { describeStep, findSubject } from './describe-change.ts'
import { MARK_MS, type Mark, type Marks } from './marks.ts'
import { t } from './messages.ts'
import { newCardPlace } from './new-card-place.ts'
import { openCardId } from './open-card.ts'
import type { ShownBoard } from './shown-board.ts'

/** The card that has the focus, or had it last. `count` grows with every request to focus it. */
export interface CardFocus {
  card_id: string | undefined
  count: number
  /** Whether the card has the browser's focus. If it is rendered again, it takes the focus again. */
  isHeld: boolean
}
/**
 * The dragged card or column and its drop position. For a card, `over.index` is the index among the other visible cards; for a
 * column it is 0 (before the column it is over) or 1 (after it).
 */
export interface DragState {
  kind: 'card' | 'column'
  id: string
  height: number
  /** The card at the start of the drag, and its column, where its element stays until the drop. */
  card: Card | undefined
  fromId: string | undefined
  over: { column_id: string; index: number } | undefined
}
/** Position of the composer: after a card, or at the top. */
export interface ComposerPosition {
  column_id: string
  after_id: string | null
}
/** A picker dialog that is open for a card. */
export interface OpenPicker {
  what: 'move' | 'labels' | 'assignees' | 'due'
  card_id: string
}

/**
 * The state and actions of an open board, for event handlers and effects; what a component renders it reads with `useShownBoard`. Every change goes through here, so that keys, menus
 * and drag and drop do the same and announce the same.
 */
export class BoardTools {
  readonly board_id: string
  readonly me: User
  readonly focus = new Store<CardFocus>({ card_id: undefined, count: 0, isHeld: false })
  readonly dragging = new Store<DragState | undefined>(undefined)
  /** Finds the drop position in a column at a height of the window, by column. */
  readonly dropIndexes = new Map<string, (clientY: number) => number>()
  readonly composing = new Store<ComposerPosition | undefined>(undefined)
  /** The card over which files are dragged. */
  readonly filesOver = new Store<string | undefined>(undefined)
  /** On a phone, the column that is shown. */
  readonly columnInSight = new Store<string | undefined>(undefined)
  readonly renaming = new Store<string | undefined>(undefined)
  /** Cards with unconfirmed changes. */
  readonly pending = new Store<ReadonlySet<string>>(new Set())
  /** Recent changes by others, and undone changes, by card. */
  readonly marks = new Store<Marks>(new Map())
  private readonly markTimers = new Map<string, ReturnType<typeof setTimeout>>()
  /** Cards that are shown although the filter hides them, until the filter changes. */
  readonly revealed = new Store<ReadonlySet<string>>(new Set())
  readonly picker = new Store<OpenPicker | undefined>(undefined)
  /** Whether the page shows that it is offline. */
  readonly isOffline = new Store(false)
  /** Navigates within the client. */
  readonly navigate: (path: string) => void
  private board: ShownBoard
  /** Whether the server keeps no trash, so that a deletion cannot be undone. */
  private isDeletionFinal = false
  /** Hides the toast that offers a redo. */
  private hideRedo: () => void = () => {}
  /** Hides the toast that offers an undo. */
  private hideUndo: () => void = () => {}

  constructor(board_id: string, me: User, board: ShownBoard, navigate: (path: string) => void) {
    this.board_id = board_id
    this.me = me
    this.board = board
    this.navigate = navigate
    void serverLimits().then((limits) => {
      this.isDeletionFinal = limits?.has_trash === false
    })
  }

  /** Called when the page shows it. */
  update(board: ShownBoard) {
    this.board = board
  }

  get view(): FullBoard {
    return this.board.view
  }
  private get state(): BoardState {
    return this.board.state
  }
  readonly change: BoardState['change'] = (name, input, options) => {
    // A new change clears the redo stack.
    this.hideRedo()
    return this.state.change(name, input, options)
  }
  get status(): BoardState['status'] {
    return this.board.status
  }
  /** Dismisses a failed change. */
  get dismiss(): BoardState['dismiss'] {
    return this.state.dismiss
  }
  get isReadOnly(): boolean {
    return this.board.isReadOnly
  }
  /** Whether something can be changed now. If not, it says why. */
  canChange(): boolean {
    if (this.isReadOnly) showToast(this.isOwner ? t.restoreToChange : t.boardIsArchived)
    return !this.isReadOnly
  }
  get isOwner(): boolean {
    return this.board.isOwner
  }
  member(user_id: string): User | undefined {
    return this.board.member(user_id)
  }
  shownIn(column: Column): readonly Card[] {
    return this.board.shownIn(column)
  }
  find(card_id: string | undefined) {
    return this.board.find(card_id)
  }

  focusCard(card_id: string | undefined) {
    if (card_id) this.focus.update(({ count }) => ({ card_id, count: count + 1, isHeld: true }))
  }
  /** Focuses the first visible card. */
  focusFirst() {
    this.focusCard(this.view.columns.flatMap((column) => this.shownIn(column))[0]?.id)
  }
  /** Focuses the column's add button, when the column has no card left. */
  focusColumn(column_id: string) {
    this.focus.update((focus) => ({ ...focus, isHeld: false }))
    document.querySelector<HTMLElement>(`[data-column-id="${column_id}"] .column-add, [data-new-column]`)?.focus()
  }
  /** Highlights a card for a moment. */
  mark(card_id: string, mark: Mark) {
    this.marks.update((marks) => new Map(marks).set(card_id, mark))
    clearTimeout(this.markTimers.get(card_id))
    const unmark = () => this.marks.update((marks) => new Map([...marks].filter(([id]) => id !== card_id)))
    this.markTimers.set(card_id, setTimeout(unmark, MARK_MS))
  }
  /** Shows a card that the filter hides, until the filter changes. Returns whether it was hidden. */
  reveal(card_id: string): boolean {
    const found = this.find(card_id)
    if (!found || this.shownIn(found.column).includes(found.card)) return false
    this.revealed.update((ids) => new Set(ids).add(card_id))
    return true
  }
  /** Called when the filter changes. */
  resetRevealed() {
    this.revealed.update((ids) => (ids.size > 0 ? new Set() : ids))
  }
  openCard(card_id: string) {
    this.navigate(`/b/${this.board_id}/c/${card_id}`)
  }
  close() {
    this.navigate(`/b/${this.board_id}`)
  }

  rename(card_id: string) {
    if (this.canChange()) this.renaming.set(card_id)
  }
  openPicker(what: OpenPicker['what'], card_id: string) {
    if (this.canChange()) this.picker.set({ what, card_id })
  }

  move(card_id: string, placement: CardPlacement) {
    if (!this.canChange()) return
    const found = this.find(card_id)
    const column = this.view.columns.find(({ id }) => id === placement.column_id)
    if (!found || !column) return
    const { title } = found.card
    const [from, to] = [found.column.title, column.title]
    const at = positionAt(column, this.shownIn(column), card_id, placement)
    this.change('moveCard', { card_id, ...placement })
    announce(found.column.id === column.id ? t.moved({ title, ...at }) : t.movedToColumn({ title, from, to, ...at }))
    this.focusCard(card_id)
  }

  moveColumn({ id, title }: Column, position: number) {
    if (!this.canChange()) return
    this.change('moveColumn', { column_id: id, position })
    announce(t.movedColumn({ title, position: position + 1, total: this.view.columns.length }))
  }

  step(card_id: string, direction: Direction) {
    if (!this.canChange()) return
    const placement = stepPlacement(this.view, this.board.shownIn, card_id, direction)
    if (placement) this.move(card_id, placement)
    else announce(t.cantMoveFurther)
  }

  /** Archives or deletes a card, and closes its dialog. Asks first if it could not be restored. */
  async remove(card_id: string, as: 'archived' | 'deleted') {
    const asked = this.find(card_id)
    if (!asked || !this.canChange()) return
    const isFinal = as === 'deleted' && this.isDeletionFinal
    if (isFinal && !(await confirmDeletion(asked.card.title, t.deleteForGoodText))) return
    // Another user may have moved or removed it meanwhile.
    const found = this.find(card_id)
    if (!found) return
    const { card, column } = found
    const shown = this.shownIn(column)
    const at = shown.findIndex(({ id }) => id === card_id)
    const next = shown[at + 1] ?? shown[at - 1]
    // In the same render as the change, because the dialog of a removed card offers to restore it.
    if (openCardId() === card_id) this.close()
    const made = this.change(as === 'archived' ? 'archiveCard' : 'deleteCard', { card_id })
    if (next) this.focusCard(next.id)
    else this.focusColumn(column.id)
    const { title } = card
    if (isFinal) showToast(t.deletedForGood({ title }))
    else this.showUndoToast((as === 'archived' ? t.archivedCard : t.deletedCard)({ title }), made)
  }

  /** Archives or deletes a column with its cards. Asks first if it could not be restored. */
  async removeColumn({ id, title, cards }: Column, as: 'archived' | 'deleted') {
    if (!this.canChange()) return
    const isFinal = as === 'deleted' && this.isDeletionFinal
    const text = cards.length > 0 ? t.deleteColumnForGoodText({ count: cards.length }) : t.deleteForGoodText
    if (isFinal && !(await confirmDeletion(title, text))) return
    const made = this.change(as === 'archived' ? 'archiveColumn' : 'deleteColumn', { column_id: id })
    if (isFinal) showToast(t.deletedForGood({ title }))
    else this.showUndoToast((as === 'archived' ? t.archivedColumn : t.deletedColumn)({ title }), made)
  }

  /** Archives the board, or restores it. For owners. */
  setArchived(isNowArchived: boolean) {
    this.leave()
    void setBoardArchived(this.view, isNowArchived)
  }

  /** Shows a toast that undoes exactly this change. */
  showUndoToast(text: string, made: SubmittedChange) {
    this.hideUndo = showToast(text, { label: t.undo, run: () => this.undo(() => made.undo()) })
  }

  /** Hides the undo and redo toasts, which work only while the board is open. */
  leave() {
    this.hideUndo()
    this.hideRedo()
  }

  /** Undoes the last change, or runs `act` to undo a certain one. */
  undo(act = () => this.state.undo()) {
    if (!this.canChange()) return
    this.showStep(true, act, () => ({ label: t.redo, run: () => this.redo() }))
  }

  redo() {
    if (!this.canChange()) return
    const act = () => this.state.redo()
    this.showStep(false, act, (made) => ({ label: t.undo, run: () => this.undo(() => made.undo()) }))
  }

  /** Undoes or redoes a change, shows a toast about it, and scrolls to the card. */
  private showStep(isUndo: boolean, act: () => SubmittedChange[], reverse: (made: SubmittedChange) => ToastAction) {
    this.hideRedo()
    const before = this.view
    // Render first: the card must exist before it can be scrolled to.
    const made = flushSync(act)
    const [first] = made
    if (!first) return void showToast(isUndo ? t.nothingToUndo : t.nothingToRedo)
    // The list of failed changes says why.
    if (this.state.failedChanges.some(({ key }) => made.some((each) => each.key === key))) return
    const { id } = first
    const now = findSubject(this.view, id)
    const about = (now ?? findSubject(before, id))?.name ?? t.theBoard
    const hide = showToast(describeStep(first.change, isUndo, about), reverse(first))
    if (isUndo) this.hideRedo = hide
    else this.hideUndo = hide
    for (const { done } of made) void done.then((settled) => 'failure' in settled && hide())
    if (now?.card) this.showCard(now.card.id, isUndo ? t.undone : t.redone)
    else scrollToColumn(id)
  }

  /** Scrolls to a card and highlights it. Focuses it unless something is open over the board. */
  private showCard(card_id: string, text: string) {
    this.reveal(card_id)
    const column_id = this.find(card_id)?.column.id ?? ''
    if (openLayers().length === 0) this.focusCard(card_id)
    scrollToColumn(column_id)
    this.mark(card_id, { color: personColor(this.me.id), text })
  }

  toggleMe(card_id: string) {
    const card = this.find(card_id)?.card
    if (!card || !this.canChange()) return
    const isOn = card.assignees.some(({ id }) => id === this.me.id)
    if (isOn) this.change('unassignCard', { card_id, user_id: this.me.id })
    else this.change('assignCard', { card_id, user_ids: [this.me.id] })
    announce((isOn ? t.unassignedYou : t.assignedYou)({ title: card.title }))
  }

  /** Sets the due date of a card; `null` removes it. */
  setDue(card_id: string, due_on: Day | null) {
    const card = this.find(card_id)?.card
    if (!card || (card.due_on ?? null) === due_on || !this.canChange()) return
    this.change('updateCard', { card_id, due_on })
    const { title } = card
    announce(due_on ? t.setDueDate({ title, day: dayNames.full(due_on) }) : t.removedDueDate({ title }))
  }

  copyNumber(number: string): Promise<void> {
    return copyText(number, t.numberCopied({ number }))
  }

  copyLink(card_id: string): Promise<void> {
    return copyText(`${location.origin}/app/b/${this.board_id}/c/${card_id}`, t.linkCopied)
  }

  compose(column_id: string, after_id: string | null) {
    if (this.canChange()) this.composing.set({ column_id, after_id })
  }

  /** Opens the composer at `newCardPlace`. Without columns, asks for one. */
  composeAnywhere() {
    if (!this.canChange()) return
    const place = newCardPlace(this.view, this.focus.get(), this.columnInSight.get())
    if (place) return this.compose(place.column.id, place.after_id)
    showToast(t.addColumnFirst)
    document.querySelector<HTMLElement>('[data-new-column]')?.click()
    document.querySelector<HTMLElement>('.column-new input')?.focus()
  }
}

const confirmDeletion = (title: string, text: string) =>
  confirmAction({ title: t.deleteForGoodTitle({ title }), text, action: t.deleteForGood })

const scrollToColumn = (column_id: string) =>
  document
    .querySelector(`[data-column-id="${CSS.escape(column_id)}"]`)
    ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

const Context = createContext<BoardTools | undefined>(undefined)
export const BoardToolsProvider = Context.Provider

export function useTools(): BoardTools {
  const tools = useContext(Context)
  if (!tools) throw new Error('useTools must be used on a board page')
  return tools
}

const ReadOnly = createContext(false)
export const ReadOnlyProvider = ReadOnly.Provider
/** Whether the board is archived. Renders also a memoized component again when this changes. */
export const useReadOnly = (): boolean => useContext(ReadOnly)
