import assert from 'node:assert/strict'
import { PASSWORD, type TestUser } from '@lockstep/testing/service'
import { expect } from 'vitest'
import type { ClickHands, KeyboardHands } from './hands.ts'
import type { Plan } from './plan.ts'

/** Something that people come to do, and whether it is done by what the service says. */
export interface Task {
  name: string
  /** Where it begins; on the board unless it says so. */
  from?: '/login' | '/boards'
  by_keyboard: (hands: KeyboardHands, plan: Plan) => Promise<void>
  by_click: (hands: ClickHands, plan: Plan) => Promise<void>
  /** Throws until it is done. */
  check: (plan: Plan) => Promise<void>
}

const has = (people: readonly { id: string }[] | undefined, ...wanted: TestUser[]) =>
  assert.deepEqual(people?.map(({ id }) => id).sort(), wanted.map(({ id }) => id).sort())

/** The board as it is before every task. */
export const lanes = { 'To do': ['Write', 'Paint', 'Print'], Doing: ['Sew'], Done: ['Plan'] }

export const tasks: Task[] = [
  {
    name: 'log in',
    from: '/login',
    by_keyboard: async (hands, { ada }) => {
      await hands.at('E-mail')
      await hands.type(ada.email)
      await hands.tabTo('Password')
      await hands.type(PASSWORD)
      await hands.press('Enter')
      await hands.at('Boards')
    },
    by_click: async (hands, { ada }) => {
      await hands.write('E-mail', ada.email)
      await hands.write('Password', PASSWORD)
      await hands.click('button', 'Log in')
      await hands.seesHeading('Boards')
    },
    check: async ({ visitor, ada }) => assert.equal(await visitor(), ada.id),
  },
  {
    name: 'open a board from the list',
    from: '/boards',
    by_keyboard: async (hands, { title }) => {
      await hands.sees(title)
      await hands.tabTo(new RegExp(title))
      await hands.press('Enter')
      await hands.at(title)
    },
    by_click: async (hands, { title }) => {
      await hands.click('link', new RegExp(title))
      await hands.seesHeading(title)
    },
    check: async ({ address, id }) => assert.match(await address(), new RegExp(id)),
  },
  {
    name: 'create a board',
    from: '/boards',
    by_keyboard: async (hands, { title }) => {
      await hands.sees(title)
      await hands.press('n')
      await hands.at('Title of the new board')
      await hands.type(`${title} B`)
      await hands.press('Enter')
      await hands.at(`${title} B`)
    },
    by_click: async (hands, { title }) => {
      await hands.write('Title of the new board', `${title} B`)
      await hands.click('button', /Create board/)
      await hands.seesHeading(`${title} B`)
    },
    check: async ({ ada, title }) => {
      const boards = await ada.api.call('listBoards', {})
      assert.equal(boards.filter((board) => board.title === `${title} B`).length, 1)
    },
  },
  {
    name: 'add a lane',
    by_keyboard: async (hands) => {
      await hands.press('c')
      await hands.at('Title of the new lane')
      await hands.type('Later')
      await hands.press('Enter', 'Escape')
    },
    by_click: async (hands) => {
      await hands.click('button', 'Add a lane')
      await hands.write('Title of the new lane', 'Later')
      await hands.click('button', 'Add')
      await hands.click('button', 'Done')
    },
    check: async ({ titles }) => assert.deepEqual(await titles(), ['To do', 'Doing', 'Done', 'Later']),
  },
  {
    name: 'rename a lane',
    by_keyboard: async (hands) => {
      await hands.toLane('Doing', ']')
      await hands.choose('Rename')
      await hands.at('Title of the lane')
      await hands.type('Busy')
      await hands.press('Enter')
      await hands.at('Actions for Busy')
    },
    by_click: async (hands) => {
      await hands.choose('Actions for Doing', 'Rename')
      await hands.write('Title of the lane', 'Busy')
      await hands.clickIn('To do, 3 cards', 'button', 'Add a card')
      await hands.click('button', 'Done')
    },
    check: async ({ titles }) => assert.deepEqual(await titles(), ['To do', 'Busy', 'Done']),
  },
  {
    name: 'move a lane',
    by_keyboard: async (hands) => {
      await hands.toLane('To do', '[')
      await hands.choose('Move right')
      await hands.at('Actions for To do')
    },
    by_click: (hands) => hands.choose('Actions for To do', 'Move right'),
    check: async ({ titles }) => assert.deepEqual(await titles(), ['Doing', 'To do', 'Done']),
  },
  {
    name: 'recolour a lane and say that what is there is done',
    by_keyboard: async (hands) => {
      await hands.toLane('Doing', ']')
      await hands.choose(/^Recolour/)
      await hands.at('Actions for Doing')
      await hands.choose('What is here is done')
      await hands.at('Actions for Doing')
    },
    by_click: async (hands) => {
      await hands.choose('Actions for Doing', /^Recolour/)
      await hands.choose('Actions for Doing', 'What is here is done')
    },
    check: async ({ column, before }) => {
      const { color, is_done_column } = await column('Doing')
      assert.ok(is_done_column)
      assert.notEqual(color, before.columns[1]?.color)
    },
  },
  {
    name: 'delete a lane and take it back',
    by_keyboard: async (hands, { titles }) => {
      await hands.toLane('Done', 'ArrowRight', ']')
      await hands.choose('Delete the lane')
      await expect.poll(titles).toEqual(['To do', 'Doing'])
      await hands.press('Control+z')
    },
    by_click: async (hands, { titles }) => {
      await hands.choose('Actions for Done', 'Delete the lane')
      await expect.poll(titles).toEqual(['To do', 'Doing'])
      await hands.click('button', 'Undo')
    },
    check: async ({ order }) => assert.deepEqual(await order(), Object.entries(lanes)),
  },
  {
    name: 'add a card',
    by_keyboard: async (hands) => {
      await hands.press('n')
      await hands.at('Title of the new card')
      await hands.type('Read')
      await hands.press('Enter', 'Escape')
      await hands.at('Read')
    },
    by_click: async (hands) => {
      await hands.clickIn('To do, 3 cards', 'button', 'Add a card')
      await hands.write('Title of the new card', 'Read')
      await hands.click('button', 'Add')
      await hands.click('button', 'Done')
    },
    check: async ({ cards }) => assert.deepEqual(await cards('To do'), ['Write', 'Paint', 'Print', 'Read']),
  },
  {
    name: 'add a card on top of a lane',
    by_keyboard: async (hands) => {
      await hands.toCard('Paint', 'ArrowDown')
      await hands.press('Shift+N')
      await hands.at('Title of the new card')
      await hands.type('Read')
      await hands.press('Enter', 'Escape')
      await hands.at('Read')
    },
    by_click: async (hands) => {
      await hands.choose('Actions for To do', 'Add a card on top')
      await hands.write('Title of the new card', 'Read')
      await hands.click('button', 'Add')
      await hands.click('button', 'Done')
    },
    check: async ({ cards }) => assert.deepEqual(await cards('To do'), ['Read', 'Write', 'Paint', 'Print']),
  },
  {
    name: 'edit the title of a card',
    by_keyboard: async (hands) => {
      await hands.toCard('Write')
      await hands.press('e')
      await hands.at('Title')
      await hands.type('Write twice')
      await hands.press('Enter')
      await hands.at('Write twice')
    },
    by_click: async (hands) => {
      await hands.choose('Actions for Write', /^Edit the title/)
      await hands.write('Title', 'Write twice')
      await hands.clickIn('To do, 3 cards', 'button', 'Add a card')
      await hands.click('button', 'Done')
    },
    check: async ({ cards }) => assert.deepEqual(await cards('To do'), ['Write twice', 'Paint', 'Print']),
  },
  {
    name: 'open a card and close it',
    by_keyboard: async (hands) => {
      await hands.toCard('Sew', 'ArrowRight')
      await hands.press('Enter')
      await hands.sees('Add a description…')
      await hands.press('Escape')
      await hands.noDialog()
      await hands.at('Sew')
    },
    by_click: async (hands) => {
      await hands.click('link', 'Sew')
      await hands.sees('Add a description…')
      await hands.click('button', 'Close')
      await hands.noDialog()
    },
    check: async ({ address, id }) => assert.match(await address(), new RegExp(`/b/${id}$`)),
  },
  {
    name: 'write the description of a card',
    by_keyboard: async (hands) => {
      await hands.toCard('Write')
      await hands.press('Enter')
      await hands.sees('Add a description…')
      await hands.tabTo('Add a description…')
      await hands.press('Enter')
      await hands.at('Description, in Markdown')
      await hands.type('With **ink**.')
      await hands.press('Control+Enter')
      await hands.at('Edit')
    },
    by_click: async (hands) => {
      await hands.click('link', 'Write')
      await hands.click('button', 'Add a description…')
      await hands.write('Description, in Markdown', 'With **ink**.')
      await hands.click('button', /^Save/)
    },
    check: async ({ card }) => assert.equal((await card('Write')).description, 'With **ink**.'),
  },
  {
    name: 'put a new label on a card and take another off',
    by_keyboard: async (hands) => {
      await hands.toCard('Write')
      await hands.press('l')
      await hands.at('Find or create a label')
      await hands.type('urgent')
      await hands.press('Enter')
      await hands.tabTo('bug')
      await hands.press('Space', 'Escape')
      await hands.at('Write')
    },
    by_click: async (hands) => {
      await hands.choose('Actions for Write', /^Labels/)
      await hands.write('Find or create a label', 'urgent')
      await hands.click('button', 'Create “urgent”')
      await hands.click('checkbox', 'bug')
      await hands.click('button', 'Close')
    },
    check: async ({ card }) => {
      assert.deepEqual(
        (await card('Write')).labels.map(({ name }) => name),
        ['urgent'],
      )
    },
  },
  {
    name: 'assign oneself and somebody else',
    by_keyboard: async (hands, { grace }) => {
      await hands.toCard('Paint', 'ArrowDown')
      await hands.press('Space', 'a')
      await hands.at(/^/)
      await hands.tabTo(new RegExp(grace.username))
      await hands.press('Space', 'Escape')
      await hands.at('Paint')
    },
    by_click: async (hands, { grace }) => {
      await hands.choose('Actions for Paint', /^Assign me/)
      await hands.choose('Actions for Paint', /^Assign…/)
      await hands.click('checkbox', new RegExp(grace.username))
      await hands.click('button', 'Close')
    },
    check: async ({ card, ada, grace }) => has((await card('Paint')).assignees, ada, grace),
  },
  {
    name: 'write a checklist and tick what is done',
    by_keyboard: async (hands) => {
      await hands.toCard('Write')
      await hands.press('Enter')
      await hands.sees('Add a description…')
      await hands.press('k')
      await hands.at('Name of the new checklist')
      await hands.type('Steps')
      await hands.press('Enter')
      await hands.at('Add an item')
      await hands.type('Think')
      await hands.press('Enter')
      await hands.type('Draw')
      await hands.press('Enter')
      await hands.sees('0 of 2')
      await hands.pressTo('Shift+Tab', 'Think')
      await hands.pressTo('Shift+Tab', 'Think')
      await hands.press('Space')
      await hands.sees('1 of 2')
    },
    by_click: async (hands) => {
      await hands.click('link', 'Write')
      await hands.click('button', /^Add a checklist/)
      await hands.write('Name of the new checklist', 'Steps')
      await hands.click('button', 'Add')
      await hands.write('Add an item', 'Think')
      await hands.click('button', 'Add')
      await hands.write('Add an item', 'Draw')
      await hands.click('button', 'Add')
      await hands.click('checkbox', 'Think')
    },
    check: async ({ card }) => {
      const [list] = (await card('Write')).checklists
      assert.equal(list?.title, 'Steps')
      const items = list.items.map(({ content, is_done }) => [content, is_done])
      assert.deepEqual(items, [
        ['Think', true],
        ['Draw', false],
      ])
    },
  },
  {
    name: 'move a card down',
    by_keyboard: async (hands) => {
      await hands.toCard('Write')
      await hands.press('Shift+ArrowDown')
      await hands.at('Write')
    },
    by_click: async (hands) => {
      await hands.choose('Actions for Write', /^Move to/)
      await hands.pick('Position', '2, before “Print”')
      await hands.click('button', 'Move')
    },
    check: async ({ cards }) => assert.deepEqual(await cards('To do'), ['Paint', 'Write', 'Print']),
  },
  {
    name: 'move a card to another lane, and another one to the top',
    by_keyboard: async (hands) => {
      await hands.toCard('Print', 'End')
      await hands.press('m')
      await hands.at('Lane')
      await hands.pick('Doing')
      await hands.tabTo('Move')
      await hands.press('Enter')
      await hands.noDialog()
      await hands.at('Print')
      await hands.toCard('Paint', 'ArrowDown')
      await hands.press('Shift+Home')
      await hands.at('Paint')
    },
    by_click: async (hands) => {
      await hands.choose('Actions for Print', /^Move to/)
      await hands.pick('Lane', 'Doing')
      await hands.click('button', 'Move')
      await hands.noDialog()
      await hands.choose('Actions for Paint', /^Move to/)
      await hands.pick('Position', '1, before “Write”')
      await hands.click('button', 'Move')
    },
    check: async ({ order }) =>
      assert.deepEqual(await order(), [
        ['To do', ['Paint', 'Write']],
        ['Doing', ['Print', 'Sew']],
        ['Done', ['Plan']],
      ]),
  },
  {
    name: 'show only my cards, and all again',
    by_keyboard: async (hands) => {
      await hands.toCard('Write')
      await hands.press('f')
      await expect.poll(() => hands.cards()).toEqual(['Sew'])
      await hands.press('Escape')
      await expect.poll(() => hands.cards()).toHaveLength(5)
    },
    by_click: async (hands) => {
      await hands.click('button', 'Mine')
      await expect.poll(() => hands.cards()).toEqual(['Sew'])
      await hands.click('button', 'Clear')
      await expect.poll(() => hands.cards()).toHaveLength(5)
    },
    check: async ({ order }) => assert.deepEqual(await order(), Object.entries(lanes)),
  },
  {
    name: 'delete a card and take it back',
    by_keyboard: async (hands, { cards }) => {
      await hands.toCard('Paint', 'ArrowDown')
      await hands.press('Delete')
      await hands.at('Print')
      await expect.poll(() => cards('To do')).toEqual(['Write', 'Print'])
      await hands.press('Control+z')
    },
    by_click: async (hands, { cards }) => {
      await hands.choose('Actions for Paint', /^Delete/)
      await expect.poll(() => cards('To do')).toEqual(['Write', 'Print'])
      await hands.click('button', 'Undo')
    },
    check: async ({ order }) => assert.deepEqual(await order(), Object.entries(lanes)),
  },
  {
    name: 'invite a member',
    by_keyboard: async (hands, { stranger }) => {
      await hands.tabTo('Share')
      await hands.press('Enter')
      await hands.at('Invite somebody')
      await hands.type(stranger.username)
      await hands.sees(`@${stranger.username}`)
      await hands.press('Enter')
      await hands.sees(`${stranger.username} is a member now.`)
    },
    by_click: async (hands, { stranger }) => {
      await hands.click('button', 'Share')
      await hands.write('Invite somebody', stranger.username)
      await hands.click('option', new RegExp(stranger.username))
    },
    check: async ({ members, ada, grace, stranger }) => has(await members(), ada, grace, stranger),
  },
  {
    name: 'make a rule',
    by_keyboard: async (hands) => {
      await hands.tabTo('Board menu')
      await hands.choose('Automation')
      await hands.sees('New rule')
      await hands.press('n')
      await hands.at('When a card')
      await hands.tabTo('Lane')
      await hands.pick('Done')
      await hands.tabTo('Add the rule')
      await hands.press('Enter')
      await hands.at(/^New rule/)
    },
    by_click: async (hands) => {
      await hands.choose('Board menu', 'Automation')
      await hands.click('button', /^New rule/)
      await hands.pick('Lane', 'Done')
      await hands.click('button', 'Add the rule')
    },
    check: async ({ ada, id, column }) => {
      const [rule] = await ada.api.call('listRules', { params: { board_id: id } })
      assert.equal(rule?.trigger_column_id, (await column('Done')).id)
      assert.equal(rule.action_user_id, ada.id)
    },
  },
  {
    name: 'choose the dark theme',
    by_keyboard: async (hands) => {
      await hands.tabTo(/account of/)
      await hands.choose('Settings')
      await hands.at('Settings')
      await hands.tabTo('As the system')
      await hands.press('ArrowDown', 'ArrowDown')
      await hands.at('Dark')
    },
    by_click: async (hands) => {
      await hands.choose(/account of/, 'Settings')
      await hands.click('radio', 'Dark')
    },
    check: async ({ theme }) => assert.equal(await theme(), 'dark'),
  },
  {
    name: 'find a card by a part of its title, and go there',
    by_keyboard: async (hands) => {
      await hands.press('Control+k')
      await hands.at('Find a card, a board or an action')
      await hands.type('sew')
      await hands.press('Enter')
      await hands.sees('Add a description…')
    },
    by_click: async (hands) => {
      await hands.click('button', /^Command/)
      await hands.write('Find a card, a board or an action', 'sew')
      await hands.click('option', /^Sew/)
      await hands.sees('Add a description…')
    },
    check: async ({ address, id, card }) =>
      assert.match(await address(), new RegExp(`/b/${id}/c/${(await card('Sew')).id}$`)),
  },
]
