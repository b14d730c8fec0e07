import { randomId, type Token } from '@lockstep/client'
import { readStored, writeStored } from './ui/browser-storage.ts'

/**
 * The login of this browser, stored where all its tabs can read it synchronously. Only a login writes it; every logout and every
 * rejected session removes it. Without it nothing is shown offline, no change is queued, and no request with the cookie is sent.
 */
export interface Login {
  id: string
  user_id: string
  /** When its token was issued, by the service's clock. */
  issued_at: string
  /** When sessions of the user were last ended. Changes that were queued under an earlier login are not sent. */
  sessions_ended_at: string | null
}

const LOGIN = 'login'
/** Set by a logout until the next login: `owed` while the service has not confirmed it. */
const LOGOUT = 'logout'

/** The login under which this page works. */
let login: Login | undefined

export function readLogin(): Login | undefined {
  try {
    return (JSON.parse(readStored(LOGIN) ?? 'null') as Login | null) ?? undefined
  } catch {
    return undefined
  }
}

/** The login of a new token. It continues a login of the same user whose sessions were not ended since. */
export function loginOf({ access_token, sessions_ended_at }: Token, before?: Login): Login {
  const payload = access_token.split('.')[1] ?? ''
  const { sub, iat } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as {
    sub: string
    iat: number
  }
  const continues = before?.user_id === sub && !isEndedBefore(before.issued_at, sessions_ended_at)
  const issued_at = new Date(iat * 1_000).toISOString()
  return { id: continues ? before.id : randomId(), user_id: sub, issued_at, sessions_ended_at }
}

/** Whether a login with this issue time ended when the user's sessions were ended. Both times are of the service's clock. */
export const isEndedBefore = (issued_at: string, sessions_ended_at: string | null | undefined) =>
  sessions_ended_at != null && issued_at < sessions_ended_at

/** The login of this page. It is known after its end. */
export const loginOfPage = () => login

/** Whether the login of this page is still that of the browser. */
export const isLoggedIn = () => login !== undefined && readLogin()?.id === login.id

/** The issue time of the current login, with which changes are queued. Undefined if no user or another one is logged in. */
export const loginTime = () => (isLoggedIn() ? readLogin()?.issued_at : undefined)

/** Continues the login that is stored. */
export function resumeLogin(): Login | undefined {
  login = readLogin()
  return login
}

/** Stores a login. False if the browser does not keep it. */
export function beginLogin(next: Login): boolean {
  login = next
  writeStored(LOGOUT, undefined)
  writeStored(LOGIN, JSON.stringify(next))
  return isLoggedIn()
}

/** Other tabs hear of it at once. */
export const endLogin = () => writeStored(LOGIN, undefined)

export const hasLoggedOut = () => readStored(LOGOUT) !== undefined
export const owesLogout = () => readStored(LOGOUT) === 'owed' && readLogin() === undefined
export const noteLogout = (state: 'owed' | 'confirmed') => writeStored(LOGOUT, state)
