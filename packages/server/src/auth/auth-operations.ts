import type { authOperations } from '@lockstep/contract/auth'
import type { JsonText } from '@lockstep/contract/operation'
import type { User } from '@lockstep/contract/users'
import { stringifySetCookie } from 'cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { v7 as newUuid } from 'uuid'
import { record, resetPasswordByLink } from '../administration/admin-steps.ts'
import { readResetLink } from '../administration/reset-link-queries.ts'
import { isRevoked, sessionOf } from '../core/authorize.ts'
import type { Database, Db } from '../database/database.ts'
import { releaseSlotWhile } from '../http/admission.ts'
import { COOKIE, hasCookie } from '../http/authenticate.ts'
import type { Handlers } from '../http/handler.ts'
import { insertInvitedUser, previewInvitation } from '../invitations/invitation-queries.ts'
import { Problem } from '../platform/problem.ts'
import { hashOfToken, requireLink } from '../security/links.ts'
import type { RateLimits } from '../security/rate-limits.ts'
import { TICKET_SECONDS, type Tokens } from '../security/tokens.ts'
import { countTokens } from '../tokens/token-queries.ts'
import { changePasswordAndRevokeTokens } from '../tokens/token-steps.ts'
import {
  changePassword,
  endAllSessions,
  insertUser,
  keyOf,
  readLogin,
  readOwnPassword,
  readTokenStart,
  readUser,
  type TokenStart,
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
  database: Database
  tokens: Tokens
  passwords: Passwords
  limits: RateLimits
  settings: AuthSettings
  isOwnOrigin: (request: FastifyRequest) => boolean
  /** The form in which the log may name an account. */
  hashAccount: (account: string) => string
  /** Called when a user's tokens may have been revoked, to check the user's sockets again. */
  userChanged: (user_id: string) => void
}

export function authHandlers({
  database,
  tokens,
  passwords,
  limits,
  settings,
  isOwnOrigin,
  hashAccount,
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
  const tokenResponse = (access_token: string, { tokens_valid_from }: Pick<TokenStart, 'tokens_valid_from'>) =>
    ({
      access_token,
      token_type: 'bearer',
      sessions_ended_at: tokens_valid_from === null ? null : new Date(tokens_valid_from * 1_000).toISOString(),
    }) as const

  /** Rejects an invitation that cannot be used, before the password is hashed. */
  const requireInvitation = async (db: Db, token_hash: string, email: string, address: string) => {
    const { email_key, is_claimed } = await requireLink(limits, address, () => previewInvitation(db, token_hash))
    if (is_claimed) throw new Problem('link_invalid')
    if (email_key !== null && email_key !== keyOf(email)) throw new Problem('wrong_invited_email')
  }

  return {
    async register({ db, body, request }) {
      const { password, firstname = null, lastname = null, invitation = null, ...fields } = body
      if (!settings.isRegistrationOpen && invitation === null) throw new Problem('registration_closed')
      const token_hash = invitation === null ? undefined : hashOfToken(invitation)
      if (token_hash !== undefined) await requireInvitation(db, token_hash, fields.email, request.ip)
      passwords.requireStrong(password, fields)
      const excess = await limits.registration(request.ip)
      if (excess) throw excess
      const hashed_password = await releaseSlotWhile(request, () => passwords.hash(password, request.ip))
      const user = { ...fields, id: newUuid(), hashed_password, firstname, lastname, is_superuser: false }
      if (token_hash === undefined) return insertUser(db, user)
      const invited = await insertInvitedUser(db, user, token_hash)
      if (!invited) throw new Problem('link_invalid')
      return invited
    },

    async login({ db, body, request, reply }) {
      const wantsCookie = settings.isCookieDefault || body.cookie === 'true'
      if (wantsCookie && !isOwnOrigin(request)) throw new Problem('foreign_origin')
      const account = keyOf(body.username)
      const excess = await limits.loginAttempt(account, request.ip)
      if (excess) throw excess
      const user = await readLogin(db, body.username)
      const failures = limits.login(account, user?.hashed_password ?? '', request.ip)
      await failures.require()
      const hashed_password = user?.is_active ? user.hashed_password : undefined
      const isCorrect = await releaseSlotWhile(request, () =>
        passwords.isCorrect(hashed_password, body.password, { failures, address: request.ip }),
      )
      const current = user && isCorrect ? await readTokenStart(db, user.id) : undefined
      if (!user || !current?.is_active || current.hashed_password !== user.hashed_password) {
        request.log.info({ account: hashAccount(account), address: request.ip }, 'login failed')
        throw new Problem('login_failed')
      }
      if (current.is_superuser) await record(db, { actor_id: user.id }, 'login', user.id)
      const token = await tokens.issue(user.id, current.issued_at)
      if (wantsCookie) setCookie(reply, token)
      return tokenResponse(token, current)
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
      const credential = sessionOf(caller)
      const { logged_in_at } = credential
      if (caller.now_seconds - logged_in_at > settings.sessionMaxAgeSeconds) throw new Problem('session_too_old')
      const current = await readTokenStart(db, caller.id)
      if (!current || isRevoked(credential, current)) throw new Problem('not_authenticated')
      const token = await tokens.issue(caller.id, current.issued_at, logged_in_at)
      if (hasCookie(request)) setCookie(reply, token)
      return tokenResponse(token, current)
    },

    async createTicket({ caller }) {
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
      const { token_hash } = sessionOf(caller)
      const change = { id: caller.id, old_hash, new_hash, token_hash }
      const isChanged = body.revoke_tokens
        ? await changePasswordAndRevokeTokens(database, change)
        : await changePassword(db, change)
      if (!isChanged) throw new Problem('wrong_password')
      userChanged(caller.id)
      return { detail: `Password changed.${stayingTokens(await countTokens(db, caller.id))}` }
    },

    async resetPasswordByLink({ db, body, request }) {
      const token_hash = hashOfToken(body.token)
      const { user_id, ...user } = await requireLink(limits, request.ip, () => readResetLink(db, token_hash))
      passwords.requireStrong(body.new_password, user)
      const hashed_password = await releaseSlotWhile(request, () => passwords.hash(body.new_password, request.ip))
      await resetPasswordByLink(database, { user_id, token_hash }, hashed_password)
      userChanged(user_id)
      return { detail: 'Password changed.' }
    },
  }
}

/** A password change does not revoke access tokens unless asked to, so it says how many stay valid. */
const stayingTokens = (count: number) =>
  count === 0 ? '' : ` ${count} access token${count === 1 ? ' stays' : 's stay'} valid.`

/** The caller's account. It may have been deleted since the caller was authenticated. */
async function readMe(db: Db, id: string): Promise<JsonText<User>> {
  const me = await readUser(db, id)
  if (!me) throw new Problem('not_authenticated')
  return me
}
