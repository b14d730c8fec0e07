import { numberOf } from '../board-state/board-model.ts'
import type { BoardTools } from '../board-state/board-tools.ts'
import { cardMenu } from '../board-state/card-menu.ts'
import { toggleFilter } from '../board-state/filter-address.ts'
import type { ShownBoard } from '../board-state/offline-boards.ts'
import { openCardId } from '../board-state/open-card.ts'
import { openShortcuts } from '../board-state/overlay.ts'
import { setTheme, type Theme } from '../preferences.ts'
import { logOut } from '../session.ts'
import type { IconName } from '../ui/icon.tsx'
import { openLayers } from '../ui/layers.ts'
import { type Match, rank } from './fuzzy.ts'
import { t } from './messages.ts'

/** An action, a card or a board. */
export interface PaletteItem {
  id: string
  label: string
  icon: IconName
  run: () => void
  /** Context, such as the column of a card. */
  note?: string
  /** The number of a card, such as `#12`. */
  number?: string | undefined
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
  boards: readonly ShownBoard[]
  card_id: string | undefined
  go: (path: string) => void
}

/** Maximum number of results per group. */
const MAX_RESULTS = 8

/** Groups of matching items, best group first. Without a query: all actions of this page. */
export function findItems(query: string, { tools, boards, card_id, go }: Sources): PaletteGroup[] {
  const card = tools?.find(card_id)?.card
  const groups: [title: string, items: PaletteItem[]][] = [
    ...(tools && card
      ? [[t.thisCard({ title: card.title }), cardActions(tools, card.id)] as [string, PaletteItem[]]]
      : []),
    ...(tools ? [[t.thisBoard, boardActions(tools)] as [string, PaletteItem[]]] : []),
    [t.everywhere, appActions(go)],
    [t.boards, boards.filter(({ id }) => id !== tools?.board_id).map((board) => boardItem(board, go))],
  ]
  if (!query.trim()) return groups.map(([title, items]) => group(title, query, items)).filter(isFilled)
  const cards = tools ? group(t.cards, query, cardItems(tools), MAX_RESULTS) : undefined
  return [...(cards ? [cards] : []), ...groups.map(([title, items]) => group(title, query, items, MAX_RESULTS))]
    .filter(isFilled)
    .sort((a, b) => (b.items[0]?.match.score ?? 0) - (a.items[0]?.match.score ?? 0))
}

const isFilled = ({ items }: PaletteGroup) => items.length > 0

/** The card with the typed number is first, above all scores of `fuzzy`: titles may mention its number too. */
const NUMBER_MATCH: Match = { score: 1_000, ranges: [] }

/** Only matches in the label are highlighted. */
function group(title: string, query: string, items: PaletteItem[], max = items.length): PaletteGroup {
  const byNumber = items.filter(({ number }) => number !== undefined && number === query.trim())
  const unnumbered = items.filter((item) => !byNumber.includes(item))
  const byLabel = rank(query, unnumbered, ({ label }) => label)
  const others = unnumbered.filter((item) => byLabel.every((each) => each.item !== item))
  const byWords = rank(query, others, ({ label, number = '', words = '' }) => `${label} ${number} ${words}`)
  const found = byWords.map(({ item, match }) => ({ item, match: { score: match.score, ranges: [] } }))
  const numbered = byNumber.map((item) => ({ item, match: NUMBER_MATCH }))
  return { title, items: [...numbered, ...byLabel, ...found].slice(0, max) }
}

const cardItems = (tools: BoardTools): PaletteItem[] =>
  tools.view.columns.flatMap(({ title, cards }) =>
    cards.map((card) => ({
      id: `card-${card.id}`,
      label: card.title,
      icon: 'file' as const,
      note: title,
      number: numberOf(card),
      words: card.id,
      run: () => tools.openCard(card.id),
    })),
  )

const boardItem = (board: ShownBoard, go: Sources['go']): PaletteItem => ({
  id: `board-${board.id}`,
  label: board.title,
  icon: 'list',
  note: board.archived_at ? t.archivedBoard : t.board,
  run: () => go(`/b/${board.id}`),
})

/** The items of the card's menu, except those that its open dialog shows already. */
const cardActions = (tools: BoardTools, card_id: string): PaletteItem[] => {
  const card = tools.find(card_id)?.card
  const inDialog = openCardId() === card_id ? ['Enter', 'E'] : []
  const items = (card ? cardMenu(tools, card, tools.isReadOnly) : []).filter((item) => item !== undefined)
  return items
    .filter(({ keys = '' }) => !inDialog.includes(keys))
    .map(({ label, icon = 'file', keys, onSelect }) => ({
      id: `this-card-${label}`,
      label,
      icon,
      run: onSelect,
      words: t.cardWords,
      ...(keys && { keys }),
    }))
}

function boardActions(tools: BoardTools): PaletteItem[] {
  const open = (panel: string) => () => tools.navigate(`/b/${tools.board_id}/${panel}`)
  /** Closes open dialogs first. */
  const onBoard = (act: () => void) => () => {
    tools.picker.set(undefined)
    if (openLayers().length > 0) tools.close()
    // The closing dialog returns the focus; the action may move it after that.
    setTimeout(act)
  }
  const click = (selector: string) => onBoard(() => document.querySelector<HTMLElement>(selector)?.click())
  const focus = (selector: string) => onBoard(() => document.querySelector<HTMLElement>(selector)?.focus())
  const additions: PaletteItem[] = [
    {
      id: 'new-card',
      label: t.newCard,
      icon: 'plus',
      keys: 'N',
      words: t.newCardWords,
      run: onBoard(() => tools.composeAnywhere()),
    },
    {
      id: 'add-column',
      label: t.addColumn,
      icon: 'plus',
      keys: 'C',
      words: t.addColumnWords,
      run: click('[data-new-column]'),
    },
  ]
  const reversals: PaletteItem[] = [
    { id: 'undo', label: t.undo, icon: 'undo', keys: 'Ctrl Z', words: t.undoWords, run: () => tools.undo() },
    { id: 'redo', label: t.redo, icon: 'redo', keys: 'Ctrl Shift Z', words: t.redoWords, run: () => tools.redo() },
  ]
  return [
    ...(tools.isReadOnly ? [] : additions),
    {
      id: 'filter',
      label: t.filterCards,
      icon: 'search',
      keys: '/',
      words: t.filterCardsWords,
      run: focus('.filter-field'),
    },
    {
      id: 'mine',
      label: t.myCards,
      icon: 'user',
      keys: 'F',
      words: t.myCardsWords,
      run: onBoard(() => toggleFilter('@me')),
    },
    ...(tools.isReadOnly ? [] : reversals),
    { id: 'members', label: t.members, icon: 'users', words: t.membersWords, run: open('members') },
    { id: 'automations', label: t.automation, icon: 'bolt', words: t.automationWords, run: open('automations') },
    ...(tools.isOwner
      ? [
          {
            id: 'webhooks',
            label: t.webhooks,
            icon: 'send' as const,
            words: t.webhooksWords,
            run: open('webhooks'),
          },
        ]
      : []),
    {
      id: 'activity',
      label: t.activity,
      icon: 'clock',
      keys: 'G then A',
      words: t.activityWords,
      run: open('activity'),
    },
    {
      id: 'removed',
      label: t.removed,
      icon: 'archive',
      keys: 'G then R',
      words: t.removedWords,
      run: open('removed'),
    },
    ...(tools.isOwner
      ? [
          {
            id: 'archive-board',
            label: tools.isReadOnly ? t.restoreBoard : t.archiveBoard,
            icon: 'archive' as const,
            run: () => tools.setArchived(!tools.isReadOnly),
          },
        ]
      : []),
  ]
}

function appActions(go: Sources['go']): PaletteItem[] {
  const theme = (name: Theme, label: string): PaletteItem => ({
    id: `theme-${name}`,
    label,
    icon: 'eye',
    words: t.themeWords,
    run: () => setTheme(name),
  })
  return [
    {
      id: 'boards',
      label: t.yourBoards,
      icon: 'list',
      keys: 'G then B',
      words: t.yourBoardsWords,
      run: () => go('/boards'),
    },
    {
      id: 'inbox',
      label: t.inbox,
      icon: 'bell',
      keys: 'G then I',
      words: t.inboxWords,
      run: () => go('/inbox'),
    },
    {
      id: 'settings',
      label: t.settings,
      icon: 'settings',
      words: t.settingsWords,
      run: () => go('/settings'),
    },
    {
      id: 'shortcuts',
      label: t.keyboardShortcuts,
      icon: 'keyboard',
      keys: '?',
      words: t.keyboardShortcutsWords,
      run: openShortcuts,
    },
    {
      id: 'accessibility',
      label: t.accessibility,
      icon: 'eye',
      words: t.accessibilityWords,
      run: () => go('/accessibility'),
    },
    theme('light', t.themeLight),
    theme('dark', t.themeDark),
    theme('system', t.themeSystem),
    { id: 'log-out', label: t.logOut, icon: 'out', words: t.logOutWords, run: () => void logOut() },
  ]
}
