import type { EventKind } from '@lockstep/client'
import { useId, useState } from 'react'
import { Icon } from '../ui/icon.tsx'
import { kindGroups } from './event-kinds.ts'
import { t } from './messages.ts'

interface KindPickerProps {
  kinds: ReadonlySet<EventKind>
  onChange: (kinds: ReadonlySet<EventKind>) => void
}

/** Chooses kinds of events, by group or one by one. */
export function KindPicker({ kinds, onChange }: KindPickerProps) {
  const set = (changed: readonly EventKind[], isChosen: boolean) => {
    const next = new Set(kinds)
    for (const kind of changed) {
      if (isChosen) next.add(kind)
      else next.delete(kind)
    }
    onChange(next)
  }
  return (
    <ul>
      {kindGroups.map(([label, all]) => (
        <KindGroup key={label} label={label} all={all} kinds={kinds} onSet={set} />
      ))}
    </ul>
  )
}

interface KindGroupProps {
  label: string
  all: readonly EventKind[]
  kinds: ReadonlySet<EventKind>
  onSet: (changed: readonly EventKind[], isChosen: boolean) => void
}

function KindGroup({ label, all, kinds, onSet }: KindGroupProps) {
  const id = useId()
  const count = all.filter((kind) => kinds.has(kind)).length
  const [isOpen, setOpen] = useState(count > 0 && count < all.length)
  return (
    <li>
      <div className="kind-group">
        <label className="check">
          <input
            ref={(box) => {
              if (box) box.indeterminate = count > 0 && count < all.length
            }}
            type="checkbox"
            checked={count === all.length}
            onChange={() => onSet(all, count < all.length)}
          />
          {label}
        </label>
        <button
          type="button"
          className="button is-quiet"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {t.chosenOf({ count, total: all.length })} <span className="visually-hidden">{label}</span>
          <Icon name="down" />
        </button>
      </div>
      <div id={id} className="kinds" hidden={!isOpen}>
        {isOpen &&
          all.map((kind) => (
            <label key={kind} className="check">
              <input type="checkbox" checked={kinds.has(kind)} onChange={() => onSet([kind], !kinds.has(kind))} />
              <code>{kind}</code>
            </label>
          ))}
      </div>
    </li>
  )
}
