import { beforeEach, describe, expect, test, vi } from 'vitest'
import { boardLetters, handleBoardKeys } from '../board/board-page-keys.ts'
import { cardLetters, handleCardKeys } from '../board/card-focus-keys.ts'
import type { BoardTools } from '../board-state/board-tools.ts'
import { currentBoard } from '../board-state/overlay.ts'
import { handleBoardListKeys, handleTileKeys } from '../boards/boards-keys.ts'
import { setLetterKeys } from '../preferences.ts'
import { handleAppKeys, handleKeySequence } from './app-keys.ts'
import { isLetterKey, type ScreenKeys, shortcuts } from './shortcut-table.ts'

/** A minimal DOM for the key handlers: one focused element, which is a card. */
class Element {
  readonly dataset = { cardId: 'card' }
  readonly isContentEditable = false
  isField = false
  matches = () => this.isField
  closest = () => this
  querySelector = () => this
  focus = () => {}
  click = () => {}
}
const element = new Element()
const tools = new Proxy({ board_id: 'board' } as unknown as BoardTools, {
  get: (target, name) => (name === 'find' ? () => undefined : (Reflect.get(target, name) ?? anyMember)),
})
const anyMember = Object.assign(() => [], { set: () => {}, get: () => ({}) })

const names: Record<string, string> = {
  '↑': 'ArrowUp',
  '↓': 'ArrowDown',
  '←': 'ArrowLeft',
  '→': 'ArrowRight',
  Space: ' ',
  Esc: 'Escape',
  Del: 'Delete',
}

/** A keydown event. */
function press(keys: string, timeStamp = 0) {
  const parts = keys.split(' ')
  const last = parts.at(-1) ?? ''
  const has = (name: string) => parts.slice(0, -1).includes(name)
  const key = names[last] ?? (last.length === 1 && !has('Shift') ? last.toLowerCase() : last)
  return {
    key,
    ctrlKey: has('Ctrl'),
    shiftKey: has('Shift'),
    metaKey: false,
    altKey: false,
    target: element,
    timeStamp,
    defaultPrevented: false,
    preventDefault() {
      this.defaultPrevented = true
    },
    stopPropagation() {},
  }
}

type KeyHandler = (event: KeyboardEvent) => void
/** The key handlers of each screen, in call order. Keys of dialogs are tested in the browser. */
const listeners: Partial<Record<ScreenKeys['screen'], KeyHandler[]>> = {
  everywhere: [handleKeySequence, handleAppKeys],
  boards: [handleBoardListKeys, (event) => handleTileKeys(event, [element as unknown as HTMLElement])],
  inbox: [(event) => handleTileKeys(event, [element as unknown as HTMLElement])],
  board: [handleKeySequence, (event) => handleBoardKeys(event, tools)],
  focusedCard: [(event) => handleCardKeys(event as unknown as Parameters<typeof handleCardKeys>[0], tools)],
}

/** Whether a handler handles the keys; of a sequence, the last key. */
function isHandled(screen: ScreenKeys['screen'], keys: string): boolean {
  const events = keys.split(' then ').map((each, i) => press(each, 1_000_000 + i))
  for (const event of events) for (const listen of listeners[screen] ?? []) listen(event as unknown as KeyboardEvent)
  return events.at(-1)?.defaultPrevented ?? false
}

beforeEach(() => {
  vi.stubGlobal('HTMLElement', Element)
  vi.stubGlobal('CSS', { escape: (text: string) => text })
  vi.stubGlobal('getSelection', () => undefined)
  vi.stubGlobal('location', { pathname: '/app/b/board', search: '?q=bug', origin: '' })
  vi.stubGlobal('history', { pushState: () => {}, replaceState: () => {} })
  vi.stubGlobal('document', {
    querySelector: () => element,
    querySelectorAll: (selector: string) => (selector === '.layer' ? [] : [element]),
    activeElement: element,
  })
  element.isField = false
  currentBoard.set(tools)
  setLetterKeys(true)
})

const rows = shortcuts
  .filter(({ screen }) => listeners[screen])
  .flatMap(({ screen, rows: all }) =>
    all.filter(({ isNative }) => !isNative).flatMap(({ keys }) => keys.map((each) => [screen, each] as const)),
  )

describe('[WEB-31] the table of shortcuts', () => {
  test.each(rows)('[WEB-31] %s: %s is handled', (screen, keys) => {
    expect(isHandled(screen, keys)).toBe(true)
  })

  test.each(rows.filter(([, keys]) => isLetterKey(keys)))(
    '[WEB-31] %s: %s does nothing in a field, or when single-key shortcuts are off',
    (screen, keys) => {
      element.isField = true
      expect(isHandled(screen, keys)).toBe(false)
      element.isField = false
      setLetterKeys(false)
      expect(isHandled(screen, keys)).toBe(false)
    },
  )

  test('[WEB-31] every single-key shortcut of the board is in the table', () => {
    const listed = (wanted: ScreenKeys['screen']) =>
      shortcuts.filter(({ screen }) => screen === wanted).flatMap(({ rows: all }) => all.flatMap(({ keys }) => keys))
    const shown = (key: string) => (key === ' ' ? 'Space' : key.replace(/.$/, (last) => last.toUpperCase()))
    expect(listed('board')).toEqual(expect.arrayContaining(Object.keys(boardLetters(tools)).map(shown)))
    expect(listed('focusedCard')).toEqual(
      expect.arrayContaining(
        Object.keys(cardLetters(tools, 'card')).map((key) => shown(key).replace('shift', 'Shift')),
      ),
    )
  })
})
