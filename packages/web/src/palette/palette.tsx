import { Autocomplete } from '@base-ui/react/autocomplete'
import { type ReactNode, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { boardList, loadBoards } from '../board-state/board-list.ts'
import type { ShownBoard } from '../board-state/offline-boards.ts'
import { currentBoard } from '../board-state/overlay.ts'
import { Dialog } from '../ui/dialog.tsx'
import { closeStep } from '../ui/history-step.ts'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { useStore } from '../ui/store.ts'
import type { Match } from './fuzzy.ts'
import { t } from './messages.ts'
import { findItems, type PaletteGroup } from './palette-items.ts'
import './palette.css'

/** The command palette: a field that filters a list of actions. */
export function Palette({ card_id }: { card_id: string | undefined }) {
  const tools = useStore(currentBoard)
  const [, go] = useLocation()
  const boards = useBoards()
  const [query, setQuery] = useState('')
  const groups = findItems(query, { tools, boards, card_id, go })
  const count = groups.reduce((sum, { items }) => sum + items.length, 0)
  return (
    <Autocomplete.Root
      inline
      open
      items={groups}
      filter={null}
      autoHighlight="always"
      keepHighlight
      value={query}
      onValueChange={setQuery}
    >
      <Dialog
        title={t.commandPalette}
        hasOwnHeading
        onClose={closeStep}
        actions={
          <>
            <Icon name="search" />
            <Autocomplete.Input
              className="palette-field"
              data-first=""
              dir="auto"
              aria-label={t.searchAll}
              placeholder={tools ? t.searchAll : t.searchBoardsAndActions}
            />
          </>
        }
      >
        <Autocomplete.List className="palette-list" aria-label={t.results}>
          {(group: PaletteGroup) => (
            <Autocomplete.Group key={group.title}>
              <Autocomplete.GroupLabel className="palette-title" dir="auto">
                {group.title}
              </Autocomplete.GroupLabel>
              {group.items.map((found) => (
                <Row key={found.item.id} found={found} />
              ))}
            </Autocomplete.Group>
          )}
        </Autocomplete.List>
        <Autocomplete.Status className={count === 0 ? 'palette-none' : 'visually-hidden'}>
          {count === 0 ? t.noResults({ query: query.trim() }) : query && t.found({ count })}
        </Autocomplete.Status>
      </Dialog>
    </Autocomplete.Root>
  )
}

function Row({ found }: { found: PaletteGroup['items'][number] }) {
  const { item, match } = found
  return (
    <Autocomplete.Item className="palette-item" value={found} onClick={() => closeStep(item.run)}>
      <Icon name={item.icon} />
      <span className="palette-label" dir="auto">
        {marked(item.label, match.ranges)}
      </span>
      {item.number && <span className="palette-note">{item.number}</span>}
      {item.note && (
        <span className="palette-note" dir="auto">
          {item.note}
        </span>
      )}
      {item.keys && <Keys keys={item.keys} />}
    </Autocomplete.Item>
  )
}

const noBoards: readonly ShownBoard[] = []
/** Loaded each time the palette opens. If that fails, the other results are still shown. */
function useBoards(): readonly ShownBoard[] {
  useEffect(() => void loadBoards(), [])
  return useStore(boardList).boards ?? noBoards
}

function marked(text: string, ranges: Match['ranges']): ReactNode {
  const parts: ReactNode[] = []
  let last = 0
  for (const [start, end] of ranges) {
    parts.push(text.slice(last, start), <mark key={start}>{text.slice(start, end)}</mark>)
    last = end
  }
  return [...parts, text.slice(last)]
}
