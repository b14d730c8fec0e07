import { demand, fits, same } from './demand.ts'
import { User } from './resources.ts'
import { row } from './rows.ts'
import { cast, PASSWORD } from './service.ts'
import { listOf, object, text } from './shapes.ts'

const fresh = () => {
  const username = `user-${crypto.randomUUID().slice(0, 13)}`
  return { username, email: `${username}@example.com`, password: PASSWORD }
}
const form = (username: string, password = PASSWORD) => new URLSearchParams({ username, password })

row('4.1-register', 'POST /auth/register returns 201 with the public user object.', async ({ anybody }) => {
  const account = { ...fresh(), firstname: 'Ada', lastname: 'Lovelace' }
  const { status, body } = await anybody.send('POST', '/auth/register', account)
  same('the status', status, 201)
  fits(User, body, 'the user')
  const { email, username, firstname, lastname } = body
  same('the user', { email, username, firstname, lastname, password: PASSWORD }, account)
})
row('4.1-register-optional', 'firstname and lastname are optional.', async ({ anybody }) => {
  const { firstname, lastname } = await anybody.post<User>('/auth/register', fresh())
  same('firstname, lastname', [firstname, lastname], [null, null])
})
for (const field of ['email', 'username', 'password'] as const) {
  row(`4.1-register-${field}`, `${field} is required to register.`, async (service) => {
    // The user must have been registered with all of these fields.
    await service.once(cast)
    const { [field]: _, ...rest } = fresh()
    await service.anybody.refusedSomehow('POST', '/auth/register', rest)
  })
}
row(
  '4.1-login',
  'POST /auth/login takes a form whose username carries the e-mail address, and returns 200 with access_token and token_type bearer.',
  async (service) => {
    const { owner } = await service.once(cast)
    const { status, body } = await service.anybody.send('POST', '/auth/login', form(owner.user.email))
    same('the status', status, 200)
    fits(object('a token', { access_token: text, token_type: text }), body, 'the response')
    same('token_type', body.token_type.toLowerCase(), 'bearer')
  },
)
row('4.1-login-wrong', 'A wrong password gets no token.', async (service) => {
  const { owner } = await service.once(cast)
  await service.anybody.refusedSomehow('POST', '/auth/login', form(owner.user.email, `${PASSWORD}!`))
})
row('4.1-logout', 'POST /auth/logout returns 200.', async (service) => {
  const { status } = await (await service.person()).send('POST', '/auth/logout')
  same('the status', status, 200)
})
row('4.1-me', 'GET /auth/me returns 200 with the public user object.', async (service) => {
  const { owner } = await service.once(cast)
  const { status, body } = await owner.send('GET', '/auth/me')
  same('the status', status, 200)
  fits(User, body, 'the user')
  same('the user', User.project(body), User.project(owner.user))
})
row(
  '4.1-update-me',
  'PATCH /auth/me changes firstname or lastname alone, and returns 200 with the public user after the change.',
  async (service) => {
    const person = await service.person()
    const { status, body } = await person.send('PATCH', '/auth/me', { firstname: 'Ada' })
    same('the status', status, 200)
    fits(User, body, 'the user')
    const { firstname, lastname } = await person.patch<User>('/auth/me', { lastname: 'Lovelace' })
    same('the names', [firstname, lastname], ['Ada', 'Lovelace'])
    same('the user', User.project(await person.get('/auth/me')), User.project({ ...person.user, firstname, lastname }))
  },
)
row(
  '4.1-change-password',
  'POST /auth/change-password returns 200; from then on the new password logs in and the old one does not.',
  async (service) => {
    const person = await service.person()
    const change = { current_password: PASSWORD, new_password: `${PASSWORD} new` }
    const { status } = await person.send('POST', '/auth/change-password', change)
    same('the status', status, 200)
    await service.token(person.user.email, change.new_password)
    await service.anybody.refusedSomehow('POST', '/auth/login', form(person.user.email))
  },
)
for (const field of ['current_password', 'new_password'] as const) {
  row(`4.1-change-password-${field}`, `${field} is required to change the password.`, async (service) => {
    const { owner } = await service.once(cast)
    const { [field]: _, ...rest } = { current_password: PASSWORD, new_password: `${PASSWORD} new` }
    await owner.refusedSomehow('POST', '/auth/change-password', rest)
    await service.token(owner.user.email)
  })
}

row('4.2-read-user', 'GET /users/{user_id} returns the profile of any user.', async (service) => {
  const { owner, nonMember } = await service.once(cast)
  const profile = await nonMember.get(`/users/${owner.id}`)
  fits(User, profile, 'the profile')
  same('the profile', User.project(profile), User.project(owner.user))
})
row('4.2-read-user-404', 'GET /users/{user_id} is 404 when the user does not exist.', async (service) => {
  const { owner } = await service.once(cast)
  await owner.rejected(404, 'GET', `/users/${crypto.randomUUID()}`)
})
row('4.2-list-users', 'GET /users returns a list of users.', async (service) => {
  const { owner } = await service.once(cast)
  const users = await owner.get('/users')
  fits(listOf(User), users, 'the users')
  demand(users.length > 0, 'the list is empty')
})

row(
  '4.3-health',
  'GET /health needs no credential and returns status, and two strings for the connectivity of the stores.',
  async ({ anybody }) => {
    const health = await anybody.get<Record<string, unknown>>('/health')
    same('the type of status', typeof health['status'], 'string')
    const strings = Object.values(health).filter((value) => typeof value === 'string')
    same('the number of string fields', strings.length, 3)
  },
)
