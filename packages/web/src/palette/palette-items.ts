import type { Board } from '@lockstep/client'
import type { BoardTools } from '../board-state/board-tools.ts'
import { cardMenu } from '../board-state/card-menu.ts'
import { toggleFilter } from '../board-state/filter-address.ts'
import { openCardId, openShortcuts } from '../board-state/overlay.ts'
import { setTheme, type Theme } from '../preferences.ts'
import { logOut } from '../session.ts'
import type { IconName } from '../ui/icon.tsx'
import { type Match, rank } from './fuzzy.ts'

/** An action, a card or a board. */
export interface PaletteItem {
  id: string
  label: string
  icon: IconName
  run: () => void
  /** Context, such as the column of a card. */
  note?: string
  /** The shortcut for the same action. */
  keys?: string
  /** Other search words. */
  words?: string
}
export interface PaletteGroup {
  title: string
  items: { item: PaletteItem; match: Match }[]
}
interface Sources {
  tools: BoardTools | undefined
  boards: readonly Board[]
  card_id: string | undefined
  go: (path: string) => void
}

/** Maximum number of results per group. */
const MAX_RESULTS = 8

/** Groups of matching items, best group first. Without a query: all actions of this page. */
export function findItems(query: string, { tools, boards, card_id, go }: Sources): PaletteGroup[] {
  const card = tools?.find(card_id)?.card
  const groups: [title: string, items: PaletteItem[]][] = [
    ...(tools && card ? [[`“${card.title}”`, cardActions(tools, card.id)] as [string, PaletteItem[]]] : []),
    ...(tools ? [['This board', boardActions(tools)] as [string, PaletteItem[]]] : []),
    ['Everywhere', appActions(go)],
    ['Boards', boards.filter(({ id }) => id !== tools?.board_id).map((board) => boardItem(board, go))],
  ]
  if (!query.trim()) return groups.map(([title, items]) => group(title, query, items)).filter(isFilled)
  const cards = tools ? group('Cards', query, cardItems(tools), MAX_RESULTS) : undefined
  return [...(cards ? [cards] : []), ...groups.map(([title, items]) => group(title, query, items, MAX_RESULTS))]
    .filter(isFilled)
    .sort((a, b) => (b.items[0]?.match.score ?? 0) - (a.items[0]?.match.score ?? 0))
}

const isFilled = ({ items }: PaletteGroup) => items.length > 0

/** Only matches in the label are highlighted. */
function group(title: string, query: string, items: PaletteItem[], max = items.length): PaletteGroup {
  const byLabel = rank(query, items, ({ label }) => label)
  const others = items.filter((item) => byLabel.every((each) => each.item !== item))
  const byWords = rank(query, others, ({ label, words = '' }) => `${label} ${words}`)
  const found = byWords.map(({ item, match }) => ({ item, match: { score: match.score, ranges: [] } }))
  return { title, items: [...byLabel, ...found].slice(0, max) }
}

const cardItems = (tools: BoardTools): PaletteItem[] =>
  tools.view.columns.flatMap(({ title, cards }) =>
    cards.map((card) => ({
      id: `card-${card.id}`,
      label: card.title,
      icon: 'file' as const,
      note: title,
      words: card.id,
      run: () => tools.openCard(card.id),
    })),
  )

const boardItem = (board: Board, go: Sources['go']): PaletteItem => ({
  id: `board-${board.id}`,
  label: board.title,
  icon: 'list',
  note: 'Board',
  run: () => go(`/b/${board.id}`),
})

/** The items of the card's menu, except those that its open dialog shows already. */
const cardActions = (tools: BoardTools, card_id: string): PaletteItem[] => {
  const card = tools.find(card_id)?.card
  const inDialog = openCardId() === card_id ? ['Open', 'Edit title'] : []
  const items = (card ? cardMenu(tools, card) : []).filter((item) => item !== undefined)
  return items
    .filter(({ label }) => !inDialog.includes(label))
    .map(({ label, icon = 'file', keys, onSelect }) => ({
      id: `this-card-${label}`,
      label,
      icon,
      run: onSelect,
      words: 'card edit rename move labels assign delete',
      ...(keys && { keys }),
    }))
}

function boardActions(tools: BoardTools): PaletteItem[] {
  const open = (panel: string) => () => tools.navigate(`/b/${tools.board_id}/${panel}`)
  /** Closes open dialogs first. */
  const onBoard = (act: () => void) => () => {
    tools.picker.set(undefined)
    if (document.querySelector('dialog[open]')) tools.close()
    // The closing dialog returns the focus; the action may move it after that.
    setTimeout(act)
  }
  const click = (selector: string) => onBoard(() => document.querySelector<HTMLElement>(selector)?.click())
  const focus = (selector: string) => onBoard(() => document.querySelector<HTMLElement>(selector)?.focus())
  return [
    {
      id: 'new-card',
      label: 'New card',
      icon: 'plus',
      keys: 'N',
      words: 'add create',
      run: onBoard(() => tools.composeAnywhere()),
    },
    {
      id: 'add-column',
      label: 'Add column',
      icon: 'plus',
      keys: 'C',
      words: 'new create list',
      run: click('[data-new-column]'),
    },
    {
      id: 'filter',
      label: 'Filter cards',
      icon: 'search',
      keys: '/',
      words: 'find search',
      run: focus('.filter-field'),
    },
    {
      id: 'mine',
      label: 'My cards',
      icon: 'user',
      keys: 'F',
      words: 'mine only assigned to me',
      run: onBoard(() => toggleFilter('@me')),
    },
    { id: 'undo', label: 'Undo', icon: 'undo', keys: 'Ctrl Z', words: 'revert', run: () => tools.undo() },
    { id: 'redo', label: 'Redo', icon: 'undo', keys: 'Ctrl Shift Z', words: 'repeat', run: () => tools.redo() },
    { id: 'members', label: 'Members', icon: 'users', words: 'share invite people', run: open('members') },
    { id: 'automations', label: 'Automation', icon: 'bolt', words: 'rules', run: open('automations') },
    {
      id: 'activity',
      label: 'Activity',
      icon: 'clock',
      keys: 'G then A',
      words: 'history log changes',
      run: open('activity'),
    },
  ]
}

function appActions(go: Sources['go']): PaletteItem[] {
  const theme = (name: Theme, label: string): PaletteItem => ({
    id: `theme-${name}`,
    label: `Theme: ${label}`,
    icon: 'eye',
    words: 'appearance colours mode',
    run: () => setTheme(name),
  })
  return [
    {
      id: 'boards',
      label: 'Your boards',
      icon: 'list',
      keys: 'G then B',
      words: 'go to home all',
      run: () => go('/boards'),
    },
    {
      id: 'settings',
      label: 'Settings',
      icon: 'settings',
      words: 'profile password preferences',
      run: () => go('/settings'),
    },
    {
      id: 'shortcuts',
      label: 'Keyboard shortcuts',
      icon: 'keyboard',
      keys: '?',
      words: 'keys help',
      run: openShortcuts,
    },
    { id: 'accessibility', label: 'Accessibility', icon: 'eye', words: 'help wcag', run: () => go('/accessibility') },
    theme('light', 'light'),
    theme('dark', 'dark'),
    theme('system', 'system'),
    { id: 'log-out', label: 'Log out', icon: 'out', words: 'sign off leave', run: () => void logOut() },
  ]
}
