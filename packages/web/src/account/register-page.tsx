import { Link, useLocation, useSearch } from 'wouter'
import { makeBoard } from '../boards/make-board.ts'
import { client, logIn } from '../session.ts'
import { Field } from '../ui/field.tsx'
import { AccountFrame } from './account-frame.tsx'
import { FormAlert } from './form-alert.tsx'
import { nextOf } from './next.ts'
import { useForm } from './use-form.ts'

/** The first board of a new user. The account exists by now: a board that was left without its columns is completed by the list of boards. */
const starterBoard = () =>
  makeBoard('My first board').then(
    (board_id) => `/b/${board_id}`,
    () => '/boards',
  )

const empty = { email: '', username: '', firstname: '', lastname: '', password: '' }
const fields = { email_taken: 'email', username_taken: 'username', password_refused: 'password' } as const

const needed = {
  email: 'Enter your e-mail address.',
  username: 'Choose a username.',
  password: 'Choose a password.',
}

export function RegisterPage() {
  const [, navigate] = useLocation()
  const search = useSearch()
  const send = async (values: typeof empty) => {
    const { firstname, lastname, ...needed } = values
    await client.register({ ...needed, firstname: firstname || null, lastname: lastname || null })
    await logIn(values.email, values.password)
    // Whoever comes by an invitation has a board to go to; everybody else finds a first one.
    const next = nextOf(search)
    navigate(next === '/boards' ? await starterBoard() : next, { replace: true })
  }
  const { form, field, failure, isBusy } = useForm(empty, fields, send, needed)
  return (
    <AccountFrame title="Create an account">
      <form className="account-form" {...form}>
        <FormAlert text={failure} />
        <Field label="E-mail" type="email" autoComplete="username" autoFocus {...field('email')} />
        <Field label="Username" autoComplete="nickname" hint="How others see you on boards." {...field('username')} />
        <Field
          label="Password"
          type="password"
          autoComplete="new-password"
          hint="A sentence is a good password."
          {...field('password')}
        />
        <div className="field-pair">
          <Field label="First name" autoComplete="given-name" is_optional {...field('firstname')} />
          <Field label="Last name" autoComplete="family-name" is_optional {...field('lastname')} />
        </div>
        <button type="submit" className="button is-primary" aria-disabled={isBusy}>
          {isBusy ? 'Creating…' : 'Create account'}
        </button>
      </form>
      <p className="account-other">
        You have one? <Link href={`/login${search && `?${search}`}`}>Log in</Link>
      </p>
    </AccountFrame>
  )
}
