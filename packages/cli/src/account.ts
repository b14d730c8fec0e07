import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Client, createClient } from '@lockstep/client'
import { EXIT, Failure, wrongUsage } from './failure.ts'

/** Who is logged in, and where: what is kept in the file. */
export interface Login {
  url: string
  email: string
  token: string
}

const env = (name: string) => process.env[name] || undefined

/** Where the login is kept. */
export const loginFile = () => join(env('XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'lockstep', 'login.json')

export function readLogin(): Login | undefined {
  try {
    const { url, email, token } = JSON.parse(readFileSync(loginFile(), 'utf8'))
    return [url, email, token].every((field) => typeof field === 'string') ? { url, email, token } : undefined
  } catch {
    return undefined
  }
}

/** Readable by its owner alone from its first byte on, and never half written: two commands may renew at once. */
export function keepLogin(login: Login): void {
  const file = loginFile()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(login)}\n`, { mode: 0o600 })
  // A draft that a crash left behind keeps the mode that it had.
  chmodSync(draft, 0o600)
  renameSync(draft, file)
}

export const forgetLogin = () => rmSync(loginFile(), { force: true })

/** Whether others on this machine may read the file. */
export const isLoginExposed = () => existsSync(loginFile()) && (statSync(loginFile()).mode & 0o077) !== 0

/** A URL as it was typed: without a scheme it is plain HTTP on this machine, and HTTPS elsewhere. */
export function urlOf(typed: string): string {
  const isHere = /^(localhost|127\.|\[::1\])/.test(typed)
  const text = /^[a-z]+:\/\//i.test(typed) ? typed : `${isHere ? 'http' : 'https'}://${typed}`
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw wrongUsage(`${typed} is no HTTP address.`)
  const { origin, pathname } = new URL(text)
  return origin + pathname.replace(/\/+$/, '')
}

/** The address to use: the one that was given, LOCKSTEP_URL, or the one of the login. */
export function chosenUrl(given?: string): string | undefined {
  const typed = given ?? env('LOCKSTEP_URL')
  return typed === undefined ? readLogin()?.url : urlOf(typed)
}

/** LOCKSTEP_TOKEN, if it is meant for this address. */
function tokenOfEnvironment(url: string): string | undefined {
  const only = env('LOCKSTEP_URL')
  return only === undefined || urlOf(only) === url ? env('LOCKSTEP_TOKEN') : undefined
}

/**
 * A client with the token for this address: LOCKSTEP_TOKEN, or that of a login at exactly this address, which no other place
 * is shown. A token that it renews takes the place of the old one in the file.
 */
export function clientFor(url: string): Client {
  const given = tokenOfEnvironment(url)
  const kept = given === undefined ? readLogin() : undefined
  const login = kept?.url === url ? kept : undefined
  return createClient({
    base_url: url,
    token: given ?? login?.token,
    onToken: (token) => {
      // Who logged out meanwhile, in another window, stays logged out.
      const isWanted = login !== undefined && readLogin()?.email === login.email
      if (isWanted && token !== undefined) keepLogin({ ...login, token })
    },
  })
}

/** A client of somebody who is logged in. */
export function openClient(given?: string): Client {
  const url = chosenUrl(given)
  const client = url === undefined ? undefined : clientFor(url)
  if (client?.session.token !== undefined) return client
  const where = url === undefined ? '' : ` at ${url}`
  throw new Failure(`Nobody is logged in${where}. Log in with: lockstep login`, EXIT.not_logged_in, {
    code: 'not_authenticated',
  })
}

/**
 * Gets a new token when half the time of the present one is over. The client does so only near its end, which a command that
 * runs for a moment would rarely meet; so a login lasts as long as it is used.
 */
export async function renewInTime({ session }: Client): Promise<void> {
  const { token, expires_at } = session
  if (token === undefined || expires_at === undefined) return
  const [iat, exp] = timesOf(token)
  if (expires_at - Date.now() > ((exp - iat) * 1000) / 2) return
  // It is no part of what was asked for; the next command tries again.
  await session.renew().catch(() => {})
}

function timesOf(token: string): [iat: number, exp: number] {
  const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return [iat, exp]
}
