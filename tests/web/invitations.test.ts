// @module-tag journey
import { MARK, PASSWORD, startService, type TestService, type TestUser } from '@lockstep/testing/service'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { toastOf } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

/** The service of the pages: registration is closed, and the directory as in production. */
let env: TestEnvironment
/** An instance on the same database, on which tests register users and administer. */
let open: TestService
beforeAll(async () => {
  env = await openEnvironment({ REGISTRATION: 'closed', USER_SEARCH: 'limited' })
  open = await startService({ ADMIN_API: 'on' }, { beside: env.service })
})
afterAll(async () => {
  await open.stop()
  await env.close()
})

async function newBoard() {
  const ada = await open.user()
  await ada.api.call('updateMe', { body: { firstname: 'Ada', lastname: 'Lovelace' } })
  const { id } = await ada.api.call('createBoard', { body: { title: 'Plan' } })
  return { ada, id }
}
async function linkTo({ ada, id }: { ada: TestUser; id: string }, body: { role?: 'owner'; email?: string } = {}) {
  const { link } = await ada.api.call('createInvitation', { params: { board_id: id }, body })
  return link.replace('/app', '')
}
async function superuser(): Promise<TestUser> {
  const user = await open.user()
  await open.sql.query('update users set is_superuser = true where id = $1', [user.id])
  return user
}
const fill = async (page: Page, fields: Record<string, string>) => {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value)
}

test('[INVITE-14] [INVITE-15] an invited colleague without an account is on the board within a minute, while registration is closed', {
  tags: ['smoke'],
}, async () => {
  const board = await newBoard()
  const inviting = await env.openPage(board.ada, `/b/${board.id}/members`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await inviting.getByRole('button', { name: 'Copy invitation link' }).click()
  const field = inviting.getByRole('textbox', { name: 'Invitation link' })
  const link = await field.inputValue()
  expect(link).toMatch(new RegExp(`^${env.service.baseUrl}/app/invite#[\\w-]{43}$`))
  await expect.poll(() => inviting.evaluate('navigator.clipboard.readText()')).toBe(link)
  const pending = inviting.getByRole('list', { name: 'Pending invitations' })
  await pending.getByText('Link for a member', { exact: true }).waitFor()

  const startedAt = performance.now()
  const requested: string[] = []
  const page = await env.openPage(undefined, '/login')
  page.on('request', (request) => requested.push(request.url()))
  await page.goto(link)
  await page.getByRole('heading', { name: 'Join “Plan”' }).waitFor()
  await page.getByText('Ada Lovelace invites you to the board “Plan”.').waitFor()
  const username = `new-${crypto.randomUUID().slice(0, 8)}`
  await fill(page, { Email: `${username}@example.com`, Username: username, Password: PASSWORD })
  await page.keyboard.press('Enter')
  await page.locator('main.board').waitFor()
  expect(new URL(page.url()).pathname).toBe(`/app/b/${board.id}`)
  await page.getByText('Live').waitFor()
  expect(performance.now() - startedAt).toBeLessThan(60_000)
  expect(new URL(page.url()).hash).toBe('')
  // The page was opened with the fragment; no request after it contains the secret.
  expect(requested.filter((url) => url !== link && url.includes(link.split('#')[1] as string))).toEqual([])

  await inviting.getByText(`@${username}`).waitFor()
  await pending.waitFor({ state: 'detached' })
  // The link was used up, so it is no longer offered.
  await field.waitFor({ state: 'detached' })
  await checkAndClose(page)
  await checkAndClose(inviting)
})

test('[INVITE-15] an existing user logs in on the page of the link, or joins with the session of the browser', async () => {
  const board = await newBoard()
  const [grace, alan] = [await open.user(), await open.user()]
  const page = await env.openPage(undefined, await linkTo(board, { role: 'owner' }))
  await page.getByText('You will be an owner of the board.').waitFor()
  await page.getByRole('button', { name: 'Log in' }).click()
  await fill(page, { Email: grace.email, Password: PASSWORD })
  await page.keyboard.press('Enter')
  await page.locator('main.board').waitFor()
  await checkAndClose(page)

  const inside = await env.openPage(alan, await linkTo(board))
  await inside.getByText(`You are logged in as ${alan.username}.`).waitFor()
  await inside.getByRole('button', { name: 'Join board' }).dblclick()
  await inside.locator('main.board').waitFor()
  await checkAndClose(inside)
  const members = await board.ada.api.call('listMembers', { params: { board_id: board.id } })
  expect(members.map(({ user_id, role }) => [user_id, role])).toEqual([
    [board.ada.id, 'owner'],
    [grace.id, 'owner'],
    [alan.id, 'member'],
  ])
})

test('[INVITE-15] a link for an address fills it in and rejects others; a used or truncated link says so', async () => {
  const board = await newBoard()
  const path = await linkTo(board, { email: 'first.name@example.com' })
  const page = await env.openPage(undefined, path)
  const email = page.getByLabel('Email', { exact: true })
  await expect.poll(() => email.inputValue()).toBe('first.name@example.com')
  await fill(page, { Email: 'other@example.com', Username: 'other', Password: PASSWORD })
  await page.keyboard.press('Enter')
  await page.getByText('This invitation is for another email address.').waitFor()
  await email.fill('first.name@example.com')
  await page.keyboard.press('Enter')
  await page.locator('main.board').waitFor()
  await checkAndClose(page, { ignore: /status of 40[13]/ })

  for (const dead of [path, path.slice(0, -1)]) {
    const late = await env.openPage(undefined, dead)
    await late.getByRole('heading', { name: 'This link is not valid' }).waitFor()
    await late.getByRole('link', { name: 'Log in' }).waitFor()
    await checkAndClose(late, { ignore: /status of 40[14]/ })
  }
})

test('[INVITE-14] an owner revokes a pending invitation in the members dialog', async () => {
  const board = await newBoard()
  const path = await linkTo(board)
  const page = await env.openPage(board.ada, `/b/${board.id}/members`)
  await page.getByText('Created by Ada Lovelace').waitFor()
  await page.getByRole('button', { name: /^Revoke/ }).click()
  await page.getByRole('list', { name: 'Pending invitations' }).waitFor({ state: 'detached' })
  const { code } = await open.anybody.fail('readInvitation', { body: { token: path.split('#')[1] as string } })
  expect(code).toBe('link_invalid')
  await checkAndClose(page)
})

test('[INVITE-15] an invitation to the service leads to the list of boards', async () => {
  const { link } = await (await superuser()).api.call('createServiceInvitation', { body: {} })
  const page = await env.openPage(undefined, link.replace('/app', ''))
  await page.getByRole('heading', { name: 'Join Lockstep' }).waitFor()
  const username = `new-${crypto.randomUUID().slice(0, 8)}`
  await fill(page, { Email: `${username}@example.com`, Username: username, Password: PASSWORD })
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Boards' }).waitFor()
  await checkAndClose(page)
})

test('[ADMIN-18] a user sets a new password on the page of a reset link, and logs in with it', async () => {
  const user = await open.user()
  const { link } = await (await superuser()).api.call('createResetLink', { params: { user_id: user.id } })
  const page = await env.openPage(undefined, link.replace('/app', ''))
  const password = `${MARK} a new password`
  await page.getByLabel('New password').fill(password)
  await page.keyboard.press('Enter')
  await toastOf(page).getByText('Password changed. Log in with the new one.').waitFor()
  await fill(page, { Email: user.email, Password: password })
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Boards' }).waitFor()
  await page.goto(`${env.service.baseUrl}${link}`)
  await page.getByLabel('New password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'This link is not valid' }).waitFor()
  await checkAndClose(page, { ignore: /status of 40[14]/ })
})

test('[USER-6] [USER-7] the members dialog finds people by first and last name, also with a limited directory', async () => {
  const board = await newBoard()
  const kate = await open.user()
  const lastname = `Johnson ${crypto.randomUUID().slice(0, 8)}`
  await kate.api.call('updateMe', { body: { firstname: 'Katherine', lastname } })
  const search = { query: { search: lastname } }
  expect(await board.ada.api.call('findUsers', search)).toEqual([])
  const page = await env.openPage(board.ada, `/b/${board.id}/members`)
  await page.getByRole('combobox', { name: 'Invite people' }).fill(lastname.slice(0, -1))
  await page.getByRole('option', { name: `Katherine ${lastname}` }).click()
  await page.getByText(`@${kate.username}`).waitFor()
  await checkAndClose(page)
})
