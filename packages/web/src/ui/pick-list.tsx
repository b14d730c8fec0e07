import { Combobox } from '@base-ui/react/combobox'
import { type ReactNode, useState } from 'react'
import { Icon } from './icon.tsx'
import { t } from './messages.ts'

export interface Choice {
  id: string
  /** The text that is searched. */
  text: string
  content: ReactNode
}
interface PickListProps {
  /** Accessible name and placeholder of the field. */
  label: string
  choices: readonly Choice[]
  chosen: ReadonlySet<string>
  onToggle: (id: string) => void
  /** Offers to create what was typed, if no choice has this text. */
  onCreate?: (text: string) => void
  /** Why the typed text cannot be created. */
  problemOf?: (text: string) => string | undefined
  /** Enter in the empty field. */
  onDone: () => void
  /** Shown when there are no choices at all. */
  empty?: string
}

/** The choice that creates what was typed. */
const CREATE = 'create'

/** Match score of a text: 2 equal, 1 prefix, 0 substring, -1 no match. */
function matchScore(text: string, query: string): number {
  const at = text.toLowerCase().indexOf(query)
  return at < 0 ? -1 : text.length === query.length ? 2 : at === 0 ? 1 : 0
}

/** A searchable list with several choices. While typing, Enter acts on the highlighted row. */
export function PickList({
  label,
  choices,
  chosen,
  onToggle,
  onCreate,
  problemOf,
  onDone,
  empty = t.noMatches,
}: PickListProps) {
  const [query, setQuery] = useState('')
  /** The row that was reached with the arrow keys. */
  const [highlighted, setHighlighted] = useState<string>()
  const name = query.trim()
  const score = ({ text }: Choice) => matchScore(text, name.toLowerCase())
  const found = choices.filter((choice) => score(choice) >= 0).toSorted((one, other) => score(other) - score(one))
  const isNew = onCreate !== undefined && name !== '' && choices.every((choice) => score(choice) < 2)
  const problem = isNew ? problemOf?.(name) : undefined
  const ids = [...found.map(({ id }) => id), ...(isNew && !problem ? [CREATE] : [])]
  const pick = (id: string | undefined) => {
    if (id === undefined) return
    if (id === CREATE) onCreate?.(name)
    else onToggle(id)
    setQuery('')
    setHighlighted(undefined)
  }
  return (
    <Combobox.Root
      inline
      open
      multiple
      autoHighlight
      items={ids}
      filteredItems={ids}
      value={[...chosen]}
      onValueChange={(next) => pick(next.find((id) => !chosen.has(id)) ?? [...chosen].find((id) => !next.includes(id)))}
      inputValue={query}
      onItemHighlighted={(id, { reason }) => setHighlighted(reason === 'keyboard' ? id : undefined)}
      onInputValueChange={(text, { reason }) => {
        if (reason === 'input-change') setQuery(text)
      }}
    >
      <div className="pick-list">
        <Combobox.Input
          className="input"
          aria-label={label}
          placeholder={label}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || name || highlighted !== undefined) return
            event.preventDefault()
            event.preventBaseUIHandler()
            onDone()
          }}
        />
        {problem && (
          <p className="too-long" role="status">
            {problem}
          </p>
        )}
        <Combobox.Empty className="pick-empty">{choices.length === 0 ? empty : t.noMatches}</Combobox.Empty>
        <Combobox.List className="pick-rows">
          {(id: string) => (
            <Combobox.Item key={id} value={id} className="menu-item">
              {id === CREATE ? (
                <>
                  <Icon name="plus" />
                  <span>{t.create({ name })}</span>
                </>
              ) : (
                choices.find((choice) => choice.id === id)?.content
              )}
              <Combobox.ItemIndicator className="menu-check">
                <Icon name="check" />
              </Combobox.ItemIndicator>
            </Combobox.Item>
          )}
        </Combobox.List>
      </div>
    </Combobox.Root>
  )
}
