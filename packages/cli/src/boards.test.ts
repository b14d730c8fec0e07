import { dateWords, localDay, parseDay } from '@lockstep/client/days'
import { CliUser } from '@lockstep/testing/cli/command'
import { PASSWORD, startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
const user = new CliUser()
beforeAll(async () => {
  service = await startService()
  board = await service.board()
  await user.login(service.baseUrl, board.owner.email)
})
afterAll(async () => {
  user.dispose()
  await service.stop()
})

const read = () => board.owner.api.call('getBoard', { params: { board_id: board.id } })
const titles = async (column: number) => (await read()).columns[column]?.cards.map(({ title }) => title)
const newBoard = async (title: string) => (await board.owner.api.call('createBoard', { body: { title } })).id

describe('boards and cards', () => {
  test('[CLI-7] lists boards, adds and moves cards, and draws the board', async () => {
    expect((await user.run(['boards'])).out).toMatch(/^[\da-f-]{8,} {2}Plan {2}2 members\n$/)
    for (const title of ['one', 'two', 'three']) {
      expect(await user.run(['add', 'Plan', 'To do', title])).toMatchObject({ code: 0, err: '' })
    }
    expect(await titles(0)).toEqual(['one', 'two', 'three'])
    await user.run(['move', 'three', 'To do', '--position', '0'])
    expect(await titles(0)).toEqual(['three', 'one', 'two'])
    await user.run(['move', 'three', 'To do', '--after', 'one'])
    expect(await titles(0)).toEqual(['one', 'three', 'two'])
    const { out } = await user.run(['move', 'two', 'Done', '--board', 'Plan'])
    expect(out).toBe('Moved “two” to Done.\n')
    const shown = (await user.run(['show', 'plan'])).out
    expect(shown).toMatch(
      /^Plan {2}@.+\n\nTo do \(2\) +Done ✓ \(1\)\n─+ +─+\n• one +• two\n {2}#1 +#2\n• three\n {2}#3\n$/,
    )
  })

  test('[CLI-23] comment adds a comment, in which @username mentions a member', async () => {
    const { username, id, api } = board.member
    await api.call('updateMe', { body: { firstname: 'Grace]', lastname: 'Hopper' } })
    const text = `Ask @${username}. Or @nobody, or mail me@${username}`
    expect(await user.run(['comment', '#1', text, '--board', 'Plan'])).toMatchObject({
      code: 0,
      err: '',
      out: `Commented on “one”, mentioning @${username}.\n`,
    })
    expect((await user.run(['comment', 'one', 'Done.'])).out).toBe('Commented on “one”.\n')
    expect(await user.run(['comment', 'one', ' '])).toMatchObject({ code: 1, out: '' })
    const card_id = (await read()).columns[0]?.cards.find(({ title }) => title === 'one')?.id ?? ''
    const comments = await api.call('listComments', { params: { card_id } })
    expect(comments.map(({ body }) => body)).toEqual([
      'Done.',
      `Ask @[Grace Hopper](user:${id}). Or @nobody, or mail me@${username}`,
    ])
  })

  test('[CLI-21] due sets and clears the due date of a card, which is named by its number, title or id', async () => {
    const dueOf = async (title: string) =>
      (await read()).columns.flatMap(({ cards }) => cards).find((card) => card.title === title)?.due_on
    expect(await user.run(['due', 'one', '2026-11-20'])).toMatchObject({
      code: 0,
      out: '“one” is due on 2026-11-20.\n',
    })
    expect((await user.run(['show', 'plan'])).out).toContain('#1 due 2026-11-20')
    // Far east of UTC it is tomorrow already.
    const now = Date.now()
    const east = new Date(now + 14 * 3_600_000).toISOString().slice(0, 10)
    await user.run(['due', '#1', 'today', '--board', 'Plan'], { env: { TZ: 'Pacific/Kiritimati' } })
    expect([east, new Date(now + 15 * 3_600_000).toISOString().slice(0, 10)]).toContain(await dueOf('one'))
    await user.run(['due', '#3', '+2w', '--board', 'Plan'], { env: { TZ: 'UTC' } })
    const days = (Date.parse((await dueOf('three')) ?? '') - now) / 86_400_000
    expect(days).toBeGreaterThan(13)
    expect(days).toBeLessThanOrEqual(14)
    expect(await user.run(['due', 'one', 'none'])).toMatchObject({ code: 0, out: '“one” has no due date.\n' })
    expect(await dueOf('one')).toBeNull()
    expect(await user.run(['due', 'one', 'someday'])).toMatchObject({ code: 2 })
    expect(await user.run(['due', '#99', 'today', '--board', 'Plan'])).toMatchObject({ code: 4 })
    expect(await user.run(['due', 'one', '2026-02-30'])).toMatchObject({ code: 2 })
  })

  test('[CLI-31] due takes the days that the web client takes', async () => {
    const dueAt = async (text: string, env = {}) => {
      const { code, out } = await user.run(['due', 'one', text, '--board', 'Plan', '--json'], { env })
      return code === 0 ? (JSON.parse(out).due_on as string | null) : code
    }
    const english = { LC_ALL: 'en_GB.UTF-8' }
    for (const text of [
      'fri',
      'Friday',
      '20.11',
      '20 Nov',
      '20 November 2030',
      '2030-1-2',
      '5/11/2030',
      '3d',
      'Tomorrow',
    ])
      expect([text, await dueAt(text, english)]).toEqual([
        text,
        parseDay(text, localDay(new Date()), dateWords('en-GB')),
      ])
    expect(await dueAt('20. November 2030', { LC_ALL: 'de_DE.UTF-8' })).toBe('2030-11-20')
    expect(await dueAt('11/12/2030', { LC_ALL: 'en_US.UTF-8' })).toBe('2030-11-12')
    for (const text of ['someday', '31.11', '2026-02-29', '']) expect(await dueAt(text)).toBe(2)
    expect(await dueAt('none')).toBeNull()
  })

  test('[CLI-22] archive and restore a card; restore lists what was archived and deleted', async () => {
    const inBoard = ['--board', 'Plan']
    expect(await user.run(['restore', 'Plan'])).toMatchObject({ code: 0, out: 'Nothing was archived or deleted.\n' })
    expect(await user.run(['restore', 'Plan', 'one'])).toMatchObject({ code: 4 })
    const before = await titles(0)
    expect(await user.run(['archive', 'one', ...inBoard])).toMatchObject({ code: 0, out: 'Archived “one”.\n' })
    expect(await titles(0)).not.toContain('one')
    expect((await user.run(['restore', 'Plan'])).out).toMatch(/^[\da-f]{8,} {2}archived {2}card “one” #1\n$/)
    expect(await user.run(['archive', 'one', ...inBoard])).toMatchObject({ code: 4 })
    expect(await user.run(['restore', 'Plan', 'on'])).toMatchObject({ code: 0, out: 'Restored “one”.\n' })
    expect(await titles(0)).toEqual(before)
    const { id } = await user.json<{ id: string }>(['archive', '#1', ...inBoard])
    expect(await user.json(['restore', 'Plan', '#1', '--column', 'Done'])).toMatchObject({ card: { id, title: 'one' } })
    await user.run(['move', 'one', 'To do', '--position', '0', ...inBoard])
  })

  test('[CLI-7] a board with seven columns is drawn in rows that fit the width', async () => {
    const board_id = await newBoard('Wide')
    for (const title of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      await board.owner.api.call('createColumn', { params: { board_id }, body: { title } })
    }
    await user.run([
      'add',
      'Wide',
      'g',
      '日本語のとても長い題名は二行に折り返されて残りは省略される、なぜなら場所がないから、それだけ',
    ])
    const { out } = await user.run(['show', 'Wide'])
    const lines = out.trimEnd().split('\n')
    expect(lines.filter((line) => line.includes('(0)') || line.includes('(1)'))).toHaveLength(2)
    expect(out).toContain('…')
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)
  })
})

test('[CLI-24] inbox lists mentions, assignments and new boards, and marks them as read', async () => {
  expect((await user.run(['inbox'])).out).toBe('Nothing here yet.\n')
  const { owner, member } = board
  const title = 'Login\u001bpage'
  const params = { board_id: board.id, column_id: board.columns[0].id }
  const { id: card_id, number } = await member.api.call('createCard', { params, body: { title } })
  await member.api.call('assignCard', { params: { card_id }, body: { user_ids: [owner.id] } })
  const mention = { params: { card_id }, body: { body: `@[Ada](user:${owner.id}) look` } }
  await member.api.call('createComment', mention)
  const line = `@${member.username} mentioned you and 1 more  #${number} Login\\u{1b}page · Plan  “@Ada look”\n`
  const shown = (await user.run(['inbox'])).out
  expect(shown).toBe(`• ${line}`)
  expect((await user.run(['inbox', '--unread', '--read'])).out).toBe(shown)
  expect((await user.run(['inbox', '--unread'])).out).toBe('Nothing unread.\n')
  expect((await user.run(['inbox'])).out).toBe(`  ${line}`)
  await owner.api.call('deleteCard', { params: { card_id } })
  await owner.api.call('purgeRemoved', { params: { board_id: board.id, removed_id: card_id } })
})

test('[CLI-17] [INVITE-13] invite prints a link with the address of the service, with which a person joins the board', async () => {
  const { code, out, err } = await user.run(['invite', 'Plan', '--role', 'owner', '--email', 'new@example.com'])
  expect([code, err]).toEqual([0, ''])
  const [, token = ''] = new RegExp(`^${service.baseUrl}/app/invite#([\\w-]{43})\n$`).exec(out) ?? []
  const preview = await service.anybody.call('readInvitation', { body: { token } })
  expect(preview).toMatchObject({ board_title: 'Plan', role: 'owner', email: 'new@example.com' })
  const json = JSON.parse((await user.run(['invite', 'Plan', '--json'])).out) as { role: string; link: string }
  expect(json).toMatchObject({ role: 'member', link: expect.stringMatching(`^${service.baseUrl}/app/invite#`) })
  expect(await user.run(['invite', 'Plan', '--role', 'guest'])).toMatchObject({ code: 2 })
})

describe('names', () => {
  test('[CLI-6] an id, a title in any case, or a prefix of either identifies an item', async () => {
    for (const word of [board.id, board.id.toUpperCase(), board.id.slice(0, 30), 'Plan', 'PLAN', 'pla']) {
      const { code, out } = await user.run(['show', word, '--json'])
      expect({ word, code, id: JSON.parse(out).id }).toEqual({ word, code: 0, id: board.id })
    }
  })

  test('[CLI-6] an unknown column lists those of the board', async () => {
    const { code, err } = await user.run(['add', 'Plan', 'nonsense', 'title'])
    expect({ code, err }).toEqual({
      code: 4,
      err: 'lockstep: There is no column “nonsense”. There are: “To do”, “Done”.\n',
    })
  })

  test('[CLI-6] an exact title wins over a prefix; an ambiguous name fails and lists the matches', async () => {
    const [ship, crew] = [await newBoard('Ship'), await newBoard('Ship crew')]
    expect(await user.json(['show', 'ship'])).toMatchObject({ id: ship })
    const { code, out, err } = await user.run(['show', 'shi'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe(`lockstep: “shi” matches 2: ${ship} “Ship”, ${crew} “Ship crew”.\n`)
  })

  test('[CLI-6] an unknown name exits with code 4', async () => {
    for (const args of [
      ['show', 'Nowhere'],
      ['watch', 'Nowhere'],
      ['seed', 'Nowhere'],
      ['show', '01890000-0000-7000-8000-000000000000'],
      ['add', 'Plan', 'Nowhere', 'title'],
      ['move', 'Nowhere', 'Done'],
      ['show', ''],
    ]) {
      expect({ args, ...(await user.run(args)) }).toMatchObject({ args, code: 4, out: '' })
    }
  })
})

describe('output', () => {
  test('[CLI-8] a title cannot control the terminal', async () => {
    const board_id = await newBoard('\x1b]0;owned\x07\x1b[2J evil\n\u202edrawkcab')
    const params = { board_id }
    const column = await board.owner.api.call('createColumn', { params, body: { title: '\x1b[31mred' } })
    await board.owner.api.call('createCard', {
      params: { board_id, column_id: column.id },
      body: { title: '\x9b2Jcard\x08' },
    })
    const output = [await user.run(['boards']), await user.run(['show', board_id])].map(({ out }) => out).join('')
    expect(output).toContain('\\u{1b}[2J evil')
    expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  test("[CLI-13] an error message has the service's detail and the request id", async () => {
    const { code, out, err } = await user.run(['add', 'Plan', 'To do', ' '])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^lockstep: title .+ \(request [\w-]+\)\n$/)
    const nonMember = new CliUser()
    await nonMember.login(service.baseUrl, (await service.user()).email)
    const rejected = await nonMember.run(['show', board.id])
    expect(rejected).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^lockstep: .+member.+ \(request [\w-]+\)\n$/),
    })
    nonMember.dispose()
  })

  test("[CLI-13] if the service cannot be reached, the message has the address and the system's error", async () => {
    const env = { LOCKSTEP_URL: 'http://127.0.0.1:19999', LOCKSTEP_TOKEN: 'some' }
    const { code, err } = await user.run(['boards'], { env })
    expect({ code, err }).toEqual({
      code: 1,
      err: 'lockstep: http://127.0.0.1:19999: The service could not be reached (ECONNREFUSED).\n',
    })
  })

  test('[CLI-12] colours are used only on terminals without NO_COLOR', async () => {
    const colour = /\p{Cc}\[\d+m/u
    expect((await user.startOnTerminal(['boards']).ended).out).toMatch(colour)
    expect((await user.startOnTerminal(['boards'], { NO_COLOR: '1' }).ended).out).not.toMatch(colour)
    expect((await user.run(['boards'])).out).not.toMatch(colour)
  })

  test('[CLI-1] help lists the commands and describes each one', async () => {
    const { code, out } = await user.run(['help'])
    expect(code).toBe(0)
    for (const name of ['login', 'logout', 'boards', 'show', 'watch', 'add', 'move', 'seed', 'doctor']) {
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'))
      const one = await user.run(['help', name])
      expect(one).toMatchObject({ code: 0, out: expect.stringContaining(`lockstep ${name}`) })
    }
    expect((await user.run(['move', '--help'])).out).toContain('--position <n>')
    expect((await user.run([])).out).toBe(out)
  })

  test('[CLI-1] invalid usage exits with code 2 and a message', async () => {
    for (const args of [
      ['nonsense'],
      ['toString'],
      ['help', 'nonsense'],
      ['show'],
      ['show', 'a', 'b'],
      ['boards', '--nonsense'],
      ['move', 'a', 'b', '--position', 'x'],
      ['move', 'a', 'b', '--position', '1', '--after', 'c'],
    ]) {
      const { code, out, err } = await user.run(args)
      expect({ args, code, out, err }).toEqual({
        args,
        code: 2,
        out: '',
        err: expect.stringMatching(/^lockstep: .+\n$/),
      })
    }
  })
})

describe('for scripts', () => {
  test('[CLI-11] with --json every command prints only JSON', async () => {
    const other = new CliUser()
    const input = `${PASSWORD}\n`
    const url = service.baseUrl
    const { email, id } = board.owner
    expect(await other.json(['login', '--url', url, '--email', email], { input })).toMatchObject({ url, user: { id } })
    expect(await other.json(['boards'])).toContainEqual(expect.objectContaining({ id: board.id }))
    expect(await other.json(['show', 'Plan'])).toMatchObject({ id: board.id, columns: [{}, {}] })
    const card = await other.json<{ id: string }>(['add', 'Plan', 'To do', 'for scripts', '--description', 'text'])
    expect(card).toMatchObject({ title: 'for scripts', description: 'text' })
    const moved = await other.json(['move', card.id, 'Done', '--position', '0'])
    expect(moved).toMatchObject({ id: card.id, column_id: board.columns[1].id })
    expect(await other.json(['due', card.id, '2026-11-20'])).toMatchObject({ id: card.id, due_on: '2026-11-20' })
    expect(await other.json(['comment', card.id, 'text'])).toMatchObject({ card_id: card.id, body: 'text' })
    expect(await other.json(['seed', 'Seeded', '--new'])).toMatchObject({ title: 'Seeded', cards: 30 })
    expect(await other.json(['doctor'])).toMatchObject({ is_ok: true })
    expect(await other.json(['archive', card.id])).toMatchObject({ id: card.id, removed: { as: 'archived' } })
    expect(await other.json(['restore', 'Plan'])).toMatchObject([{ id: card.id }])
    expect(await other.json(['restore', 'Plan', card.id])).toMatchObject({ card: { id: card.id } })
    expect(await other.json(['inbox'])).toEqual([])
    expect(await other.json(['webhooks', 'Plan'])).toEqual([])
    expect(await other.json(['help'])).toHaveLength(20)
    expect(await other.json(['help', 'add'])).toMatchObject({ name: 'add' })
    expect(await other.json(['logout'])).toMatchObject({ url, is_logged_out: true })
    other.dispose()
  })

  test('[CLI-11] errors are JSON on stderr', async () => {
    const failure = async (...args: string[]) => {
      const { code, out, err } = await user.run([...args, '--json'])
      expect(out).toBe('')
      return { code, ...JSON.parse(err).error }
    }
    expect(await failure('show', 'Nowhere')).toMatchObject({ code: 'not_found', exit_code: 4 })
    expect(await failure('show')).toMatchObject({ code: 'wrong_usage', exit_code: 2 })
    expect(await failure('add', 'Plan', 'To do', ' ')).toMatchObject({
      code: 'invalid_input',
      exit_code: 1,
      request_id: expect.any(String),
    })
  })

  test('[CLI-10] seed adds a project to a board and keeps its content', async () => {
    const board_id = await newBoard('To be seeded')
    const { code, out, err } = await user.run(['seed', 'To be seeded'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^Added 30 cards and \d checklists to To be seeded in /)
    const { columns, labels } = await board.owner.api.call('getBoard', { params: { board_id } })
    const cards = columns.flatMap((column) => column.cards)
    expect(cards).toHaveLength(30)
    expect(labels).toHaveLength(5)
    expect(cards.some((card) => card.labels.length > 1 && card.assignees.length === 1)).toBe(true)
    const items = cards.flatMap((card) => card.checklists.flatMap((checklist) => checklist.items))
    expect(items.filter((item) => item.is_done).length).toBeGreaterThan(5)
    await newBoard('Seeded on a terminal')
    expect((await user.startOnTerminal(['seed', 'Seeded on a terminal']).ended).out).toMatch(/█{30} 40 of 40/)
  })
})
