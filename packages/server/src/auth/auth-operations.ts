import type { authOperations } from '@lockstep/contract/auth'
import type { JsonText } from '@lockstep/contract/operation'
import type { User } from '@lockstep/contract/users'
import { stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { v7 as newUuid } from 'uuid'
import { isRevoked } from '../core/authorize.ts'
import type { Db } from '../database/database.ts'
import { COOKIE, hasCookie } from '../http/authenticate.ts'
import { releaseSlotWhile } from '../http/edge/admission-middleware.ts'
import type { Handlers } from '../http/handler.ts'
import { Problem } from '../platform/problem.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import { TICKET_SECONDS, type Tokens } from '../security/tokens.ts'
import {
  changePassword,
  endAllSessions,
  insertUser,
  keyOf,
  readLogin,
  readOwnPassword,
  readTokenStart,
  readUser,
  updateProfile,
} from '../users/user-queries.ts'
import type { Passwords } from './passwords.ts'

/** An expiry in the past makes the browser delete the cookie. */
const LONG_AGO = new Date(1)

export interface AuthSettings {
  isRegistrationOpen: boolean
  /** Whether every login sets the cookie, or only those that ask for it. */
  isCookieDefault: boolean
  isCookieSecure: boolean
  sessionMaxAgeSeconds: number
}

interface AuthDeps {
  tokens: Tokens
  passwords: Passwords
  limits: RateLimits
  settings: AuthSettings
  isOwnOrigin: (request: FastifyRequest) => boolean
  /** Called when a user's tokens may have been revoked, to check the user's sockets again. */
  userChanged: (user_id: string) => void
}

export function authHandlers({
  tokens,
  passwords,
  limits,
  settings,
  isOwnOrigin,
  userChanged,
}: AuthDeps): Handlers<typeof authOperations> {
  const cookie = {
    name: COOKIE,
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: settings.isCookieSecure,
  } as const
  const setCookie = (reply: FastifyReply, token: string) =>
    reply.header('set-cookie', stringifySetCookie({ ...cookie, value: token, maxAge: tokens.lifetimeSeconds }))
  const clearCookie = (reply: FastifyReply) =>
    reply.header('set-cookie', stringifySetCookie({ ...cookie, value: '', expires: LONG_AGO }))
  const tokenResponse = (reply: FastifyReply, access_token: string) => {
    reply.header('cache-control', 'no-store')
    return { access_token, token_type: 'bearer' } as const
  }

  return {
    async register({ db, body, request }) {
      if (!settings.isRegistrationOpen) throw new Problem('registration_closed')
      const { password, firstname = null, lastname = null, ...user } = body
      passwords.requireStrong(password, user)
      const excess = await limits.registration(request.ip)
      if (excess) throw excess
      const hashed_password = await releaseSlotWhile(request, () => passwords.hash(password, request.ip))
      return insertUser(db, { ...user, id: newUuid(), hashed_password, firstname, lastname, is_superuser: false })
    },

    async login({ db, body, request, reply }) {
      const wantsCookie = settings.isCookieDefault || body.cookie === 'true'
      if (wantsCookie && !isOwnOrigin(request)) throw new Problem('foreign_origin')
      const excess = await limits.loginAttempt(keyOf(body.username), request.ip)
      if (excess) throw excess
      const user = await readLogin(db, body.username)
      const failures = limits.login(keyOf(body.username), user?.hashed_password ?? '', request.ip)
      await failures.require()
      const hashed_password = user?.is_active ? user.hashed_password : undefined
      const isCorrect = await releaseSlotWhile(request, () =>
        passwords.isCorrect(hashed_password, body.password, { failures, address: request.ip }),
      )
      if (!user || !isCorrect) throw new Problem('login_failed')
      const current = await readTokenStart(db, user.id)
      if (!current?.is_active || current.hashed_password !== user.hashed_password) throw new Problem('login_failed')
      const token = await tokens.issue(user.id, current.issued_at)
      if (wantsCookie) setCookie(reply, token)
      return tokenResponse(reply, token)
    },

    async logout({ reply }) {
      clearCookie(reply)
      return { detail: 'Logged out.' }
    },

    async logoutEverywhere({ db, caller, reply }) {
      await endAllSessions(db, caller.id)
      userChanged(caller.id)
      clearCookie(reply)
      return { detail: 'All sessions are logged out.' }
    },

    async refresh({ db, caller, request, reply }) {
      const { credential } = caller
      const { logged_in_at } = credential
      if (caller.now_seconds - logged_in_at > settings.sessionMaxAgeSeconds) throw new Problem('session_too_old')
      const current = await readTokenStart(db, caller.id)
      if (!current || isRevoked(credential, current)) throw new Problem('not_authenticated')
      const token = await tokens.issue(caller.id, current.issued_at, logged_in_at)
      if (hasCookie(request)) setCookie(reply, token)
      return tokenResponse(reply, token)
    },

    async createTicket({ caller, reply }) {
      reply.header('cache-control', 'no-store')
      return { ticket: await tokens.issueTicket(caller.credential, caller.now_seconds), expires_in: TICKET_SECONDS }
    },

    getMe: ({ db, caller }) => readMe(db, caller.id),

    async updateMe({ db, caller, body }) {
      return (await updateProfile(db, caller.id, body)) ?? readMe(db, caller.id)
    },

    async changePassword({ db, caller, body, request }) {
      const { hashed_password: old_hash, ...user } = await readOwnPassword(db, caller.id)
      const failures = limits.passwordChange(caller.id, old_hash)
      await failures.require()
      const isCorrect = await releaseSlotWhile(request, () =>
        passwords.isCorrect(old_hash, body.current_password, { failures, address: request.ip }),
      )
      if (!isCorrect) throw new Problem('wrong_password')
      passwords.requireStrong(body.new_password, user)
      const new_hash = await releaseSlotWhile(request, () => passwords.hash(body.new_password, request.ip))
      const { token_hash } = caller.credential
      if (!(await changePassword(db, { id: caller.id, old_hash, new_hash, token_hash })))
        throw new Problem('wrong_password')
      userChanged(caller.id)
      return { detail: 'Password changed.' }
    },
  }
}

/** The caller's account. It may have been deleted since the caller was authenticated. */
async function readMe(db: Db, id: string): Promise<JsonText<User>> {
  const me = await readUser(db, id)
  if (!me) throw new Problem('not_authenticated')
  return me
}
