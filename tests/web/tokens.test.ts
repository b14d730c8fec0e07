// @module-tag journey
import { Client } from '@lockstep/testing/client'
import { PASSWORD } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEnvironment, type TestEnvironment } from './environment.ts'
import { answer, chooseOption, toastOf } from './layers.ts'
import { checkAndClose, oldSession } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

const statusOf = async (token: string) => (await new Client(env.service.baseUrl, token).send('getMe', {})).status

test('[WEB-150] a token is created, shown once, copied, used and revoked', { tags: ['smoke'] }, async () => {
  const board = await env.createBoard({ 'To do': [] })
  const page = await env.openPage(board.ada, '/settings', { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByText('You have no access tokens.').waitFor()
  await page.getByRole('button', { name: 'New token' }).click()
  const create = page.getByRole('button', { name: 'Create token' })
  await create.click()
  await page.getByText('Enter a name.').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Nightly report')
  await chooseOption(page.getByRole('combobox', { name: 'Permission' }), 'Read and change')
  await chooseOption(page.getByRole('combobox', { name: 'Boards' }), 'Plan')
  await create.click()

  const field = page.getByLabel('Token', { exact: true })
  const token = await field.inputValue()
  expect(token).toMatch(/^lsb_[0-9A-Za-z]{36}$/)
  const focused = () => page.evaluate(`document.activeElement?.getAttribute('aria-label')`)
  await expect.poll(focused).toBe('Token')
  await page.getByRole('button', { name: 'Copy' }).click()
  await toastOf(page).getByText('Token copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token)
  const row = page.getByRole('list', { name: 'Access tokens' }).getByRole('listitem')
  await row.getByText('never used').waitFor()
  expect(await row.textContent()).toContain(`Read and change · Plan · ends with ${token.slice(-4)}`)
  await page.getByRole('button', { name: 'Done' }).click()
  await field.waitFor({ state: 'detached' })

  expect(await statusOf(token)).toBe(200)
  const lastUse = async () => (await board.ada.api.call('listTokens', {}))[0]?.last_used_at
  await expect.poll(lastUse).toBeTruthy()
  await page.reload()
  await row.getByText('last used').waitFor()
  const kept = await page.evaluate(
    'document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage })',
  )
  expect(kept).not.toContain(token)

  await row.getByRole('button', { name: 'Revoke' }).click()
  await answer(page, 'Revoke “Nightly report”?', 'Cancel')
  expect(await statusOf(token)).toBe(200)
  await row.getByRole('button', { name: 'Revoke' }).click()
  await answer(page, 'Revoke “Nightly report”?', 'Revoke')
  await page.getByText('You have no access tokens.').waitFor()
  expect(await statusOf(token)).toBe(401)
  await checkAndClose(page)
})

test('[WEB-150] after an old login the page asks for the password, and creates the token then', async () => {
  const user = await env.service.user()
  const page = await env.openPage(undefined, '/settings', {
    storageState: await oldSession(env.service.baseUrl, user.id),
  })
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Bot')
  await page.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Log in again' })
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await user.api.call('listTokens', {})).toEqual([])
  await page.getByRole('button', { name: 'Create token' }).click()
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  expect(await page.getByLabel('Token', { exact: true }).inputValue()).toMatch(/^lsp_/)
  await dialog.waitFor({ state: 'detached' })
  await checkAndClose(page, { ignore: /status of 40[13]/ })
})

test('[TOKEN-11] [WEB-150] a password change revokes access tokens if asked to', async () => {
  const user = await env.service.user()
  const { token } = await user.api.call('createToken', { body: { name: 'Bot', scope: 'read' } })
  const page = await env.openPage(user, '/settings')
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill(`${PASSWORD} 2`)
  await page.getByLabel('Revoke all access tokens too').check()
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('You have no access tokens.').waitFor()
  expect(await statusOf(token)).toBe(401)
  await checkAndClose(page)
})

test('[WEB-151] an owner sees the tokens of a board among its members, and revokes one', async () => {
  const board = await env.createBoard({ 'To do': [] })
  const body = { name: 'Bot', scope: 'write', board_id: board.id } as const
  const { token } = await board.grace.api.call('createToken', { body })
  const page = await env.openPage(board.ada, `${board.path}/members`)
  const tokens = page.getByRole('region', { name: 'Access tokens for this board' })
  await tokens.getByText(`by ${board.grace.username}`).waitFor()
  await tokens.getByRole('button', { name: 'Revoke' }).click()
  await answer(page, 'Revoke “Bot”?', 'Revoke')
  await tokens.waitFor({ state: 'detached' })
  expect(await statusOf(token)).toBe(401)
  const member = await env.openPage(board.grace, `${board.path}/members`)
  await member.getByRole('list', { name: 'Members' }).waitFor()
  expect(await member.getByText('Access tokens for this board').count()).toBe(0)
  await checkAndClose(member)
  await checkAndClose(page)
})
