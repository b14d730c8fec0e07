import type { AutomationRule, FullBoard } from '@lockstep/client'
import { useState } from 'react'
import { announce } from '../ui/announcer.tsx'
import { confirmAction } from '../ui/confirm.ts'
import { Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'
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
  const { name } = rule
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
  const remove = async (run: () => Promise<void>) => {
    const question = { title: t.deleteRuleTitle({ name }), text: t.deleteRuleText, action: t.deleteRuleAction }
    if (await confirmAction(question)) await attempt(run, t.deleted({ name }))
  }
  return (
    <li className={rule.is_enabled ? 'rule' : 'rule is-off'}>
      {actions ? (
        <input
          type="checkbox"
          role="switch"
          className="switch"
          aria-label={t.isOn({ name })}
          title={rule.is_enabled ? t.on : t.off}
          checked={rule.is_enabled}
          aria-checked={rule.is_enabled}
          disabled={isBusy || (isBroken && !rule.is_enabled)}
          onChange={() => void attempt(actions.toggle, rule.is_enabled ? t.turnedOff({ name }) : t.turnedOn({ name }))}
        />
      ) : (
        <span className="chip">{rule.is_enabled ? t.on : t.off}</span>
      )}
      <div className="rule-text">
        <p>{ruleSentence(rule, view)}</p>
        {name !== suggestedName(rule, view) && <small>{name}</small>}
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
            aria-label={t.editRule({ name })}
            onClick={actions.edit}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={t.deleteRule({ name })}
            disabled={isBusy}
            onClick={() => void remove(actions.remove)}
          >
            <Icon name="trash" />
          </button>
        </span>
      )}
      {failure !== undefined && <Failure error={failure} />}
    </li>
  )
}
