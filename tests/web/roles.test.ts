// @module-tag journey
import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { TestUser } from '@lockstep/testing/service'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEnvironment, type TestBoard, type TestEnvironment } from './environment.ts'
import { toastOf } from './layers.ts'
import { checkAndClose } from './page-checks.ts'

let env: TestEnvironment
beforeAll(async () => {
  env = await openEnvironment()
})
afterAll(() => env.close())

interface BoardWithRule extends TestBoard {
  rule_id: string
  invitation_id: string
  token_id: string
  removed_id: string
  webhook_id: string
}
/** The control of an operation, and an example request body. */
interface OwnerControl {
  at: 'menu' | 'menu when archived' | 'members' | 'automations' | 'removed' | 'webhooks' | 'webhook'
  control: (page: Page, board: BoardWithRule) => Locator
  body?: (board: BoardWithRule) => unknown
}
const button = (name: RegExp) => (page: Page) => page.getByRole('button', { name })
const item = (name: string) => (page: Page) => page.getByRole('menuitem', { name })
const rows: Record<string, OwnerControl> = {
  updateBoard: { at: 'menu', control: item('Rename board'), body: () => ({ title: 'Plan' }) },
  deleteBoard: { at: 'menu', control: item('Delete board…') },
  archiveBoard: { at: 'menu', control: item('Archive board') },
  restoreBoard: { at: 'menu when archived', control: item('Restore board') },
  purgeRemoved: { at: 'removed', control: button(/^Delete “old” for good/) },
  inviteMember: {
    at: 'members',
    control: (page) => page.getByRole('combobox', { name: 'Invite people' }),
    body: ({ grace }) => ({ user_id: grace.id }),
  },
  updateMember: {
    at: 'members',
    control: (page) => page.getByRole('combobox', { name: /^Role of/ }).first(),
    body: () => ({ role: 'member' }),
  },
  // Of other members: every member may leave.
  removeMember: { at: 'members', control: (page) => page.getByRole('button', { name: /^Remove/ }).first() },
  createInvitation: { at: 'members', control: button(/^Copy invitation link/), body: () => ({ role: 'member' }) },
  listInvitations: { at: 'members', control: (page) => page.getByRole('list', { name: 'Pending invitations' }) },
  revokeInvitation: {
    at: 'members',
    control: (page) => page.getByRole('list', { name: 'Pending invitations' }).getByRole('button', { name: /^Revoke/ }),
  },
  listBoardTokens: {
    at: 'members',
    control: (page) => page.getByRole('region', { name: 'Access tokens for this board' }),
  },
  revokeBoardToken: {
    at: 'members',
    control: (page) =>
      page.getByRole('region', { name: 'Access tokens for this board' }).getByRole('button', { name: /^Revoke/ }),
  },
  createRule: {
    at: 'automations',
    control: button(/^New rule/),
    body: ({ columns }) => ({
      name: 'Another',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: columns['Doing'],
      action_type: 'MOVE_TO_COLUMN',
      action_column_id: columns['To do'],
    }),
  },
  updateRule: { at: 'automations', control: button(/^Edit “On to doing”/), body: () => ({ name: 'Other' }) },
  deleteRule: { at: 'automations', control: button(/^Delete “On to doing”/) },
  listWebhooks: { at: 'webhooks', control: (page) => page.getByRole('list', { name: 'Webhooks' }) },
  createWebhook: {
    at: 'webhooks',
    control: button(/^New webhook/),
    body: () => ({ name: 'CI', url: 'https://example.com' }),
  },
  getWebhook: { at: 'webhooks', control: (page) => page.getByRole('link', { name: 'Build server' }) },
  updateWebhook: { at: 'webhook', control: button(/^Edit/), body: () => ({ name: 'Other' }) },
  deleteWebhook: { at: 'webhook', control: button(/^Delete/) },
  resumeWebhook: { at: 'webhook', control: button(/^Resume$/), body: () => ({}) },
  getWebhookSecret: { at: 'webhook', control: button(/^Show secret/) },
  rotateWebhookSecret: { at: 'webhook', control: button(/^Replace secret/), body: () => ({}) },
  testWebhook: { at: 'webhook', control: button(/^Send test event/) },
  listDeliveries: { at: 'webhook', control: (page) => page.getByRole('region', { name: 'Deliveries' }) },
}
/** Deleting a comment is also for its author: WEB-182. */
const ofOwners = Object.entries(operations as Record<string, Operation>).filter(
  ([, { access }]) => typeof access === 'object' && access.role === 'owner' && !access.author,
)

async function openBoardWithRule(): Promise<BoardWithRule> {
  const board = await env.createBoard({ 'To do': ['one', 'old'], Doing: [] })
  const removed_id = board.cards['old'] ?? ''
  await board.ada.api.call('archiveCard', { params: { card_id: removed_id } })
  const rule = await board.ada.api.call('createRule', {
    params: { board_id: board.id },
    body: {
      name: 'On to doing',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: board.columns['To do'] ?? '',
      action_type: 'MOVE_TO_COLUMN',
      action_column_id: board.columns['Doing'] ?? '',
    },
  })
  const invitation = await board.ada.api.call('createInvitation', { params: { board_id: board.id }, body: {} })
  const token = await board.ada.api.call('createToken', { body: { name: 'Bot', scope: 'read', board_id: board.id } })
  const webhook = await board.ada.api.call('createWebhook', {
    params: { board_id: board.id },
    body: { name: 'Build server', url: 'http://127.0.0.1:9999' },
  })
  // A paused one can be resumed.
  await env.service.sql.query("update webhooks set paused_reason = 'gone' where id = $1", [webhook.id])
  const own = { rule_id: rule.id, invitation_id: invitation.id, token_id: token.id, removed_id, webhook_id: webhook.id }
  return { ...board, ...own }
}

/** Opens the menu or dialog that contains a control. */
async function openControls(page: Page, board: BoardWithRule, at: OwnerControl['at']) {
  if (at === 'menu' || at === 'menu when archived') {
    await page.goto(`${env.service.baseUrl}/app${board.path}`)
    await page.getByRole('button', { name: 'Board menu' }).click()
    await page.getByRole('menuitem', { name: 'Members' }).waitFor()
  } else if (at === 'removed') {
    await page.goto(`${env.service.baseUrl}/app${board.path}/removed`)
    await page.getByRole('link', { name: 'old' }).waitFor()
  } else if (at === 'webhooks' || at === 'webhook') {
    await page.goto(`${env.service.baseUrl}/app${board.path}/webhooks${at === 'webhook' ? `/${board.webhook_id}` : ''}`)
    const isMember = page.waitForURL(`**${board.path}`)
    await Promise.race([isMember, page.getByText('Build server').waitFor()])
  } else {
    await page.goto(`${env.service.baseUrl}/app${board.path}/${at}`)
    await page.getByText(at === 'members' ? `@${board.grace.username}` : 'History').waitFor()
    if (at === 'members') await page.waitForLoadState('networkidle')
    if (at === 'automations') await page.getByRole('list', { name: 'Rules' }).waitFor()
  }
}

/** The operations that the client offers to a user. */
async function offeredTo(user: TestUser, board: BoardWithRule): Promise<string[]> {
  const page = await env.openPage(user, board.path)
  const offered: string[] = []
  const params = { board_id: board.id }
  for (const at of [
    'menu',
    'members',
    'automations',
    'removed',
    'webhooks',
    'webhook',
    'menu when archived',
  ] as const) {
    if (at === 'menu when archived') await board.ada.api.call('archiveBoard', { params })
    await openControls(page, board, at)
    for (const [name, row] of Object.entries(rows).filter(([, each]) => each.at === at)) {
      const control = row.control(page, board)
      if ((await control.count()) > 0 && (await control.isVisible()) && (await control.isEnabled())) offered.push(name)
    }
  }
  await checkAndClose(page)
  await board.ada.api.call('restoreBoard', { params })
  return offered
}

/** The operations that the server rejects for a user. */
async function rejectedFor({ api }: TestUser, board: BoardWithRule): Promise<string[]> {
  const { rule_id, invitation_id, token_id, removed_id, webhook_id } = board
  const own = { rule_id, invitation_id, token_id, removed_id, webhook_id }
  const ids: Record<string, string> = { board_id: board.id, ...own, user_id: board.ada.id }
  const rejected: string[] = []
  for (const [name, { method, path }] of ofOwners) {
    const url = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => ids[key] ?? '')
    const body = rows[name]?.body?.(board)
    const { status } = await api.request(method, url, body === undefined ? {} : { json: body })
    if (status === 403) rejected.push(name)
  }
  return rejected
}

describe('owner operations', () => {
  test('[WEB-66] every owner operation of the contract has a control', () => {
    expect(Object.keys(rows).sort()).toEqual(ofOwners.map(([name]) => name).sort())
  })

  test('[WEB-66] are offered to owners, and not to members, for whom the server rejects them', {
    tags: ['smoke'],
  }, async () => {
    const board = await openBoardWithRule()
    const all = Object.keys(rows).sort()
    expect((await offeredTo(board.ada, board)).sort()).toEqual(all)
    expect((await rejectedFor(board.grace, board)).sort()).toEqual(all)
    expect(await offeredTo(board.grace, board)).toEqual([])
  })

  test('[WEB-66] appear and disappear at once when a member becomes an owner or stops being one', async () => {
    const board = await openBoardWithRule()
    const page = await env.openPage(board.grace, `${board.path}/members`)
    const invite = page.getByRole('combobox', { name: 'Invite people' })
    await page.getByText(`@${board.grace.username}`).waitFor()
    const setRole = (role: 'owner' | 'member') =>
      board.ada.api.call('updateMember', { params: { board_id: board.id, user_id: board.grace.id }, body: { role } })
    // An owner's page loads the webhooks. Their response must not come after the next change of the role.
    const webhooks = page.waitForResponse(/\/webhooks$/)
    await setRole('owner')
    await invite.waitFor()
    await webhooks
    await setRole('member')
    await invite.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Leave board' }).waitFor()
    await checkAndClose(page)
  })

  test('[WEB-66] deleting a board requires typing its name', async () => {
    const board = await openBoardWithRule()
    const page = await env.openPage(board.ada, board.path)
    await openControls(page, board, 'menu')
    await page.getByRole('menuitem', { name: 'Delete board…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete “Plan”' })
    const sure = dialog.getByRole('button', { name: 'Delete board' })
    const field = dialog.getByLabel('Type the board name to confirm')
    await field.and(page.locator(':focus')).waitFor()
    expect(await sure.isDisabled()).toBe(true)
    await field.fill('plan')
    await field.press('Enter')
    expect(await sure.isDisabled()).toBe(true)
    await board.ada.api.call('getBoard', { params: { board_id: board.id } })
    await field.fill('Plan')
    await field.press('Enter')
    await page.getByRole('heading', { name: 'Boards' }).waitFor()
    await toastOf(page).getByText('Deleted “Plan”').waitFor()
    const { status } = await board.ada.api.fail('getBoard', { params: { board_id: board.id } })
    expect(status).toBe(404)
    await checkAndClose(page, { ignore: /status of 404|WebSocket/ })
  })
})
