import { t } from './messages.ts'
import type { RemovedFilter } from './use-removed-list.ts'

const states = [
  ['', t.all],
  ['archived', t.archived],
  ['deleted', t.deleted],
] as const
const kinds = [
  ['card', t.cards],
  ['column', t.columns],
] as const

interface RemovedFiltersProps {
  filter: RemovedFilter
  onChange: (filter: RemovedFilter) => void
}

/** The search field, and what of the list is shown. */
export function RemovedFilters({ filter, onChange }: RemovedFiltersProps) {
  return (
    <search className="removed-bar">
      <input
        type="search"
        className="input"
        dir="auto"
        aria-label={t.search}
        placeholder={t.search}
        maxLength={255}
        value={filter.search}
        {...(!matchMedia('(pointer: coarse)').matches && { 'data-first': '' })}
        onChange={(event) => onChange({ ...filter, search: event.target.value })}
      />
      <div className="removed-chips">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <span role="group" aria-label={t.state}>
          {states.map(([as, label]) => (
            <button
              key={as}
              type="button"
              className="removed-chip"
              aria-pressed={filter.as === as}
              onClick={() => onChange({ ...filter, as })}
            >
              {label}
            </button>
          ))}
        </span>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <span role="group" aria-label={t.kind}>
          {kinds.map(([kind, label]) => (
            <button
              key={kind}
              type="button"
              className="removed-chip"
              aria-pressed={filter.kind === kind}
              onClick={() => onChange({ ...filter, kind: filter.kind === kind ? '' : kind })}
            >
              {label}
            </button>
          ))}
        </span>
      </div>
    </search>
  )
}
