import type { User } from '@lockstep/client'
import { FormAlert } from '../account/form-alert.tsx'
import { useForm } from '../account/use-form.ts'
import { client, session } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { showToast } from '../ui/toasts.ts'
import { t } from './messages.ts'

/** Edits the user's name. */
export function ProfileForm({ user }: { user: User }) {
  const initial = { username: user.username, firstname: user.firstname ?? '', lastname: user.lastname ?? '' }
  const { form, field, failure, isBusy } = useForm(initial, { username_taken: 'username' }, async (values) => {
    const username = values.username.trim()
    const changed = await client.updateMe({
      ...(username !== user.username && { username }),
      firstname: values.firstname.trim() || null,
      lastname: values.lastname.trim() || null,
    })
    session.update((now) => ({ ...now, user: changed }))
    showToast(t.profileSaved)
  })
  return (
    <form className="setting-form" {...form}>
      <FormAlert text={failure} />
      <Field label={t.username} autoComplete="nickname" hint={t.usernameHint} {...field('username')} />
      <div className="field-pair">
        <Field label={t.firstName} autoComplete="given-name" isOptional {...field('firstname')} />
        <Field label={t.lastName} autoComplete="family-name" isOptional {...field('lastname')} />
      </div>
      <button type="submit" className="button is-primary" aria-disabled={isBusy}>
        {isBusy ? t.savingProfile : t.saveProfile}
      </button>
    </form>
  )
}
