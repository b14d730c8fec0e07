import type { EventKind, Webhook } from '@lockstep/client'
import { type FormEvent, useRef, useState } from 'react'
import { FormAlert } from '../account/form-alert.tsx'
import { useForm } from '../account/use-form.ts'
import { announce } from '../ui/announcer.tsx'
import { Field } from '../ui/field.tsx'
import { KindPicker } from './kind-picker.tsx'
import { t } from './messages.ts'

interface WebhookFields {
  name: string
  url: string
  kinds: EventKind[] | null
  is_enabled: boolean
}
interface WebhookFormProps {
  /** The webhook to edit; `undefined` for a new one. */
  webhook?: Webhook
  onSave: (fields: WebhookFields) => Promise<Webhook>
  onSaved: (webhook: Webhook) => void
  onCancel: () => void
}

export function WebhookForm({ webhook, onSave, onSaved, onCancel }: WebhookFormProps) {
  const [isAll, setAll] = useState(!webhook?.kinds)
  const [kinds, setKinds] = useState<ReadonlySet<EventKind>>(() => new Set(webhook?.kinds))
  const [isEnabled, setEnabled] = useState(webhook?.is_enabled ?? true)
  const [isKindMissing, setKindMissing] = useState(false)
  const picker = useRef<HTMLFieldSetElement>(null)
  const { form, field, failure, isBusy } = useForm(
    { name: webhook?.name ?? '', url: webhook?.url ?? '' },
    { url_refused: 'url' },
    async ({ name, url }) => {
      const saved = await onSave({
        name: name.trim(),
        url: url.trim(),
        kinds: isAll ? null : [...kinds],
        is_enabled: isEnabled,
      })
      announce((webhook ? t.changed : t.created)({ name: saved.name }))
      onSaved(saved)
    },
    { name: t.enterName, url: t.enterUrl },
  )
  const submit = (event: FormEvent) => {
    const isMissing = !isAll && kinds.size === 0
    setKindMissing(isMissing)
    if (!isMissing) return form.onSubmit(event)
    event.preventDefault()
    picker.current?.querySelector<HTMLElement>('[type=checkbox]')?.focus()
  }
  return (
    <form {...form} className="webhook-form" onSubmit={submit}>
      <h3>{webhook ? t.editWebhook({ name: webhook.name }) : t.newWebhook}</h3>
      <FormAlert text={failure} />
      <Field label={t.name} hint={t.nameHint} autoComplete="off" autoFocus dir="auto" {...field('name')} />
      <Field
        label={t.url}
        hint={webhook ? t.urlResumes : t.urlHint}
        type="url"
        autoComplete="off"
        dir="ltr"
        {...field('url')}
      />
      <fieldset ref={picker} className="webhook-kinds">
        <legend>{t.events}</legend>
        <label className="check">
          <input type="radio" name="kinds" checked={isAll} onChange={() => setAll(true)} /> {t.allEvents}
        </label>
        <label className="check">
          <input type="radio" name="kinds" checked={!isAll} onChange={() => setAll(false)} /> {t.chosenEvents}
        </label>
        {!isAll && <KindPicker kinds={kinds} onChange={setKinds} />}
        {!isAll && isKindMissing && (
          <small className="field-error" role="alert">
            {t.chooseEvents}
          </small>
        )}
      </fieldset>
      <label className="check">
        <input type="checkbox" checked={isEnabled} onChange={(event) => setEnabled(event.target.checked)} /> {t.enabled}
      </label>
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onCancel}>
          {t.cancel}
        </button>
        <button type="submit" className="button is-primary" aria-disabled={isBusy}>
          {isBusy ? t.saving : webhook ? t.save : t.create}
        </button>
      </div>
    </form>
  )
}
