import assert from 'node:assert/strict'
import { PASSWORD, type TestUser } from '@lockstep/testing/service'
import { expect } from 'vitest'
import type { KeyboardUser } from './keyboard-user.ts'
import type { MouseUser } from './mouse-user.ts'
import type { TaskBoard } from './task-board.ts'

/** A user task, with a check that reads the result from the server. */
export interface Task {
  name: string
  /** Start page; the board by default. */
  from?: '/login' | '/boards'
  withKeyboard: (user: KeyboardUser, board: TaskBoard) => Promise<void>
  withMouse: (user: MouseUser, board: TaskBoard) => Promise<void>
  /** Throws until the task is done. */
  check: (board: TaskBoard) => Promise<void>
}

const hasUsers = (people: readonly { id: string }[] | undefined, ...wanted: TestUser[]) =>
  assert.deepEqual(people?.map(({ id }) => id).sort(), wanted.map(({ id }) => id).sort())

/** The board before every task. */
export const columns = { 'To do': ['Write', 'Paint', 'Print'], Doing: ['Sew'], Done: ['Plan'] }

export const tasks: Task[] = [
  {
    name: 'log in',
    from: '/login',
    withKeyboard: async (user, { ada }) => {
      await user.expectFocus('Email')
      await user.type(ada.email)
      await user.tabTo('Password')
      await user.type(PASSWORD)
      await user.press('Enter')
      await user.expectFocus('Boards')
    },
    withMouse: async (user, { ada }) => {
      await user.fill('Email', ada.email)
      await user.fill('Password', PASSWORD)
      await user.click('button', 'Log in')
      await user.waitForHeading('Boards')
    },
    check: async ({ loggedInUser, ada }) => assert.equal(await loggedInUser(), ada.id),
  },
  {
    name: 'open a board from the list',
    from: '/boards',
    withKeyboard: async (user, { title }) => {
      await user.waitForText(title)
      await user.tabTo(new RegExp(title))
      await user.press('Enter')
      await user.expectFocus(title)
    },
    withMouse: async (user, { title }) => {
      await user.click('link', new RegExp(title))
      await user.waitForHeading(title)
    },
    check: async ({ url, id }) => assert.match(await url(), new RegExp(id)),
  },
  {
    name: 'create a board',
    from: '/boards',
    withKeyboard: async (user, { title }) => {
      await user.waitForText(title)
      await user.press('n')
      await user.expectFocus('Board name')
      await user.type(`${title} B`)
      await user.press('Enter')
      await user.expectFocus(`${title} B`)
    },
    withMouse: async (user, { title }) => {
      await user.fill('Board name', `${title} B`)
      await user.click('button', /Create board/)
      await user.waitForHeading(`${title} B`)
    },
    check: async ({ ada, title }) => {
      const boards = await ada.api.call('listBoards', {})
      assert.equal(boards.filter((board) => board.title === `${title} B`).length, 1)
    },
  },
  {
    name: 'add a column',
    withKeyboard: async (user) => {
      await user.press('c')
      await user.expectFocus('New column name')
      await user.type('Later')
      await user.press('Enter', 'Escape')
    },
    withMouse: async (user) => {
      await user.click('button', 'Add column')
      await user.fill('New column name', 'Later')
      await user.click('button', 'Add column')
      await user.click('button', 'Cancel')
    },
    check: async ({ columnTitles }) => assert.deepEqual(await columnTitles(), ['To do', 'Doing', 'Done', 'Later']),
  },
  {
    name: 'rename a column',
    withKeyboard: async (user) => {
      await user.focusColumnMenu('Doing', ']')
      await user.chooseFromMenu('Rename')
      await user.expectFocus('Column name')
      await user.type('Busy')
      await user.press('Enter')
      await user.expectFocus('Actions for Busy')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Actions for Doing', 'Rename')
      await user.fill('Column name', 'Busy')
      await user.clickIn('To do, 3 cards', 'Add card')
      await user.clickInComposer('Cancel')
    },
    check: async ({ columnTitles }) => assert.deepEqual(await columnTitles(), ['To do', 'Busy', 'Done']),
  },
  {
    name: 'move a column',
    withKeyboard: async (user) => {
      await user.focusColumnMenu('To do', '[')
      await user.chooseFromMenu('Move right')
      await user.expectFocus('Actions for To do')
    },
    withMouse: (user) => user.chooseFromMenu('Actions for To do', 'Move right'),
    check: async ({ columnTitles }) => assert.deepEqual(await columnTitles(), ['Doing', 'To do', 'Done']),
  },
  {
    name: 'change the colour of a column and mark it as “Done” column',
    withKeyboard: async (user) => {
      await user.focusColumnMenu('Doing', ']')
      await user.chooseFromMenu('Teal')
      await user.expectFocus('Actions for Doing')
      await user.chooseFromMenu('Mark as “Done” column')
      await user.expectFocus('Actions for Doing')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Actions for Doing', 'Teal', 'menuitemradio')
      await user.chooseFromMenu('Actions for Doing', 'Mark as “Done” column')
    },
    check: async ({ column, before }) => {
      const { color, is_done_column } = await column('Doing')
      assert.ok(is_done_column)
      assert.notEqual(color, before.columns[1]?.color)
    },
  },
  {
    name: 'delete a column and undo it',
    withKeyboard: async (user, { columnTitles }) => {
      await user.focusColumnMenu('Done', 'ArrowRight', ']')
      await user.chooseFromMenu('Delete column')
      await expect.poll(columnTitles).toEqual(['To do', 'Doing'])
      await user.press('Control+z')
    },
    withMouse: async (user, { columnTitles }) => {
      await user.chooseFromMenu('Actions for Done', 'Delete column')
      await expect.poll(columnTitles).toEqual(['To do', 'Doing'])
      await user.click('button', 'Undo')
    },
    check: async ({ order }) => assert.deepEqual(await order(), Object.entries(columns)),
  },
  {
    name: 'add a card',
    withKeyboard: async (user) => {
      await user.press('n')
      await user.expectFocus('Card title')
      await user.type('Read')
      await user.press('Enter', 'Escape')
      await user.expectFocus('Read')
    },
    withMouse: async (user) => {
      await user.clickIn('To do, 3 cards', 'Add card')
      await user.fill('Card title', 'Read')
      await user.clickInComposer('Add card')
      await user.clickInComposer('Cancel')
    },
    check: async ({ cards }) => assert.deepEqual(await cards('To do'), ['Write', 'Paint', 'Print', 'Read']),
  },
  {
    name: 'add a card at the top of a column',
    withKeyboard: async (user) => {
      await user.focusCard('Paint', 'ArrowDown')
      await user.press('Shift+N')
      await user.expectFocus('Card title')
      await user.type('Read')
      await user.press('Enter', 'Escape')
      await user.expectFocus('Read')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Actions for To do', 'Add card at top')
      await user.fill('Card title', 'Read')
      await user.clickInComposer('Add card')
      await user.clickInComposer('Cancel')
    },
    check: async ({ cards }) => assert.deepEqual(await cards('To do'), ['Read', 'Write', 'Paint', 'Print']),
  },
  {
    name: 'edit the title of a card',
    withKeyboard: async (user) => {
      await user.focusCard('Write')
      await user.press('e')
      await user.expectFocus('Title')
      await user.type('Write twice')
      await user.press('Enter')
      await user.expectFocus('Write twice')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Actions for Write', /^Edit title/)
      await user.fill('Title', 'Write twice')
      await user.clickIn('To do, 3 cards', 'Add card')
      await user.clickInComposer('Cancel')
    },
    check: async ({ cards }) => assert.deepEqual(await cards('To do'), ['Write twice', 'Paint', 'Print']),
  },
  {
    name: 'open a card and close it',
    withKeyboard: async (user) => {
      await user.focusCard('Sew', 'ArrowRight')
      await user.press('Enter')
      await user.waitForText('Add description…')
      await user.press('Escape')
      await user.waitForNoDialog()
      await user.expectFocus('Sew')
    },
    withMouse: async (user) => {
      await user.click('link', 'Sew')
      await user.waitForText('Add description…')
      await user.click('button', 'Close')
      await user.waitForNoDialog()
    },
    check: async ({ url, id }) => assert.match(await url(), new RegExp(`/b/${id}$`)),
  },
  {
    name: 'write the description of a card',
    withKeyboard: async (user) => {
      await user.focusCard('Write')
      await user.press('Enter')
      await user.waitForText('Add description…')
      await user.tabTo('Add description…')
      await user.press('Enter')
      await user.expectFocus('Description, in Markdown')
      await user.type('With **ink**.')
      await user.press('Control+Enter')
      await user.expectFocus('Edit')
    },
    withMouse: async (user) => {
      await user.click('link', 'Write')
      await user.click('button', 'Add description…')
      await user.fill('Description, in Markdown', 'With **ink**.')
      await user.click('button', /^Save/)
    },
    check: async ({ card }) => assert.equal((await card('Write')).description, 'With **ink**.'),
  },
  {
    name: 'add a new label to a card and remove another',
    withKeyboard: async (user) => {
      await user.focusCard('Write')
      await user.press('l')
      await user.expectFocus('Find or create label')
      await user.type('urgent')
      await user.press('Enter')
      await user.waitForText('Added label “urgent”')
      await user.type('bug')
      await user.press('Enter')
      await user.waitForText('Removed label “bug”')
      await user.press('Escape')
      await user.expectFocus('Write')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Actions for Write', /^Labels/)
      await user.fill('Find or create label', 'urgent')
      await user.click('option', 'Create “urgent”')
      await user.click('option', 'bug')
      await user.clickOutside()
    },
    check: async ({ card }) => {
      assert.deepEqual(
        (await card('Write')).labels.map(({ name }) => name),
        ['urgent'],
      )
    },
  },
  {
    name: 'assign oneself and another member',
    withKeyboard: async (user, { grace }) => {
      await user.focusCard('Paint', 'ArrowDown')
      await user.press('Space', 'a')
      await user.expectFocus('Find member')
      await user.type(grace.username)
      await user.press('Enter')
      await user.waitForText(`Assigned ${grace.username}`)
      await user.press('Escape')
      await user.expectFocus('Paint')
    },
    withMouse: async (user, { grace }) => {
      await user.chooseFromMenu('Actions for Paint', /^Assign me/)
      await user.chooseFromMenu('Actions for Paint', /^Assign…/)
      await user.click('option', grace.username)
      await user.clickOutside()
    },
    check: async ({ card, ada, grace }) => hasUsers((await card('Paint')).assignees, ada, grace),
  },
  {
    name: 'add a checklist and check off an item',
    withKeyboard: async (user) => {
      await user.focusCard('Write')
      await user.press('Enter')
      await user.waitForText('Add description…')
      await user.press('k')
      await user.expectFocus('New checklist name')
      await user.type('Steps')
      await user.press('Enter')
      await user.expectFocus('Add item')
      await user.type('Think')
      await user.press('Enter')
      await user.type('Draw')
      await user.press('Enter')
      await user.waitForText('0 of 2')
      await user.pressTo('Shift+Tab', 'Think')
      await user.pressTo('Shift+Tab', 'Think')
      await user.press('Space')
      await user.waitForText('1 of 2')
    },
    withMouse: async (user) => {
      await user.click('link', 'Write')
      await user.click('button', /^Add checklist/)
      await user.fill('New checklist name', 'Steps')
      await user.click('button', 'Add')
      await user.fill('Add item', 'Think')
      await user.click('button', 'Add')
      await user.fill('Add item', 'Draw')
      await user.click('button', 'Add')
      await user.click('checkbox', 'Think')
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
    withKeyboard: async (user) => {
      await user.focusCard('Write')
      await user.press('Shift+ArrowDown')
      await user.expectFocus('Write')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Actions for Write', /^Move to/)
      await user.selectOption('Position', '2, before “Print”')
      await user.click('button', 'Move')
    },
    check: async ({ cards }) => assert.deepEqual(await cards('To do'), ['Paint', 'Write', 'Print']),
  },
  {
    name: 'move a card to another column, and another card to the top',
    withKeyboard: async (user) => {
      await user.focusCard('Print', 'End')
      await user.press('m')
      await user.expectFocus('Column')
      await user.selectOption('Doing')
      await user.tabTo('Move')
      await user.press('Enter')
      await user.waitForNoDialog()
      await user.expectFocus('Print')
      await user.focusCard('Paint', 'ArrowDown')
      await user.press('Shift+Home')
      await user.expectFocus('Paint')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Actions for Print', /^Move to/)
      await user.selectOption('Column', 'Doing')
      await user.click('button', 'Move')
      await user.waitForNoDialog()
      await user.chooseFromMenu('Actions for Paint', /^Move to/)
      await user.selectOption('Position', '1, before “Write”')
      await user.click('button', 'Move')
    },
    check: async ({ order }) =>
      assert.deepEqual(await order(), [
        ['To do', ['Paint', 'Write']],
        ['Doing', ['Print', 'Sew']],
        ['Done', ['Plan']],
      ]),
  },
  {
    name: 'show only my cards, then all cards',
    withKeyboard: async (user) => {
      await user.focusCard('Write')
      await user.press('f')
      await expect.poll(() => user.shownCards()).toEqual(['Sew'])
      await user.press('Escape')
      await expect.poll(() => user.shownCards()).toHaveLength(5)
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Filter by due date, label or person', /^Mine/, 'menuitemcheckbox')
      await expect.poll(() => user.shownCards()).toEqual(['Sew'])
      await user.click('button', 'Clear')
      await expect.poll(() => user.shownCards()).toHaveLength(5)
    },
    check: async ({ order }) => assert.deepEqual(await order(), Object.entries(columns)),
  },
  {
    name: 'archive a card and undo it',
    withKeyboard: async (user, { cards }) => {
      await user.focusCard('Paint', 'ArrowDown')
      await user.press('Delete')
      await user.expectFocus('Print')
      await expect.poll(() => cards('To do')).toEqual(['Write', 'Print'])
      await user.press('Control+z')
    },
    withMouse: async (user, { cards }) => {
      await user.chooseFromMenu('Actions for Paint', /^Archive/)
      await expect.poll(() => cards('To do')).toEqual(['Write', 'Print'])
      await user.click('button', 'Undo')
    },
    check: async ({ order }) => assert.deepEqual(await order(), Object.entries(columns)),
  },
  {
    name: 'invite a member',
    withKeyboard: async (user, { nonMember }) => {
      await user.tabTo('Share')
      await user.press('Enter')
      await user.expectFocus('Invite people')
      await user.type(nonMember.username)
      await user.waitForText(`@${nonMember.username}`)
      await user.press('Enter')
      await user.waitForText(`Added ${nonMember.username}`)
    },
    withMouse: async (user, { nonMember }) => {
      await user.click('button', 'Share')
      await user.fill('Invite people', nonMember.username)
      await user.click('option', new RegExp(nonMember.username))
    },
    check: async ({ members, ada, grace, nonMember }) => hasUsers(await members(), ada, grace, nonMember),
  },
  {
    name: 'add a rule',
    withKeyboard: async (user) => {
      await user.tabTo('Board menu')
      await user.chooseFromMenu('Automation')
      await user.waitForText('New rule')
      await user.press('n')
      await user.expectFocus('When a card')
      await user.tabTo('Column')
      await user.selectOption('Done')
      await user.tabTo('Add rule')
      await user.press('Enter')
      await user.expectFocus(/^New rule/)
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Board menu', 'Automation')
      await user.click('button', /^New rule/)
      await user.selectOption('Column', 'Done')
      await user.click('button', 'Add rule')
    },
    check: async ({ ada, id, column }) => {
      const [rule] = await ada.api.call('listRules', { params: { board_id: id } })
      assert.equal(rule?.trigger_column_id, (await column('Done')).id)
      assert.equal(rule.action_user_id, ada.id)
    },
  },
  {
    name: 'choose the dark theme',
    withKeyboard: async (user) => {
      await user.tabTo(/account of/)
      await user.chooseFromMenu('Settings')
      await user.expectFocus('Settings')
      await user.tabTo('System')
      await user.press('ArrowDown', 'ArrowDown')
      await user.expectFocus('Dark')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu(/account of/, 'Settings')
      await user.click('radio', 'Dark')
    },
    check: async ({ theme }) => assert.equal(await theme(), 'dark'),
  },
  {
    name: 'find a card by a part of its title and open it',
    withKeyboard: async (user) => {
      await user.press('Control+k')
      await user.expectFocus('Search cards, boards and actions')
      await user.type('sew')
      await user.press('Enter')
      await user.waitForText('Add description…')
    },
    withMouse: async (user) => {
      await user.chooseFromMenu('Board menu', /^Command palette/)
      await user.fill('Search cards, boards and actions', 'sew')
      await user.click('option', /^Sew/)
      await user.waitForText('Add description…')
    },
    check: async ({ url, id, card }) => assert.match(await url(), new RegExp(`/b/${id}/c/${(await card('Sew')).id}$`)),
  },
]
