import type { Board } from '@lockstep/client'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useLocation } from 'wouter'
import { client } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { useStore } from '../ui/store.ts'
import type { Match } from './fuzzy.ts'
import { closeOverlay, currentBoard } from './overlay.ts'
import { findItems, type PaletteItem } from './palette-items.ts'
import './palette.css'

/** Everything by its name, on one key: a field with a list, by the ARIA guide's pattern for a combobox. */
export function Palette({ card_id }: { card_id: string | undefined }) {
  const tools = useStore(currentBoard)
  const [, go] = useLocation()
  const boards = useBoards()
  const [query, setQuery] = useState('')
  const [active_id, setActive] = useState<string>()
  const list_id = useId()
  const list = useRef<HTMLDivElement>(null)

  const groups = findItems(query, { tools, boards, card_id, go })
  const items = groups.flatMap((group) => group.items.map(({ item }) => item))
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === active_id),
  )
  const active = items[at]
  useEffect(() => {
    const option = active && document.getElementById(`${list_id}-${active.id}`)
    // The first one has a heading above it, which is to be seen as well.
    if (at === 0) list.current?.scrollTo(0, 0)
    else option?.scrollIntoView({ block: 'nearest' })
  }, [active, at, list_id])

  const run = (item: PaletteItem | undefined) => {
    if (!item) return
    // First the focus goes back to where it was, then the action may take it further.
    flushSync(closeOverlay)
    item.run()
  }
  const steer = (event: KeyboardEvent) => {
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
      has_own_heading
      onClose={closeOverlay}
      actions={
        <>
          <Icon name="search" />
          <input
            className="palette-field"
            data-first=""
            type="text"
            role="combobox"
            aria-label="Find a card, a board or an action"
            aria-expanded="true"
            aria-controls={list_id}
            aria-autocomplete="list"
            aria-activedescendant={active && `${list_id}-${active.id}`}
            placeholder={tools ? 'Find a card, a board or an action' : 'Find a board or an action'}
            autoComplete="off"
            spellCheck={false}
            value={query}
            onChange={(event) => {
              setQuery(event.target.value)
              setActive(undefined)
            }}
            onKeyDown={steer}
          />
        </>
      }
    >
      <div ref={list} id={list_id} className="palette-list" role="listbox" aria-label="What was found" tabIndex={-1}>
        {groups.map((group, i) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
          <div key={group.title} className="palette-group" role="group" aria-labelledby={`${list_id}-${i}`}>
            <div id={`${list_id}-${i}`} className="palette-title" role="presentation">
              {group.title}
            </div>
            {group.items.map(({ item, match }) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
              // biome-ignore lint/a11y/useFocusableInteractive: the field points at it, by aria-activedescendant
              <div
                key={item.id}
                id={`${list_id}-${item.id}`}
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
      <p className={items.length === 0 ? 'palette-none' : 'unseen'} role="status">
        {items.length === 0 ? `Nothing is called “${query.trim()}”.` : query && `${items.length} found`}
      </p>
    </Dialog>
  )
}

const PAGE = 8

/** Fetched each time, for boards come and go; without them the rest is there all the same. */
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
