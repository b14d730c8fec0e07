import type { FullBoard } from '@lockstep/client'
import { useTools } from '../board-state/board-tools.ts'
import { hasPart, labelPart, parseFilter } from '../board-state/filter.ts'
import { setFilter, toggleFilter } from '../board-state/filter-address.ts'
import { openPalette } from '../board-state/overlay.ts'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { Menu } from '../ui/menu.tsx'
import { nameOf } from '../ui/people.tsx'

/** The filter of the board. */
export function FilterBar({ view, text }: { view: FullBoard; text: string }) {
  const tools = useTools()
  const isFiltered = parseFilter(text) !== undefined
  const all = view.columns.reduce((sum, { cards }) => sum + cards.length, 0)
  const shown = isFiltered ? view.columns.reduce((sum, column) => sum + tools.shownIn(column).length, 0) : all
  const toggle = (label: string, part: string) => (
    <button type="button" className="filter-chip" aria-pressed={hasPart(text, part)} onClick={() => toggleFilter(part)}>
      {label}
    </button>
  )
  return (
    <search className="filter-bar">
      <span className="filter-box">
        <Icon name="search" size={14} />
        <input
          type="search"
          className="filter-field"
          aria-label="Filter cards"
          placeholder="Filter cards"
          value={text}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setFilter('')
            if (event.key === 'Enter' || event.key === 'ArrowDown' || (event.key === 'Escape' && !text)) {
              event.preventDefault()
              tools.focusFirst()
            }
          }}
        />
        <Keys keys="/" />
      </span>
      {toggle('Mine', '@me')}
      {toggle('Unassigned', 'is:unassigned')}
      {view.labels.length > 0 && (
        <Menu
          label="Filter by label"
          className="filter-chip"
          items={view.labels.map(({ name }) => ({
            label: name,
            ...(hasPart(text, labelPart(name)) && { icon: 'check' as const }),
            onSelect: () => toggleFilter(labelPart(name)),
          }))}
        >
          Label <Icon name="down" size={12} />
        </Menu>
      )}
      {view.members.length > 1 && (
        <Menu
          label="Filter by person"
          className="filter-chip"
          items={view.members.map(({ user }) => ({
            label: nameOf(user),
            ...(hasPart(text, `@${user.username}`) && { icon: 'check' as const }),
            onSelect: () => toggleFilter(`@${user.username}`),
          }))}
        >
          Person <Icon name="down" size={12} />
        </Menu>
      )}
      {isFiltered && (
        <button
          type="button"
          className="filter-chip"
          onClick={() => {
            setFilter('')
            // This button disappears with the filter.
            document.querySelector<HTMLElement>('.filter-field')?.focus()
          }}
        >
          <Icon name="close" size={12} /> Clear
        </button>
      )}
      <span className="spacer" />
      <span className="filter-count" role="status">
        {isFiltered ? `${shown} of ${all} cards` : `${all} ${all === 1 ? 'card' : 'cards'}`}
      </span>
      <button type="button" className="filter-chip filter-command" onClick={openPalette}>
        Search… <Keys keys="Ctrl K" />
      </button>
    </search>
  )
}
