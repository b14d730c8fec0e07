import { createClient, isLockstepError, type User } from '@lockstep/client'
import { forgetKept, keepUser } from './kept-data.ts'
import { Store } from './ui/store.ts'

/** `ended`: the service no longer takes the session, while its pages are open. */
export interface SessionState {
  state: 'starting' | 'in' | 'out' | 'ended' | 'unreachable'
  user: User | undefined
}

export const session = new Store<SessionState>({ state: 'starting', user: undefined })

/** The browser keeps the token in a cookie that no script can read, this one included. */
export const client = createClient({
  base_url: '',
  auth: 'cookie',
  onSessionEnd: () =>
    session.update((now) => (now.user ? { ...now, state: 'ended' } : { state: 'out', user: undefined })),
})

/** Finds out whose session the browser has. */
export async function startSession() {
  try {
    await enter()
  } catch (error) {
    const isOut = isLockstepError(error, 'not_authenticated')
    session.set({ state: isOut ? 'out' : 'unreachable', user: undefined })
  }
}

/** Takes the session up again, as the same user or as another one. */
export async function logIn(email: string, password: string) {
  await client.login({ username: email, password })
  if (session.get().user?.email !== email) await forgetKept()
  await enter()
}

async function enter() {
  const user = await client.getMe()
  session.set({ state: 'in', user })
  void keepUser(user)
}

export async function logOut() {
  await client.logout()
  await forgetKept()
  session.set({ state: 'out', user: undefined })
}

/** A page inside knows who looks at it. */
export function me(): User {
  const { user } = session.get()
  if (!user) throw new Error('Nobody is logged in')
  return user
}
