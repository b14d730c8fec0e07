import { beforeEach, describe, expect, test, vi } from 'vitest'
import { cardLetters, steerBoard } from '../board/board-keys.ts'
import type { BoardTools } from '../board/board-tools.ts'
import { boardLetters, steerBoardPage } from '../board/global-keys.ts'
import { steerBoards, steerTiles } from '../boards/boards-keys.ts'
import { currentBoard, overlay } from '../palette/overlay.ts'
import { setLetterKeys } from '../settings/preferences.ts'
import { steerApp, steerSequence } from './app-keys.ts'
import { isLetterKey, type ScreenKeys, shortcuts } from './shortcut-table.ts'

/** As much of a page as the keys look at: one element with the focus, which is a card. */
class Element {
  readonly dataset = { cardId: 'card' }
  readonly isContentEditable = false
  is_field = false
  matches = () => this.is_field
  closest = () => this
  querySelector = () => this
  focus = () => {}
  click = () => {}
}
const element = new Element()
const tools = new Proxy({ board_id: 'board' } as unknown as BoardTools, {
  get: (target, name) => (name === 'find' ? () => undefined : (Reflect.get(target, name) ?? answer)),
})
const answer = Object.assign(() => [], { set: () => {}, get: () => ({}) })

const names: Record<string, string> = {
  '↑': 'ArrowUp',
  '↓': 'ArrowDown',
  '←': 'ArrowLeft',
  '→': 'ArrowRight',
  Space: ' ',
  Esc: 'Escape',
  Del: 'Delete',
}

/** A key as the browser would tell it. */
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

type Steer = (event: KeyboardEvent) => void
/** Who listens on a screen, in the order in which a key reaches them; dialogs are pressed in the browser. */
const listeners: Partial<Record<ScreenKeys['screen'], Steer[]>> = {
  everywhere: [steerSequence, steerApp],
  boards: [steerBoards, (event) => steerTiles(event, [element as unknown as HTMLElement])],
  board: [steerSequence, (event) => steerBoardPage(event, tools)],
  focused_card: [(event) => steerBoard(event as unknown as Parameters<typeof steerBoard>[0], tools)],
}

/** Whether one of the listeners takes the keys, the last of them if there are several. */
function isTaken(screen: ScreenKeys['screen'], keys: string): boolean {
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
    querySelector: (selector: string) => (selector.startsWith('dialog') ? null : element),
    querySelectorAll: () => [element],
    activeElement: element,
  })
  element.is_field = false
  overlay.set(undefined)
  currentBoard.set(tools)
  setLetterKeys(true)
})

const rows = shortcuts
  .filter(({ screen }) => listeners[screen])
  .flatMap(({ screen, rows: all }) =>
    all.filter(({ is_native }) => !is_native).flatMap(({ keys }) => keys.map((each) => [screen, each] as const)),
  )

describe('[WEB-31] the table of shortcuts', () => {
  test.each(rows)('[WEB-31] %s: %s is taken', (screen, keys) => {
    expect(isTaken(screen, keys)).toBe(true)
  })

  test.each(rows.filter(([, keys]) => isLetterKey(keys)))(
    '[WEB-31] %s: %s does nothing when keys of a single letter are switched off, and is a letter in a field',
    (screen, keys) => {
      element.is_field = true
      expect(isTaken(screen, keys)).toBe(false)
      element.is_field = false
      setLetterKeys(false)
      expect(isTaken(screen, keys)).toBe(false)
    },
  )

  test('[WEB-31] every letter that the board takes is in the table', () => {
    const listed = (wanted: ScreenKeys['screen']) =>
      shortcuts.filter(({ screen }) => screen === wanted).flatMap(({ rows: all }) => all.flatMap(({ keys }) => keys))
    const shown = (key: string) => (key === ' ' ? 'Space' : key.replace(/.$/, (last) => last.toUpperCase()))
    expect(listed('board')).toEqual(expect.arrayContaining(Object.keys(boardLetters(tools)).map(shown)))
    expect(listed('focused_card')).toEqual(
      expect.arrayContaining(
        Object.keys(cardLetters(tools, 'card')).map((key) => shown(key).replace('shift', 'Shift')),
      ),
    )
  })
})
