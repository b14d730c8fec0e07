import { operations } from '@lockstep/contract'
import type { Operation } from '@lockstep/contract/operation'
import type { TestUser } from '@lockstep/testing/service'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finish } from './pages.ts'
import { openStage, type Stage, type StageBoard } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())

interface Scene extends StageBoard {
  rule_id: string
}
/** Where an operation is offered to whoever may call it, and how it would be called. */
interface Row {
  at: 'menu' | 'members' | 'automations'
  control: (page: Page, board: Scene) => Locator
  body?: (board: Scene) => unknown
}
const button = (name: RegExp) => (page: Page) => page.getByRole('button', { name })
const item = (name: string) => (page: Page) => page.getByRole('menuitem', { name })
const rows: Record<string, Row> = {
  updateBoard: { at: 'menu', control: item('Rename the board'), body: () => ({ title: 'Plan' }) },
  deleteBoard: { at: 'menu', control: item('Delete the board…') },
  inviteMember: {
    at: 'members',
    control: (page) => page.getByRole('combobox', { name: 'Invite somebody' }),
    body: ({ grace }) => ({ user_id: grace.id }),
  },
  updateMember: {
    at: 'members',
    control: (page) => page.getByRole('combobox', { name: /^Role of/ }).first(),
    body: () => ({ role: 'member' }),
  },
  // Of others: whoever wants to leave may.
  removeMember: { at: 'members', control: (page) => page.getByRole('button', { name: /^Remove/ }).first() },
  createRule: {
    at: 'automations',
    control: button(/^New rule/),
    body: ({ lanes }) => ({
      name: 'Another',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: lanes['Doing'],
      action_type: 'MOVE_TO_COLUMN',
      action_column_id: lanes['To do'],
    }),
  },
  updateRule: { at: 'automations', control: button(/^Edit “On to doing”/), body: () => ({ name: 'Other' }) },
  deleteRule: { at: 'automations', control: button(/^Delete “On to doing”/) },
}
const ofOwners = Object.entries(operations as Record<string, Operation>).filter(
  ([, { access }]) => typeof access === 'object' && access.role === 'owner',
)

async function openScene(): Promise<Scene> {
  const board = await stage.board({ 'To do': ['one'], Doing: [] })
  const rule = await board.ada.api.call('createRule', {
    params: { board_id: board.id },
    body: {
      name: 'On to doing',
      trigger_type: 'CARD_MOVED',
      trigger_column_id: board.lanes['To do'] ?? '',
      action_type: 'MOVE_TO_COLUMN',
      action_column_id: board.lanes['Doing'] ?? '',
    },
  })
  return { ...board, rule_id: rule.id }
}

/** The page with what there is to do at a place, all of it drawn. */
async function look(page: Page, board: Scene, at: Row['at']) {
  if (at === 'menu') {
    await page.getByRole('button', { name: 'Board menu' }).click()
    await page.getByRole('menuitem', { name: 'Members' }).waitFor()
  } else {
    await page.goto(`${stage.service.base_url}/app${board.path}/${at}`)
    await page.getByText(at === 'members' ? `@${board.grace.username}` : 'What the rules did').waitFor()
    if (at === 'automations') await page.getByRole('list', { name: 'Rules' }).waitFor()
  }
}

/** Which of the operations are offered to somebody. */
async function offeredTo(who: TestUser, board: Scene): Promise<string[]> {
  const page = await stage.enter(who, board.path)
  const offered: string[] = []
  for (const at of ['menu', 'members', 'automations'] as const) {
    await look(page, board, at)
    for (const [name, row] of Object.entries(rows).filter(([, each]) => each.at === at)) {
      const control = row.control(page, board)
      if ((await control.count()) > 0 && (await control.isVisible()) && (await control.isEnabled())) offered.push(name)
    }
  }
  await finish(page)
  return offered
}

/** Which of the operations the service refuses to somebody. */
async function refusedTo({ api }: TestUser, board: Scene): Promise<string[]> {
  const ids: Record<string, string> = { board_id: board.id, rule_id: board.rule_id, user_id: board.ada.id }
  const refused: string[] = []
  for (const [name, { method, path }] of ofOwners) {
    const url = path.replaceAll(/\{(\w+)\}/g, (_, key: string) => ids[key] ?? '')
    const body = rows[name]?.body?.(board)
    const { status } = await api.request(method, url, body === undefined ? {} : { json: body })
    if (status === 403) refused.push(name)
  }
  return refused
}

describe('what only owners may', () => {
  test('[WEB-66] every operation of owners in the contract has a control here', () => {
    expect(Object.keys(rows).sort()).toEqual(ofOwners.map(([name]) => name).sort())
  })

  test('[WEB-66] is offered to owners; a member is offered none of what the service refuses him', async () => {
    const board = await openScene()
    const all = Object.keys(rows).sort()
    expect((await offeredTo(board.ada, board)).sort()).toEqual(all)
    expect((await refusedTo(board.grace, board)).sort()).toEqual(all)
    expect(await offeredTo(board.grace, board)).toEqual([])
  }, 60_000)

  test('[WEB-66] is offered at once to who becomes one, and no longer to who was one', async () => {
    const board = await openScene()
    const page = await stage.enter(board.grace, `${board.path}/members`)
    const invite = page.getByRole('combobox', { name: 'Invite somebody' })
    await page.getByText(`@${board.grace.username}`).waitFor()
    const setRole = (role: 'owner' | 'member') =>
      board.ada.api.call('updateMember', { params: { board_id: board.id, user_id: board.grace.id }, body: { role } })
    await setRole('owner')
    await invite.waitFor()
    await setRole('member')
    await invite.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Leave the board' }).waitFor()
    await finish(page)
  })

  test('[WEB-66] the board is deleted by who types its title, and by nothing less', async () => {
    const board = await openScene()
    const page = await stage.enter(board.ada, board.path)
    await look(page, board, 'menu')
    await page.getByRole('menuitem', { name: 'Delete the board…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete “Plan”' })
    const sure = dialog.getByRole('button', { name: 'Delete the board' })
    const field = dialog.getByLabel('To go on, type the title of the board')
    await field.and(page.locator(':focus')).waitFor()
    expect(await sure.isDisabled()).toBe(true)
    await field.fill('plan')
    await field.press('Enter')
    expect(await sure.isDisabled()).toBe(true)
    await board.ada.api.call('getBoard', { params: { board_id: board.id } })
    await field.fill('Plan')
    await field.press('Enter')
    await page.getByRole('heading', { name: 'Boards' }).waitFor()
    await page.locator('.toast').getByText('“Plan” is deleted.').waitFor()
    const { status } = await board.ada.api.fail('getBoard', { params: { board_id: board.id } })
    expect(status).toBe(404)
    await finish(page, { but: /status of 404|WebSocket/ })
  })
})
