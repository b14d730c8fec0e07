import { Link, useLocation, useSearch } from 'wouter'
import { createBoard } from '../board-state/create-board.ts'
import { client, logIn } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { AccountFrame } from './account-frame.tsx'
import { FormAlert } from './form-alert.tsx'
import { nextOf } from './next.ts'
import { useForm } from './use-form.ts'

/** Creates the first board of a new user. If that fails half way, the board list completes it. */
const starterBoard = () =>
  createBoard('My first board').then(
    (board_id) => `/b/${board_id}`,
    () => '/boards',
  )

const empty = { email: '', username: '', firstname: '', lastname: '', password: '' }
const fieldsByCode = { email_taken: 'email', username_taken: 'username', password_refused: 'password' } as const

const required = {
  email: 'Enter your email address.',
  username: 'Choose a username.',
  password: 'Choose a password.',
}

export function RegisterPage() {
  const [, navigate] = useLocation()
  const search = useSearch()
  const send = async (values: typeof empty) => {
    const { firstname, lastname, ...fields } = values
    await client.register({ ...fields, firstname: firstname || null, lastname: lastname || null })
    await logIn(values.email, values.password)
    // A user who followed a link to a board goes there; everyone else gets a first board.
    const next = nextOf(search)
    navigate(next === '/boards' ? await starterBoard() : next, { replace: true })
  }
  const { form, field, failure, isBusy } = useForm(empty, fieldsByCode, send, required)
  return (
    <AccountFrame title="Create account">
      <form className="account-form" {...form}>
        <FormAlert text={failure} />
        <Field label="Email" type="email" autoComplete="username" autoFocus {...field('email')} />
        <Field label="Username" autoComplete="nickname" hint="How others see you on boards." {...field('username')} />
        <Field
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="A short sentence works well."
          {...field('password')}
        />
        <div className="field-pair">
          <Field label="First name" autoComplete="given-name" isOptional {...field('firstname')} />
          <Field label="Last name" autoComplete="family-name" isOptional {...field('lastname')} />
        </div>
        <button type="submit" className="button is-primary" aria-disabled={isBusy}>
          {isBusy ? 'Creating…' : 'Create account'}
        </button>
      </form>
      <p className="account-other">
        Already have an account? <Link href={`/login${search && `?${search}`}`}>Log in</Link>
      </p>
    </AccountFrame>
  )
}
