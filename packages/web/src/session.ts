import { createClient, isLockstepError, type User } from '@lockstep/client'
import { cacheUser, clearOfflineCache, readCachedUser } from './offline-cache.ts'
import { Store } from './ui/store.ts'

/** `ended`: the server no longer accepts the session, and its pages are still open. */
export interface SessionState {
  state: 'starting' | 'in' | 'out' | 'ended' | 'unreachable'
  user: User | undefined
}

export const session = new Store<SessionState>({ state: 'starting', user: undefined })

/** The requests that `early.js` sent before this script was loaded, by path. */
const { earlyResponses } = globalThis as { earlyResponses?: Map<string, Promise<Response>> }

/** `fetch`, except that the first request of an early path takes the response that is already under way. */
const earlyFetch: typeof fetch = (input, init) => {
  const path = init?.method === 'GET' && typeof input === 'string' ? input : ''
  const response = earlyResponses?.get(path)
  earlyResponses?.delete(path)
  return response ?? fetch(input, init)
}

/** The session token is in an HttpOnly cookie, which no script can read. */
export const client = createClient({
  baseUrl: '',
  auth: 'cookie',
  fetch: earlyFetch,
  onSessionEnd: () =>
    session.update((now) => (now.user ? { ...now, state: 'ended' } : { state: 'out', user: undefined })),
})

/** Finds out which user is logged in. */
export async function startSession() {
  try {
    await loadUser(1)
  } catch (error) {
    const isOut = isLockstepError(error, 'not_authenticated')
    // The server is unreachable or overloaded: the cached boards can still be used.
    const isUnavailable =
      isLockstepError(error, 'network_failed', 'timed_out', 'unexpected_response') ||
      (isLockstepError(error) && (error.status >= 500 || error.status === 429))
    const user = isUnavailable ? await readCachedUser().catch(() => undefined) : undefined
    session.set({ state: user ? 'in' : isOut ? 'out' : 'unreachable', user })
  }
}

/** The password was right, but the browser did not keep the cookie of the session. */
export class CookieNotKept extends Error {}

/** Starts a session, as the same user or another one. */
export async function logIn(email: string, password: string) {
  await client.login({ username: email, password })
  await loadUser().catch((error: unknown) => {
    throw isLockstepError(error, 'not_authenticated') ? new CookieNotKept() : error
  })
}

async function loadUser(maxTries?: number) {
  const user = await client.getMe({}, { maxTries })
  session.set({ state: 'in', user })
  void cacheUser(user)
}

export async function logOut() {
  await client.logout()
  void clearOfflineCache()
  session.set({ state: 'out', user: undefined })
}

/** Ends the sessions on all devices, this one too. */
export async function logOutEverywhere() {
  await client.logoutEverywhere().catch((error: unknown) => {
    // An earlier attempt may have succeeded although its response was lost.
    if (!isLockstepError(error, 'not_authenticated')) throw error
  })
  void clearOfflineCache()
  session.set({ state: 'out', user: undefined })
}

/** The logged-in user. Only for pages that require a login. */
export function me(): User {
  const { user } = session.get()
  if (!user) throw new Error('No user is logged in')
  return user
}
