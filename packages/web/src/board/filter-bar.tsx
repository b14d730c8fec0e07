import type { FullBoard } from '@lockstep/client'
import { useTools } from '../board-state/board-tools.ts'
import {
  type DueFilter,
  dueFilters,
  type FilterChip,
  hasPart,
  labelPart,
  parseFilter,
  splitFilter,
} from '../board-state/filter.ts'
import { setFilter, toggleFilter } from '../board-state/filter-address.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { Icon } from '../ui/icon.tsx'
import { Keys } from '../ui/keys.tsx'
import { Menu } from '../ui/menu.tsx'
import type { MenuEntry } from '../ui/menu-types.ts'
import { Avatar, nameOf, tinted } from '../ui/people.tsx'
import { t } from './messages.ts'

interface FilterProps {
  view: FullBoard
  /** The text of the filter. */
  text: string
}

/** The field for words, and a menu with due dates, labels and people. */
export function FilterBar({ view, text }: FilterProps) {
  const tools = useTools()
  const { chips, words } = splitFilter(text, view)
  const write = (typed: string) => setFilter([...chips.map(({ part }) => part), typed].join(' ').trimStart())
  return (
    <search className="filter-bar">
      <span className="filter-box">
        <Icon name="search" size={14} />
        <input
          type="search"
          className="filter-field"
          dir="auto"
          aria-label={t.filterCards}
          placeholder={t.filterCards}
          value={words}
          onChange={(event) => write(event.target.value)}
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
      <Menu
        label={chips.length > 0 ? t.filterMenuActive({ count: chips.length }) : t.filterMenu}
        className={chips.length > 0 ? 'button is-active' : 'button'}
        items={filterMenu(view, text)}
      >
        <Icon name="filter" /> <span className="filter-word">{t.filter}</span>{' '}
        {chips.length > 0 && <span className="count">{chips.length}</span>}
      </Menu>
    </search>
  )
}

const dueNames: Record<DueFilter, string> = {
  overdue: t.overdue,
  today: t.dueToday,
  week: t.dueInWeek,
  none: t.noDueDate,
}

function filterMenu({ labels, members }: FullBoard, text: string): MenuEntry[] {
  const toggle = (part: string) => ({ isChecked: hasPart(text, part), onSelect: () => toggleFilter(part) })
  return [
    { label: t.mine, icon: 'user', keys: 'F', ...toggle('@me') },
    { label: t.nobody, icon: 'users', ...toggle('is:unassigned') },
    undefined,
    t.dueDate,
    ...dueFilters.map((due) => ({ label: dueNames[due], icon: 'calendar' as const, ...toggle(`due:${due}`) })),
    ...(labels.length > 0 ? [undefined, t.labels] : []),
    ...labels.map(({ name, color }) => ({ label: name, color, ...toggle(labelPart(name)) })),
    ...(members.length > 1 ? [undefined, t.people] : []),
    ...(members.length > 1
      ? members.map(({ user }) => ({ label: nameOf(user), icon: 'user' as const, ...toggle(`@${user.username}`) }))
      : []),
  ]
}

/** The active parts of the filter, each with a button that removes it, and the number of cards that match. */
export function ActiveFilter({ view, text }: FilterProps) {
  const { shownIn } = useShownBoard()
  const isFiltered = parseFilter(text) !== undefined
  const all = view.columns.reduce((sum, { cards }) => sum + cards.length, 0)
  const shown = isFiltered ? view.columns.reduce((sum, column) => sum + shownIn(column).length, 0) : all
  return (
    <div className={isFiltered ? 'filter-active' : 'visually-hidden'}>
      {isFiltered && (
        <>
          {splitFilter(text, view).chips.map((chip) => (
            <Chip key={chip.part} chip={chip} view={view} />
          ))}
          <button
            type="button"
            className="chip-button"
            onClick={() => {
              setFilter('')
              // This button disappears with the filter.
              document.querySelector<HTMLElement>('.filter-field')?.focus()
            }}
          >
            {t.clear}
          </button>
          <span className="spacer" />
        </>
      )}
      <span className="filter-count" role="status">
        {isFiltered ? t.shownCards({ shown, count: all }) : t.cards({ count: all })}
      </span>
    </div>
  )
}

function Chip({ chip, view }: { chip: FilterChip; view: FullBoard }) {
  const label = view.labels.find(({ id }) => id === chip.id)
  const user = view.members.find(({ user_id }) => user_id === chip.id)?.user
  const fixedNames: Record<string, string> = { me: t.mine, unassigned: t.nobody, ...dueNames }
  const name = label?.name ?? (user ? nameOf(user) : (fixedNames[chip.id] ?? chip.part))
  return (
    <button
      type="button"
      className="filter-chip"
      aria-label={t.removeFilter({ name })}
      onClick={() => {
        toggleFilter(chip.part)
        document.querySelector<HTMLElement>('.filter-field')?.focus()
      }}
    >
      {label && <span className="dot" style={tinted(label.color)} />}
      {user && <Avatar person={user} />}
      {chip.on === 'due' && <Icon name="calendar" size={14} />}
      <span dir="auto">{name}</span>
      <Icon name="close" size={12} />
    </button>
  )
}
