import type { AutomationRule, FullBoard } from '@lockstep/client'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { Failure } from '../ui/failure.tsx'
import { nameOf } from '../ui/people.tsx'
import { Select, type SelectOption } from '../ui/select.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { t } from './messages.ts'
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
  const first = useRef<HTMLButtonElement>(null)
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
      const sentence = ruleSentence(draft, view)
      announce(rule ? t.changed({ sentence }) : t.added({ sentence }))
      finish()
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const columns = view.columns.map(({ id: value, title: label }) => ({ value, label }))
  const labels = view.labels.map(({ id: value, name: label }) => ({ value, label }))
  const people = view.members.map(({ user_id: value, user }) => ({ value, label: nameOf(user) }))
  return (
    <form
      className="rule-form"
      aria-label={rule ? t.editRule({ name: rule.name }) : t.newRule}
      onSubmit={(event) => void submit(event)}
    >
      <p className="rule-gap">
        <strong>{t.when}</strong> {t.aCard}
        <Select
          ref={first}
          label={t.whenACard}
          describedBy={labels.length === 0 ? `${id}-labels` : undefined}
          value={draft.trigger_type}
          options={triggersFor(draft, labels.length > 0)}
          onChange={(trigger_type) => set({ trigger_type })}
        />
        {draft.trigger_type === 'CARD_MOVED' && (
          <Choice
            label={t.column}
            options={columns}
            value={draft.trigger_column_id}
            onChange={(value) => set({ trigger_column_id: value })}
          />
        )}
        {draft.trigger_type === 'LABEL_ADDED' && (
          <Choice
            label={t.label}
            options={labels}
            value={draft.trigger_label_id}
            onChange={(value) => set({ trigger_label_id: value })}
          />
        )}
      </p>
      <p className="rule-gap">
        <strong>{t.thenWord}</strong>
        <Select
          label={t.thenField}
          value={draft.action_type}
          options={actions}
          onChange={(action_type) => set({ action_type })}
        />
        {draft.action_type === 'MOVE_TO_COLUMN' ? (
          <Choice
            label={t.moveToColumn}
            options={columns}
            value={draft.action_column_id}
            onChange={(value) => set({ action_column_id: value })}
          />
        ) : (
          <Choice
            label={t.member}
            options={people}
            value={draft.action_user_id}
            onChange={(value) => set({ action_user_id: value })}
          />
        )}
      </p>
      <p className="rule-name">
        <label htmlFor={`${id}-name`}>{t.name}</label>
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
          {t.noLabels}
        </p>
      )}
      {failure !== undefined && <Failure error={failure} />}
      <div className="dialog-foot">
        <button type="button" className="button" onClick={finish}>
          {t.cancel}
        </button>
        <button type="submit" className="button is-primary" aria-disabled={isBusy}>
          {isBusy ? t.saving : rule ? t.saveRule : t.addRule}
        </button>
      </div>
    </form>
  )
}

/** A card that is created triggers no rules, but a rule may have been saved so. */
const triggersFor = (draft: RuleDraft, hasLabels: boolean): SelectOption<RuleDraft['trigger_type']>[] => [
  { value: 'CARD_MOVED', label: t.movesTo },
  { value: 'LABEL_ADDED', label: t.getsLabel, isDisabled: !hasLabels },
  ...(draft.trigger_type === 'CARD_CREATED'
    ? [{ value: draft.trigger_type, label: t.isCreated, isDisabled: true }]
    : []),
]
const actions: readonly SelectOption<RuleDraft['action_type']>[] = [
  { value: 'MOVE_TO_COLUMN', label: t.moveItTo },
  { value: 'ASSIGN_MEMBER', label: t.assign },
]

interface ChoiceProps {
  label: string
  options: readonly SelectOption[]
  value: string | null
  onChange: (value: string) => void
}

/** One choice of the sentence. It is empty if the chosen object was deleted. */
function Choice({ label, options, value, onChange }: ChoiceProps) {
  const exists = options.some((option) => option.value === value)
  return (
    <Select
      label={label}
      isRequired
      value={exists ? (value ?? '') : ''}
      options={exists ? options : [{ value: '', label: t.choose }, ...options]}
      onChange={onChange}
    />
  )
}
