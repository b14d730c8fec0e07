import type { NewAccessToken } from '@lockstep/client'
import { FormAlert } from '../account/form-alert.tsx'
import { useForm } from '../account/use-form.ts'
import { useRecentLogin } from '../account/use-recent-login.tsx'
import { boardList, loadMoreBoards } from '../board-state/board-list.ts'
import { client } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { Select } from '../ui/select.tsx'
import { useStore } from '../ui/store.ts'
import { scopeNames, t } from './token-messages.ts'

const ALL_BOARDS = 'all'
const lifetimes = { '7': t.days7, '30': t.days30, '90': t.days90, '365': t.days365 }
const initial = { name: '', scope: 'read', board_id: ALL_BOARDS, expires_in_days: '90' }
const optionsOf = (labels: Record<string, string>) => Object.entries(labels).map(([value, label]) => ({ value, label }))

interface NewTokenFormProps {
  onCreated: (token: NewAccessToken) => void
  onCancel: () => void
}

/** Creates an access token. If the login is too old, asks for the password and continues. */
export function NewTokenForm({ onCreated, onCancel }: NewTokenFormProps) {
  const { boards = [], hasMore } = useStore(boardList)
  const { withRecentLogin, loginDialog } = useRecentLogin(t.logInAgain, t.logInAgainText)
  const send = async (values: typeof initial) => {
    const created = await withRecentLogin(() => create(values))
    if (created) onCreated(created)
  }
  const { form, field, failure, isBusy } = useForm(
    initial,
    { role_too_low: 'scope', token_lifetime_limit: 'expires_in_days' },
    send,
    { name: t.enterName },
  )
  const select = (name: keyof typeof initial, label: string, options: { value: string; label: string }[]) => {
    const { value, onChange, error } = field(name)
    return (
      <div className="field">
        <Select label={label} isLabelShown value={value} options={options} onChange={onChange} />
        {error && (
          <small className="field-error" role="alert">
            {error}
          </small>
        )}
      </div>
    )
  }
  return (
    <>
      <form className="setting-form token-form" {...form}>
        <FormAlert text={failure} />
        <Field label={t.name} hint={t.nameHint} autoComplete="off" autoFocus {...field('name')} />
        {select('scope', t.scope, optionsOf(scopeNames))}
        {select('board_id', t.board, [
          { value: ALL_BOARDS, label: t.allBoards },
          ...boards.map(({ id, title }) => ({ value: id, label: title })),
        ])}
        {hasMore && (
          <button type="button" className="button is-quiet" onClick={() => void loadMoreBoards()}>
            {t.moreBoards}
          </button>
        )}
        {select('expires_in_days', t.lifetime, optionsOf(lifetimes))}
        <div className="token-actions">
          <button type="submit" className="button is-primary" aria-disabled={isBusy}>
            {isBusy ? t.creating : t.create}
          </button>
          <button type="button" className="button" onClick={onCancel}>
            {t.cancel}
          </button>
        </div>
      </form>
      {loginDialog}
    </>
  )
}

const create = ({ name, scope, board_id, expires_in_days }: typeof initial): Promise<NewAccessToken> =>
  client.createToken({
    name: name.trim(),
    scope: scope as NewAccessToken['scope'],
    board_id: board_id === ALL_BOARDS ? null : board_id,
    expires_in_days: Number(expires_in_days),
  })
