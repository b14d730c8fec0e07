import type { DescribedEvent } from './describe-log.ts'

/** Filter of the activity log. An empty string matches everything. */
export interface ActivityFilter {
  actorId: string
  kind: string
}
export const noFilter: ActivityFilter = { actorId: '', kind: '' }

const kinds: [string, string][] = [
  ['', 'Everything'],
  ['card', 'Cards'],
  ['column', 'Columns'],
  ['label', 'Labels'],
  ['checklist', 'Checklists'],
  ['attachment', 'Files'],
  ['board', 'Board and members'],
]
const kindOf = (type: string) => type.split(/[._]/)[0] ?? ''

export const filterActivity = (
  events: readonly DescribedEvent[],
  { actorId, kind }: ActivityFilter,
): readonly DescribedEvent[] =>
  events.filter(({ actor, type }) => (!actorId || actor.id === actorId) && (!kind || kindOf(type) === kind))

interface ActivityFiltersProps {
  events: readonly DescribedEvent[]
  filter: ActivityFilter
  onChange: (filter: ActivityFilter) => void
}

export function ActivityFilters({ events, filter, onChange }: ActivityFiltersProps) {
  const actors = [...new Map(events.map(({ actor }) => [actor.id, actor.kind === 'rule' ? 'Rules' : actor.name]))]
  return (
    <>
      <select
        className="input"
        aria-label="Person"
        value={filter.actorId}
        onChange={(event) => onChange({ ...filter, actorId: event.target.value })}
      >
        <option value="">Everyone</option>
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
        aria-label="Type"
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
