import type { AutomationRule, FullBoard } from '@lockstep/client'
import { useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { type RuleWarning, ruleSentence, suggestedName } from './rule-sentence.ts'

interface RuleRowProps {
  rule: AutomationRule
  view: FullBoard
  warnings: readonly RuleWarning[]
  /** `undefined` for members, who can only read. */
  actions: { edit: () => void; toggle: () => Promise<void>; remove: () => Promise<void> } | undefined
}

/** Id of the button that opens a rule's form, to return the focus to it. */
export const editId = (rule_id: string) => `edit-rule-${rule_id}`

export function RuleRow({ rule, view, warnings, actions }: RuleRowProps) {
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const isBroken = warnings.some((warning) => warning.isBroken)
  const attempt = async (act: () => Promise<void>, confirmation: string) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await act()
      announce(confirmation)
    } catch (error) {
      setFailure(error)
    }
    setBusy(false)
  }
  const remove = (run: () => Promise<void>) => {
    if (confirm(`Delete rule “${rule.name}”? This can’t be undone.`)) void attempt(run, `Deleted rule “${rule.name}”`)
  }
  return (
    <li className={rule.is_enabled ? 'rule' : 'rule is-off'}>
      {actions ? (
        <input
          type="checkbox"
          role="switch"
          className="switch"
          aria-label={`“${rule.name}” is on`}
          title={rule.is_enabled ? 'On' : 'Off'}
          checked={rule.is_enabled}
          aria-checked={rule.is_enabled}
          disabled={isBusy || (isBroken && !rule.is_enabled)}
          onChange={() => void attempt(actions.toggle, `Rule “${rule.name}” is ${rule.is_enabled ? 'off' : 'on'}`)}
        />
      ) : (
        <span className="chip">{rule.is_enabled ? 'On' : 'Off'}</span>
      )}
      <div className="rule-text">
        <p>{ruleSentence(rule, view)}</p>
        {rule.name !== suggestedName(rule, view) && <small>{rule.name}</small>}
        {warnings.map(({ text, isBroken }) => (
          <p key={text} className={isBroken ? 'rule-warning is-broken' : 'rule-warning'}>
            <Icon name="warn" size={14} /> {text}
          </p>
        ))}
      </div>
      {actions && (
        <span className="rule-acts">
          <button
            id={editId(rule.id)}
            type="button"
            className="icon-button"
            aria-label={`Edit “${rule.name}”`}
            onClick={actions.edit}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={`Delete “${rule.name}”`}
            disabled={isBusy}
            onClick={() => remove(actions.remove)}
          >
            <Icon name="trash" />
          </button>
        </span>
      )}
      {failure !== undefined && <Failure error={failure} />}
    </li>
  )
}
