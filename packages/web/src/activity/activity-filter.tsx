import { Select, type SelectOption } from '../ui/select.tsx'
import type { DescribedEvent } from './describe-log.ts'
import { t } from './messages.ts'

/** Filter of the activity log. An empty string matches everything. */
export interface ActivityFilter {
  actorId: string
  kind: string
}
export const noFilter: ActivityFilter = { actorId: '', kind: '' }

const kinds: readonly SelectOption[] = [
  { value: '', label: t.everything },
  { value: 'card', label: t.cards },
  { value: 'column', label: t.columns },
  { value: 'label', label: t.labels },
  { value: 'checklist', label: t.checklists },
  { value: 'attachment', label: t.files },
  { value: 'comment', label: t.comments },
  { value: 'board', label: t.boardAndMembers },
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
  const names = new Map(events.map(({ actor }) => [actor.id, actor.kind === 'rule' ? t.rules : actor.name]))
  const actors = [...names]
    .map(([value, label]) => ({ value, label }))
    .sort((one, other) => one.label.localeCompare(other.label))
  return (
    <>
      <Select
        label={t.person}
        value={filter.actorId}
        options={[{ value: '', label: t.everyone }, ...actors]}
        onChange={(actorId) => onChange({ ...filter, actorId })}
      />
      <Select label={t.type} value={filter.kind} options={kinds} onChange={(kind) => onChange({ ...filter, kind })} />
    </>
  )
}
