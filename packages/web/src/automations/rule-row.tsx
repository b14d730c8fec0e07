import type { AutomationRule, FullBoard } from '@lockstep/client'
import { useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { ruleSentence, suggestedName, type Warning } from './rule-sentence.ts'

interface RuleRowProps {
  rule: AutomationRule
  view: FullBoard
  warnings: readonly Warning[]
  /** Undefined for members: they read. */
  acts: { edit: () => void; toggle: () => Promise<void>; remove: () => Promise<void> } | undefined
}

/** The button that opens a rule's form, for the focus to come back to. */
export const editId = (rule_id: string) => `edit-rule-${rule_id}`

export function RuleRow({ rule, view, warnings, acts }: RuleRowProps) {
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isBroken = warnings.some((warning) => warning.is_broken)
  const attempt = async (act: () => Promise<void>, said: string) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await act()
      announce(said)
    } catch (error) {
      setFailure(error)
    }
    setBusy(false)
  }
  const remove = (run: () => Promise<void>) => {
    if (confirm(`Delete the rule “${rule.name}”? This cannot be taken back.`))
      void attempt(run, `Rule “${rule.name}” deleted.`)
  }
  return (
    <li className={rule.is_enabled ? 'rule' : 'rule is-off'}>
      {acts ? (
        <input
          type="checkbox"
          role="switch"
          className="switch"
          aria-label={`“${rule.name}” is on`}
          title={rule.is_enabled ? 'On' : 'Off'}
          checked={rule.is_enabled}
          aria-checked={rule.is_enabled}
          disabled={isBusy || (isBroken && !rule.is_enabled)}
          onChange={() => void attempt(acts.toggle, `Rule “${rule.name}” is ${rule.is_enabled ? 'off' : 'on'}.`)}
        />
      ) : (
        <span className="chip">{rule.is_enabled ? 'On' : 'Off'}</span>
      )}
      <div className="rule-text">
        <p>{ruleSentence(rule, view)}</p>
        {rule.name !== suggestedName(rule, view) && <small>{rule.name}</small>}
        {warnings.map(({ text, is_broken }) => (
          <p key={text} className={is_broken ? 'rule-warning is-broken' : 'rule-warning'}>
            <Icon name="warn" size={14} /> {text}
          </p>
        ))}
      </div>
      {acts && (
        <span className="rule-acts">
          <button
            id={editId(rule.id)}
            type="button"
            className="icon-button"
            aria-label={`Edit “${rule.name}”`}
            onClick={acts.edit}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={`Delete “${rule.name}”`}
            disabled={isBusy}
            onClick={() => remove(acts.remove)}
          >
            <Icon name="trash" />
          </button>
        </span>
      )}
      {failure !== undefined && <Failure error={failure} />}
    </li>
  )
}
