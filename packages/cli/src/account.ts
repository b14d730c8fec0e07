import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Client, createClient } from '@lockstep/client'
import { EXIT, Failure, wrongUsage } from './failure.ts'

/** The stored login. */
export interface Login {
  url: string
  email: string
  token: string
}

const env = (name: string) => process.env[name] || undefined

/** Path of the login file. */
export const loginFile = () => join(env('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'lockstep', 'login.json')

export function readLogin(): Login | undefined {
  try {
    const { url, email, token } = JSON.parse(readFileSync(loginFile(), 'utf8'))
    return [url, email, token].every((field) => typeof field === 'string') ? { url, email, token } : undefined
  } catch {
    return undefined
  }
}

/** Writes the login file atomically, because two commands may renew at once. It is never readable by other users. */
export function saveLogin(login: Login): void {
  const file = loginFile()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(login)}\n`, { mode: 0o600 })
  // A temporary file left by a crash keeps its old mode.
  chmodSync(temporary, 0o600)
  renameSync(temporary, file)
}

/** Whether it is an access token, and not the token of a login. */
export const isAccessToken = (token: string) => /^ls[pb]_/.test(token)

export const deleteLogin = () => rmSync(loginFile(), { force: true })

/** Whether other users can read the login file. */
export const isLoginFileExposed = () => existsSync(loginFile()) && (statSync(loginFile()).mode & 0o077) !== 0

/** Normalizes a URL. Without a scheme it is HTTP for localhost and HTTPS otherwise. */
export function urlOf(typed: string): string {
  const isLocal = /^(localhost|127\.|\[::1\])/.test(typed)
  const text = /^[a-z]+:\/\//i.test(typed) ? typed : `${isLocal ? 'http' : 'https'}://${typed}`
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw wrongUsage(`${typed} is not an HTTP URL.`)
  const { origin, pathname } = new URL(text)
  return origin + pathname.replace(/\/+$/, '')
}

/** The URL to use: the argument, LOCKSTEP_URL, or the URL of the login. */
export function chosenUrl(given?: string): string | undefined {
  const typed = given ?? env('LOCKSTEP_URL')
  return typed === undefined ? readLogin()?.url : urlOf(typed)
}

/** LOCKSTEP_TOKEN, if it applies to this URL. */
function environmentToken(url: string): string | undefined {
  const tokenUrl = env('LOCKSTEP_URL')
  return tokenUrl === undefined || urlOf(tokenUrl) === url ? env('LOCKSTEP_TOKEN') : undefined
}

/**
 * A client for a URL, with LOCKSTEP_TOKEN or the token of a login at exactly this URL; a token is never sent to
 * another one. A renewed token is saved.
 */
export function clientFor(url: string): Client {
  const given = environmentToken(url)
  const stored = given === undefined ? readLogin() : undefined
  const login = stored?.url === url ? stored : undefined
  return createClient({
    baseUrl: url,
    strict: true,
    token: given ?? login?.token,
    onToken: (token) => {
      // Do not restore a login that was removed in another terminal.
      const isStillLoggedIn = login !== undefined && readLogin()?.email === login.email
      if (isStillLoggedIn && token !== undefined) saveLogin({ ...login, token })
    },
  })
}

/** What to do after the service rejected a token for this URL. Undefined for a login: only a person can log in again. */
export function adviceForToken(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  const rejected = 'is unknown, expired or revoked. Create another one in the settings of the web client'
  if (environmentToken(url) !== undefined) return `LOCKSTEP_TOKEN ${rejected}.`
  const stored = readLogin()
  const hasAccessToken = stored?.url === url && isAccessToken(stored.token)
  return hasAccessToken ? `The access token ${rejected}, then: lockstep login --token` : undefined
}

/** A client for the logged-in user. */
export function openClient(given?: string): Client {
  const url = chosenUrl(given)
  const client = url === undefined ? undefined : clientFor(url)
  if (client?.session.token !== undefined) return client
  const where = url === undefined ? '' : ` at ${url}`
  throw new Failure(`Not logged in${where}. Log in with: lockstep login`, EXIT.notLoggedIn, {
    code: 'not_authenticated',
  })
}

/**
 * Renews the token after half its lifetime. The client itself renews only near the end, which short commands rarely
 * reach.
 */
export async function renewIfHalfExpired({ session }: Client): Promise<void> {
  const { token, expiresAt } = session
  if (token === undefined || expiresAt === undefined) return
  const [iat, exp] = lifetimeOf(token)
  if (expiresAt - Date.now() > ((exp - iat) * 1000) / 2) return
  // Not essential: the next command tries again.
  await session.renew().catch(() => {})
}

function lifetimeOf(token: string): [iat: number, exp: number] {
  const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return [iat, exp]
}
