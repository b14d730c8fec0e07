import type { Told } from './event-sentence.ts'

/** What is shown of the history; an empty word lets everything pass. */
export interface ActivityFilter {
  actor_id: string
  kind: string
}
export const everything: ActivityFilter = { actor_id: '', kind: '' }

const kinds: [string, string][] = [
  ['', 'Everything'],
  ['card', 'Cards'],
  ['column', 'Lanes'],
  ['label', 'Labels'],
  ['checklist', 'Checklists'],
  ['attachment', 'Files'],
  ['board', 'Board and members'],
]
const kindOf = (type: string) => type.split(/[._]/)[0] ?? ''

export const filterTold = (told: readonly Told[], { actor_id, kind }: ActivityFilter): readonly Told[] =>
  told.filter(({ actor, type }) => (!actor_id || actor.id === actor_id) && (!kind || kindOf(type) === kind))

interface ActivityFiltersProps {
  told: readonly Told[]
  filter: ActivityFilter
  onChange: (filter: ActivityFilter) => void
}

export function ActivityFilters({ told, filter, onChange }: ActivityFiltersProps) {
  const actors = [...new Map(told.map(({ actor }) => [actor.id, actor.kind === 'rule' ? 'Rules' : actor.name]))]
  return (
    <>
      <select
        className="input"
        aria-label="By whom"
        value={filter.actor_id}
        onChange={(event) => onChange({ ...filter, actor_id: event.target.value })}
      >
        <option value="">Everybody</option>
        {actors
          .sort(([, one], [, other]) => one.localeCompare(other))
          .map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </select>
      <select
        className="input"
        aria-label="About what"
        value={filter.kind}
        onChange={(event) => onChange({ ...filter, kind: event.target.value })}
      >
        {kinds.map(([kind, name]) => (
          <option key={kind} value={kind}>
            {name}
          </option>
        ))}
      </select>
    </>
  )
}
