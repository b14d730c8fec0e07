import { createClient, isLockstepError, LockstepError, type User } from '@lockstep/client'
import {
  beginLogin,
  endLogin,
  hasLoggedOut,
  isEndedBefore,
  isLoggedIn,
  loginOf,
  loginOfPage,
  loginTime,
  noteLogout,
  owesLogout,
  readLogin,
  resumeLogin,
} from './login.ts'
import { cacheUser, clearOfflineCache, readCachedUser } from './offline-cache.ts'
import { Store } from './ui/store.ts'

/** `ended`: the server no longer accepts the session, and its pages are still open. */
export interface SessionState {
  state: 'starting' | 'in' | 'out' | 'ended' | 'unreachable'
  user: User | undefined
}

export const session = new Store<SessionState>({ state: 'starting', user: undefined })
const loggedOut: SessionState = { state: 'out', user: undefined }

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
  onSessionEnd: endSession,
  beforeSend(operation) {
    // Another tab may have logged out, and another user in: their cookie must not be sent with what is in this page.
    if (operation === 'logout' || isLoggedIn()) return
    checkLogin()
    throw new LockstepError({ status: 401, code: 'not_authenticated', detail: 'This page is no longer logged in.' })
  },
})

/** Finds out whether the user of the stored login is still logged in. */
export async function startSession() {
  const login = resumeLogin()
  if (!login) {
    void clearOfflineCache()
    void sendLogout()
    return session.set(loggedOut)
  }
  try {
    await loadUser(1)
  } catch (error) {
    if (isLockstepError(error, 'not_authenticated')) return endSession()
    // The server is unreachable or overloaded: the cached boards can still be used.
    const isUnavailable =
      isLockstepError(error, 'network_failed', 'timed_out', 'unexpected_response') ||
      (isLockstepError(error) && (error.status >= 500 || error.status === 429))
    const user = isUnavailable ? await readCachedUser().catch(() => undefined) : undefined
    if (!isLoggedIn()) return leavePage()
    // So that the client reports the end of this session, although it was never accepted on this page.
    client.session.renew().catch(() => {})
    session.set(user?.id === login.user_id ? { state: 'in', user } : { state: 'unreachable', user: undefined })
  }
}

/** The password was right, but the browser did not keep the cookie of the session. */
export class CookieNotKept extends Error {}

/** Starts a session, as the same user or another one. */
export async function logIn(email: string, password: string) {
  const { user } = session.get()
  const before = loginOfPage()
  await logout
  // The cookie of another user must not be sent by tabs of the current one.
  if (email !== user?.email) endLogin()
  const token = await client.login({ username: email, password })
  const login = loginOf(token, readLogin())
  if (!beginLogin(login)) throw new CookieNotKept()
  const isOtherUser = user !== undefined && user.id !== login.user_id
  // What is in the memory of this page is of another user, or was changed after the sessions were ended.
  if (isOtherUser || (user && before && isEndedBefore(before.issued_at, login.sessions_ended_at))) {
    // The heading of the page takes the focus, as after any login.
    history.replaceState({ isAfterLogin: true }, '')
    return leavePage()
  }
  await loadUser().catch((error: unknown) => {
    if (!isLockstepError(error, 'not_authenticated')) throw error
    endLogin()
    throw new CookieNotKept()
  })
}

async function loadUser(maxTries?: number) {
  const user = await client.getMe({}, { maxTries })
  // The cookie is from a login that this page does not know.
  if (user.id !== loginOfPage()?.user_id) return endSession()
  session.set({ state: 'in', user })
  void cacheUser(user)
}

/** The service rejected the session. The user may log in again on the open page, which keeps its state. */
function endSession() {
  const { state, user } = session.get()
  if (state === 'out' || state === 'ended') return
  if (!isLoggedIn()) return void leavePage()
  endLogin()
  void clearOfflineCache()
  session.set(user ? { user, state: 'ended' } : loggedOut)
}

export const logOut = () => forgetLogin(isLoggedIn() ? 'owed' : 'confirmed')

/** The request under way. A login waits for it, because it deletes the cookie. */
let logout: Promise<void> | undefined

/** Without a network the cookie stays, which no script can delete: the request is sent again when the network is back. */
const sendLogout = () => {
  if (owesLogout()) logout ??= requestLogout().finally(() => (logout = undefined))
  return logout
}

async function requestLogout() {
  try {
    await client.logout({}, { maxTries: 1 })
  } catch (error) {
    if (!isLockstepError(error, 'not_authenticated')) return
  }
  if (owesLogout()) noteLogout('confirmed')
}

/** Ends the sessions on all devices, this one too. */
export async function logOutEverywhere() {
  await client.logoutEverywhere()
  await forgetLogin('confirmed')
}

/** The page starts again, so that nothing in its memory reaches the next user. It then sends a logout that is owed. */
async function forgetLogin(logout: 'owed' | 'confirmed') {
  noteLogout(logout)
  endLogin()
  session.set({ state: 'starting', user: undefined })
  await clearOfflineCache().catch(() => {})
  await leavePage()
}

/** Changes the password. This session survives it, so the login of this browser is newer than the end of the others. */
export async function changePassword(input: Parameters<typeof client.changePassword>[0]) {
  await client.changePassword(input)
  const token = await client.refresh().catch(() => undefined)
  const before = readLogin()
  if (token && before && isLoggedIn()) beginLogin({ ...loginOf(token), id: before.id })
}

/** Forgets everything in the memory of this page, and starts it again with the login that is stored. */
function leavePage(): Promise<never> {
  session.set({ state: 'starting', user: undefined })
  // A running upload would ask whether to leave.
  addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true })
  location.reload()
  return new Promise(() => {})
}

/** Compares this page with the stored login, which another tab may have changed while this one did not run. */
function checkLogin() {
  const { state } = session.get()
  if (state === 'out') void (readLogin() ? startSession() : sendLogout())
  else if (!isLoggedIn() && (state !== 'ended' || readLogin() || hasLoggedOut())) void leavePage()
}

/** The login with which a change is queued. Without one the change is discarded. */
export function loginOfChange(): string | undefined {
  const time = loginTime()
  if (time !== undefined) return time
  checkLogin()
  // The password dialog takes the focus, and a field that loses it saves: this is queued under the session that has ended.
  return session.get().state === 'ended' ? loginOfPage()?.issued_at : undefined
}

/** Other tabs log in and out, also while this one is suspended or in the back/forward cache. */
export function watchLogin() {
  for (const type of ['storage', 'pageshow', 'focus', 'online']) addEventListener(type, checkLogin)
  document.addEventListener('visibilitychange', checkLogin)
}

/** The logged-in user. Only for pages that require a login. */
export function me(): User {
  const { user } = session.get()
  if (!user) throw new Error('No user is logged in')
  return user
}
