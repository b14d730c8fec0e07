import type { AutomationRule, FullBoard } from '@lockstep/client'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { Failure } from '../ui/failure.tsx'
import { nameOf } from '../ui/people.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { draftKey, draftOf, emptyDraft, inputOf, type RuleDraft, readRuleDraft, writeRuleDraft } from './rule-draft.ts'
import { ruleSentence, suggestedName } from './rule-sentence.ts'
import type { RuleInput } from './use-rules.ts'

interface RuleFormProps {
  view: FullBoard
  /** The rule to edit; `undefined` for a new one. */
  rule?: AutomationRule
  onSave: (input: RuleInput, rule_id?: string) => Promise<unknown>
  onDone: () => void
}

/** The rule as a sentence with choices. */
export function RuleForm({ view, rule, onSave, onDone }: RuleFormProps) {
  const { me } = useTools()
  const key = draftKey(view.id, rule?.id)
  const [draft, setDraft] = useState<RuleDraft>(
    () => readRuleDraft(key) ?? (rule ? draftOf(rule, view) : emptyDraft(view, me.id)),
  )
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const first = useRef<HTMLSelectElement>(null)
  const id = useId()
  useEffect(() => first.current?.focus(), [])

  const set = (change: Partial<RuleDraft>) => {
    const next = { ...draft, ...change }
    setDraft(next)
    writeRuleDraft(key, next)
  }
  const finish = () => {
    writeRuleDraft(key, undefined)
    onDone()
  }
  const suggested = suggestedName(draft, view)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || tooLong(draft.name ?? '')) return
    setBusy(true)
    setFailure(undefined)
    try {
      await onSave(inputOf(draft, draft.name?.trim() || suggested), rule?.id)
      announce(`Rule ${rule ? 'changed' : 'added'}. ${ruleSentence(draft, view)}`)
      finish()
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const columns = view.columns.map(({ id: value, title }) => ({ value, text: title }))
  const labels = view.labels.map(({ id: value, name }) => ({ value, text: name }))
  const people = view.members.map(({ user_id: value, user }) => ({ value, text: nameOf(user) }))
  return (
    <form
      className="rule-form"
      aria-label={rule ? `Edit “${rule.name}”` : 'New rule'}
      onSubmit={(event) => void submit(event)}
    >
      <p className="rule-gap">
        <strong>When</strong> a card
        <select
          ref={first}
          className="input"
          aria-label="When a card"
          aria-describedby={labels.length === 0 ? `${id}-labels` : undefined}
          value={draft.trigger_type}
          onChange={(event) => set({ trigger_type: event.target.value as RuleDraft['trigger_type'] })}
        >
          <option value="CARD_MOVED">moves to</option>
          <option value="LABEL_ADDED" disabled={labels.length === 0}>
            gets the label
          </option>
          {draft.trigger_type === 'CARD_CREATED' && (
            <option value="CARD_CREATED" disabled>
              is created
            </option>
          )}
        </select>
        {draft.trigger_type === 'CARD_MOVED' && (
          <Choice
            label="Column"
            options={columns}
            value={draft.trigger_column_id}
            onChange={(value) => set({ trigger_column_id: value })}
          />
        )}
        {draft.trigger_type === 'LABEL_ADDED' && (
          <Choice
            label="Label"
            options={labels}
            value={draft.trigger_label_id}
            onChange={(value) => set({ trigger_label_id: value })}
          />
        )}
      </p>
      <p className="rule-gap">
        <strong>then</strong>
        <select
          className="input"
          aria-label="Then"
          value={draft.action_type}
          onChange={(event) => set({ action_type: event.target.value as RuleDraft['action_type'] })}
        >
          <option value="MOVE_TO_COLUMN">move it to</option>
          <option value="ASSIGN_MEMBER">assign</option>
        </select>
        {draft.action_type === 'MOVE_TO_COLUMN' ? (
          <Choice
            label="Move to column"
            options={columns}
            value={draft.action_column_id}
            onChange={(value) => set({ action_column_id: value })}
          />
        ) : (
          <Choice
            label="Member"
            options={people}
            value={draft.action_user_id}
            onChange={(value) => set({ action_user_id: value })}
          />
        )}
      </p>
      <p className="rule-name">
        <label htmlFor={`${id}-name`}>Name</label>
        <input
          id={`${id}-name`}
          className="input"
          placeholder={suggested}
          value={draft.name ?? suggested}
          onChange={(event) => set({ name: event.target.value })}
        />
      </p>
      <TooLong text={draft.name ?? ''} />
      {labels.length === 0 && (
        <p id={`${id}-labels`} className="rule-hint">
          The board has no labels yet.
        </p>
      )}
      {failure !== undefined && <Failure error={failure} />}
      <div className="dialog-foot">
        <button type="button" className="button" onClick={finish}>
          Cancel
        </button>
        <button type="submit" className="button is-primary" aria-disabled={isBusy}>
          {isBusy ? 'Saving…' : rule ? 'Save rule' : 'Add rule'}
        </button>
      </div>
    </form>
  )
}

interface ChoiceProps {
  label: string
  options: readonly { value: string; text: string }[]
  value: string | null
  onChange: (value: string) => void
}

/** One choice of the sentence. It is empty if the chosen object was deleted. */
function Choice({ label, options, value, onChange }: ChoiceProps) {
  const exists = options.some((option) => option.value === value)
  return (
    <select
      className="input"
      aria-label={label}
      required
      value={exists ? (value ?? '') : ''}
      onChange={(event) => onChange(event.target.value)}
    >
      {!exists && <option value="">Choose…</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  )
}
