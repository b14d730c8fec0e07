import { demand, fits, same } from './demand.ts'
import { Listener } from './listener.ts'
import { NotRun, row, unseen } from './rows.ts'
import { furnished } from './samples.ts'
import { cast, PASSWORD, type Service } from './service.ts'
import { integer, listOf, object, text, uuid } from './shapes.ts'

const decode = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as unknown
const Claims = object('the claims', { sub: uuid, aud: listOf(text), exp: integer, iat: integer })

/** A valid token with another signature. */
export const forged = (token: string) => {
  const [header, claims, signature = ''] = token.split('.')
  return [header, claims, (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)].join('.')
}
/** A token for another user, with the signature of a good one. */
const impersonating = (token: string, sub: string) => {
  const [header, claims, signature] = token.split('.')
  const altered = { ...(decode(claims) as object), sub }
  return [header, Buffer.from(JSON.stringify(altered)).toString('base64url'), signature].join('.')
}

row('5-1-algorithm', 'Tokens are JWTs signed with HS256.', async (service) => {
  const { owner } = await service.once(cast)
  same('the algorithm', (decode(owner.token.split('.')[0]) as { alg: string }).alg, 'HS256')
})
row('5-1-lifetime', 'A token lives 3600 seconds by default.', async (service) => {
  const { owner } = await service.once(cast)
  const claims = decode(owner.token.split('.')[1])
  fits(Claims, claims, 'the claims')
  same('exp - iat', claims.exp - claims.iat, 3_600)
})
row(
  '5-2',
  'Claims: sub (user id), aud (array holding one constant audience string), exp and iat (seconds since epoch).',
  async (service) => {
    const { owner, member } = await service.once(cast)
    const [mine, other] = [owner, member].map(({ token }) => decode(token.split('.')[1]))
    fits(Claims, mine, 'the claims')
    fits(Claims, other, 'the claims')
    same('sub', mine.sub, owner.id)
    same('the length of aud', mine.aud.length, 1)
    same('aud of another user', other.aud, mine.aud)
    demand(Math.abs(mine.iat - Date.now() / 1_000) < 600, `iat is ${mine.iat}, not the time of the login in seconds`)
  },
)
row('5-3-bearer', 'A client authenticates by the header Authorization: Bearer.', async (service) => {
  const { owner } = await service.once(cast)
  await owner.get('/auth/me')
})
row('5-3-cookie', 'A client authenticates by the cookie svc_auth carrying the token.', async (service) => {
  const { owner } = await service.once(cast)
  const { status, body } = await service.anybody.send('GET', '/auth/me', undefined, {
    cookie: `svc_auth=${owner.token}`,
  })
  same('the status', status, 200)
  same('the user', (body as { id: string }).id, owner.id)
})
row('5-3-cookie-write', 'The cookie authenticates changes as well.', async (service) => {
  const { owner } = await service.once(cast)
  const { body } = await service.anybody.send(
    'POST',
    '/boards',
    { title: 'Plan' },
    { cookie: `svc_auth=${owner.token}` },
  )
  same('created_by', (body as { created_by: string } | undefined)?.created_by, owner.id)
})
row('5-3-other-scheme', 'Beside a valid cookie, a header of another scheme changes nothing.', async (service) => {
  const { owner } = await service.once(cast)
  const headers = { cookie: `svc_auth=${owner.token}`, authorization: 'Basic cHJveHk6cGFzc3dvcmQ=' }
  const { status, body } = await service.anybody.send('GET', '/auth/me', undefined, headers)
  same('the status', status, 200)
  same('the user', (body as { id: string }).id, owner.id)
})
const bad: [name: string, what: string, make: (token: string, other: string) => string][] = [
  ['none', 'no token', () => ''],
  ['garbage', 'no JWT', () => 'garbage'],
  ['forged', 'a wrong signature', (token) => forged(token)],
  ['altered', "another user's id under the signature", (token, other) => impersonating(token, other)],
  [
    'unsigned',
    'the algorithm none',
    (token) => `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${token.split('.')[1]}.`,
  ],
]
for (const [name, what, make] of bad) {
  row(
    `5-3-${name}`,
    `A credential with ${what} does not authenticate, neither as header nor as cookie.`,
    async (service) => {
      const { owner, member } = await service.once(cast)
      const token = make(owner.token, member.id)
      await service.anybody.refusedSomehow('GET', '/auth/me', undefined, { authorization: `Bearer ${token}` })
      await service.anybody.refusedSomehow('GET', '/auth/me', undefined, { cookie: `svc_auth=${token}` })
    },
  )
}

/** A login that sets a cookie. The specification leaves open how to request it; this service uses a form field. */
export async function cookieLogin(service: Service) {
  const { owner } = await service.once(cast)
  const form = new URLSearchParams({ username: owner.user.email, password: PASSWORD, cookie: 'true' })
  const { headers } = await service.anybody.send('POST', '/auth/login', form)
  return cookieIn(headers)
}
function cookieIn(headers: Headers) {
  const cookie = headers.getSetCookie().find((line) => line.startsWith('svc_auth='))
  if (cookie === undefined) throw new NotRun('this service is not in cookie mode')
  const [pair = '', ...attributes] = cookie.split(';').map((part) => part.trim())
  return { value: pair.slice('svc_auth='.length), attributes: attributes.map((name) => name.toLowerCase()) }
}
for (const attribute of ['Path=/', 'HttpOnly', 'SameSite=Lax', 'Max-Age=3600']) {
  row(
    `5-4-${attribute.split('=')[0]?.toLowerCase()}`,
    `In cookie mode, login sets svc_auth with ${attribute}.`,
    async (service) => {
      const { attributes } = await service.once(cookieLogin)
      demand(attributes.includes(attribute.toLowerCase()), `the attributes are ${attributes.join('; ')}`)
    },
  )
}
row('5-4-works', 'The cookie that login sets authenticates.', async (service) => {
  const { value } = await service.once(cookieLogin)
  const { status } = await service.anybody.send('GET', '/auth/me', undefined, { cookie: `svc_auth=${value}` })
  same('the status', status, 200)
})
row('5-4-logout', 'Logout clears the cookie.', async (service) => {
  const { value } = await service.once(cookieLogin)
  const { headers } = await service.anybody.send('POST', '/auth/logout', undefined, { cookie: `svc_auth=${value}` })
  const cleared = cookieIn(headers)
  const isGone = cleared.attributes.some((a) => a === 'max-age=0' || Date.parse(a.replace('expires=', '')) < Date.now())
  demand(isGone, `the cookie is set with ${cleared.attributes.join('; ')}`)
})
unseen(
  '5-4-secure',
  'A production cookie is also flagged Secure.',
  'whether a service is in production is its own setting',
)
unseen(
  '5-5',
  "Only active users authenticate; a deactivated user's token is rejected.",
  'no operation deactivates a user',
)
unseen('5-6', 'Superuser-only operations require an active superuser.', 'the operations are not listed')

row(
  '5-7-token',
  'WebSocket: without a valid token in the query the connection is closed with code 1008.',
  async (service) => {
    const { owner, board_id } = await service.once(furnished)
    for (const token of [undefined, 'garbage', forged(owner.token)]) {
      using listener = new Listener(service, board_id, { token })
      same('the code', (await listener.end()).code, 1008)
    }
  },
)
row('5-7-member', 'WebSocket: the connection of a non-member is closed with code 1008.', async (service) => {
  const { nonMember, board_id } = await service.once(furnished)
  using listener = new Listener(service, board_id, { token: nonMember.token })
  same('the code', (await listener.end()).code, 1008)
})
unseen('5-10', 'Unsafe production configuration is rejected at startup.', 'a running service was not rejected')
unseen('5-11-argon2', 'Passwords are hashed with Argon2.', 'hashes are never returned')
row('5-11', 'A password change requires current_password: a wrong one changes nothing.', async (service) => {
  const person = await service.person()
  const change = { current_password: `${PASSWORD}!`, new_password: `${PASSWORD} new` }
  await person.refusedSomehow('POST', '/auth/change-password', change)
  await service.token(person.user.email)
})
