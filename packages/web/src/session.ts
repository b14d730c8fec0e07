import { createClient, isLockstepError, type User } from '@lockstep/client'
import { forgetKept, keepUser, keptUser } from './kept-data.ts'
import { Store } from './ui/store.ts'

/** `ended`: the service no longer takes the session, while its pages are open. */
export interface SessionState {
  state: 'starting' | 'in' | 'out' | 'ended' | 'unreachable'
  user: User | undefined
}

export const session = new Store<SessionState>({ state: 'starting', user: undefined })

/** The browser keeps the token in a cookie that no script can read, this one included. */
export const client = createClient({
  baseUrl: '',
  auth: 'cookie',
  onSessionEnd: () =>
    session.update((now) => (now.user ? { ...now, state: 'ended' } : { state: 'out', user: undefined })),
})

/** Finds out whose session the browser has. */
export async function startSession() {
  try {
    await enter(1)
  } catch (error) {
    const isOut = isLockstepError(error, 'not_authenticated')
    // The service is away or overloaded: the boards that this browser has stored can be used all the same.
    const isAway =
      isLockstepError(error, 'network_failed', 'timed_out', 'unexpected_response') ||
      (isLockstepError(error) && (error.status >= 500 || error.status === 429))
    const user = isAway ? await keptUser().catch(() => undefined) : undefined
    session.set({ state: user ? 'in' : isOut ? 'out' : 'unreachable', user })
  }
}

/** Takes the session up again, as the same user or as another one. */
export async function logIn(email: string, password: string) {
  await client.login({ username: email, password })
  await enter()
}

async function enter(max_tries?: number) {
  const user = await client.getMe({}, { maxTries: max_tries })
  session.set({ state: 'in', user })
  void keepUser(user)
}

export async function logOut() {
  await client.logout()
  void forgetKept()
  session.set({ state: 'out', user: undefined })
}

/** Ends the sessions on all devices, this one too. */
export async function logOutEverywhere() {
  await client.logoutEverywhere().catch((error: unknown) => {
    // An earlier try may have arrived although its answer was lost.
    if (!isLockstepError(error, 'not_authenticated')) throw error
  })
  void forgetKept()
  session.set({ state: 'out', user: undefined })
}

/** A page inside knows who looks at it. */
export function me(): User {
  const { user } = session.get()
  if (!user) throw new Error('Nobody is logged in')
  return user
}
