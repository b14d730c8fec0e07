import type { Board } from '@lockstep/client'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useLocation } from 'wouter'
import { closeOverlay, currentBoard } from '../board-state/overlay.ts'
import { client } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { useStore } from '../ui/store.ts'
import type { Match } from './fuzzy.ts'
import { findItems, type PaletteItem } from './palette-items.ts'
import './palette.css'

/** The command palette: a combobox, following the ARIA Authoring Practices. */
export function Palette({ card_id }: { card_id: string | undefined }) {
  const tools = useStore(currentBoard)
  const [, go] = useLocation()
  const boards = useBoards()
  const [query, setQuery] = useState('')
  const [activeId, setActive] = useState<string>()
  const listId = useId()
  const list = useRef<HTMLDivElement>(null)

  const groups = findItems(query, { tools, boards, card_id, go })
  const items = groups.flatMap((group) => group.items.map(({ item }) => item))
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === activeId),
  )
  const active = items[at]
  useEffect(() => {
    const option = active && document.getElementById(`${listId}-${active.id}`)
    // Show the group's heading above the first item.
    if (at === 0) list.current?.scrollTo(0, 0)
    else option?.scrollIntoView({ block: 'nearest' })
  }, [active, at, listId])

  const run = (item: PaletteItem | undefined) => {
    if (!item) return
    // Closing returns the focus; the action may move it after that.
    flushSync(closeOverlay)
    item.run()
  }
  const handleKey = (event: KeyboardEvent) => {
    const to = {
      ArrowDown: items[(at + 1) % items.length],
      ArrowUp: items.at(at - 1),
      Home: items[0],
      End: items.at(-1),
      PageDown: items[Math.min(at + PAGE, items.length - 1)],
      PageUp: items[Math.max(at - PAGE, 0)],
    }[event.key]
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) run(active)
    else if (to && !event.shiftKey) setActive(to.id)
    else return
    event.preventDefault()
  }
  return (
    <Dialog
      title="Command palette"
      hasOwnHeading
      onClose={closeOverlay}
      actions={
        <>
          <Icon name="search" />
          <input
            className="palette-field"
            data-first=""
            type="text"
            role="combobox"
            aria-label="Search cards, boards and actions"
            aria-expanded="true"
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={active && `${listId}-${active.id}`}
            placeholder={tools ? 'Search cards, boards and actions' : 'Search boards and actions'}
            autoComplete="off"
            spellCheck={false}
            value={query}
            onChange={(event) => {
              setQuery(event.target.value)
              setActive(undefined)
            }}
            onKeyDown={handleKey}
          />
        </>
      }
    >
      <div ref={list} id={listId} className="palette-list" role="listbox" aria-label="Results" tabIndex={-1}>
        {groups.map((group, i) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
          <div key={group.title} className="palette-group" role="group" aria-labelledby={`${listId}-${i}`}>
            <div id={`${listId}-${i}`} className="palette-title" role="presentation">
              {group.title}
            </div>
            {group.items.map(({ item, match }) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field keeps the focus and handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the field refers to it with aria-activedescendant
              <div
                key={item.id}
                id={`${listId}-${item.id}`}
                className="palette-item"
                role="option"
                aria-selected={item === active}
                onClick={() => run(item)}
                onMouseMove={() => setActive(item.id)}
              >
                <Icon name={item.icon} />
                <span className="palette-label">{marked(item.label, match.ranges)}</span>
                {item.note && <span className="palette-note">{item.note}</span>}
                {item.keys && <Keys keys={item.keys} />}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p className={items.length === 0 ? 'palette-none' : 'visually-hidden'} role="status">
        {items.length === 0 ? `No results for “${query.trim()}”` : query && `${items.length} found`}
      </p>
    </Dialog>
  )
}

const PAGE = 8

/** Loaded each time the palette opens. If that fails, the other results are still shown. */
function useBoards(): readonly Board[] {
  const [boards, setBoards] = useState<readonly Board[]>([])
  useEffect(() => {
    client.listBoards().then(setBoards, () => undefined)
  }, [])
  return boards
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
