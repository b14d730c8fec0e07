import { Person } from '@lockstep/testing/cli/command'
import { PASSWORD, startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let service: TestService
let board: TestBoard
const person = new Person()
beforeAll(async () => {
  service = await startService()
  board = await service.board()
  await person.login(service.base_url, board.owner.email)
})
afterAll(async () => {
  person.leave()
  await service.stop()
})

const read = () => board.owner.api.call('getBoard', { params: { board_id: board.id } })
const titles = async (column: number) => (await read()).columns[column]?.cards.map(({ title }) => title)
const newBoard = async (title: string) => (await board.owner.api.call('createBoard', { body: { title } })).id

describe('boards and cards', () => {
  test('[CLI-7] boards, cards added and moved, and the picture of it all', async () => {
    expect((await person.run(['boards'])).out).toMatch(/^[\da-f-]{8,} {2}Plan {2}2 people\n$/)
    for (const title of ['one', 'two', 'three']) {
      expect(await person.run(['add', 'Plan', 'To do', title])).toMatchObject({ code: 0, err: '' })
    }
    expect(await titles(0)).toEqual(['one', 'two', 'three'])
    await person.run(['move', 'three', 'To do', '--position', '0'])
    expect(await titles(0)).toEqual(['three', 'one', 'two'])
    await person.run(['move', 'three', 'To do', '--after', 'one'])
    expect(await titles(0)).toEqual(['one', 'three', 'two'])
    const { out } = await person.run(['move', 'two', 'Done', '--board', 'Plan'])
    expect(out).toBe('Moved “two” to Done.\n')
    const shown = (await person.run(['show', 'plan'])).out
    expect(shown).toMatch(/^Plan {2}@.+\n\nTo do \(2\) +Done ✓ \(1\)\n─+ +─+\n• one +• two\n• three\n$/)
  })

  test('[CLI-7] a board of seven columns is drawn in bands that fit', async () => {
    const board_id = await newBoard('Wide')
    for (const title of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      await board.owner.api.call('createColumn', { params: { board_id }, body: { title } })
    }
    await person.run([
      'add',
      'Wide',
      'g',
      '日本語のとても長い題名は二行に折り返されて残りは省略される、なぜなら場所がないから、それだけ',
    ])
    const { out } = await person.run(['show', 'Wide'])
    const lines = out.trimEnd().split('\n')
    expect(lines.filter((line) => line.includes('(0)') || line.includes('(1)'))).toHaveLength(2)
    expect(out).toContain('…')
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(100)
  })
})

describe('names', () => {
  test('[CLI-6] an id, a title in any case, and the beginning of either name a thing', async () => {
    for (const word of [board.id, board.id.toUpperCase(), board.id.slice(0, 30), 'Plan', 'PLAN', 'pla']) {
      const { code, out } = await person.run(['show', word, '--json'])
      expect({ word, code, id: JSON.parse(out).id }).toEqual({ word, code: 0, id: board.id })
    }
  })

  test('[CLI-6] a whole title wins over the beginning of another; several are an error that lists them', async () => {
    const [ship, crew] = [await newBoard('Ship'), await newBoard('Ship crew')]
    expect(await person.json(['show', 'ship'])).toMatchObject({ id: ship })
    const { code, out, err } = await person.run(['show', 'shi'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe(`lockstep: “shi” could be any of 2: ${ship} “Ship”, ${crew} “Ship crew”.\n`)
  })

  test('[CLI-6] what is not there is exit code 4', async () => {
    for (const args of [
      ['show', 'Nowhere'],
      ['watch', 'Nowhere'],
      ['seed', 'Nowhere'],
      ['show', '01890000-0000-7000-8000-000000000000'],
      ['add', 'Plan', 'Nowhere', 'title'],
      ['move', 'Nowhere', 'Done'],
      ['show', ''],
    ]) {
      expect({ args, ...(await person.run(args)) }).toMatchObject({ args, code: 4, out: '' })
    }
  })
})

describe('what is said', () => {
  test('[CLI-8] a title cannot control the terminal', async () => {
    const board_id = await newBoard('\x1b]0;owned\x07\x1b[2J evil\n\u202edrawkcab')
    const params = { board_id }
    const column = await board.owner.api.call('createColumn', { params, body: { title: '\x1b[31mred' } })
    await board.owner.api.call('createCard', {
      params: { board_id, column_id: column.id },
      body: { title: '\x9b2Jcard\x08' },
    })
    const said = [await person.run(['boards']), await person.run(['show', board_id])].map(({ out }) => out).join('')
    expect(said).toContain('\\u{1b}[2J evil')
    expect(said.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  test('[CLI-13] a failure is one sentence with the detail of the service and the id of the request', async () => {
    const { code, out, err } = await person.run(['add', 'Plan', 'To do', ' '])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^lockstep: .+title.+ \(request [\w-]+\)\n$/)
    const stranger = new Person()
    await stranger.login(service.base_url, (await service.user()).email)
    const refused = await stranger.run(['show', board.id])
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^lockstep: .+member.+ \(request [\w-]+\)\n$/),
    })
    stranger.leave()
  })

  test('[CLI-13] without a service it says which address, and what the system said', async () => {
    const env = { LOCKSTEP_URL: 'http://127.0.0.1:19999', LOCKSTEP_TOKEN: 'some' }
    const { code, err } = await person.run(['boards'], { env })
    expect({ code, err }).toEqual({
      code: 1,
      err: 'lockstep: http://127.0.0.1:19999: The service could not be reached (ECONNREFUSED).\n',
    })
  })

  test('[CLI-12] colours are for terminals, and not for who set NO_COLOR', async () => {
    const colour = /\p{Cc}\[\d+m/u
    expect((await person.startOnTerminal(['boards']).ended).out).toMatch(colour)
    expect((await person.startOnTerminal(['boards'], { NO_COLOR: '1' }).ended).out).not.toMatch(colour)
    expect((await person.run(['boards'])).out).not.toMatch(colour)
  })

  test('[CLI-1] help lists the commands, and says all that one takes', { timeout: 60_000 }, async () => {
    const { code, out } = await person.run(['help'])
    expect(code).toBe(0)
    for (const name of ['login', 'logout', 'boards', 'show', 'watch', 'add', 'move', 'seed', 'doctor']) {
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'))
      const one = await person.run(['help', name])
      expect(one).toMatchObject({ code: 0, out: expect.stringContaining(`lockstep ${name}`) })
    }
    expect((await person.run(['move', '--help'])).out).toContain('--position <n>')
    expect((await person.run([])).out).toBe(out)
  })

  test('[CLI-1] wrong usage is exit code 2 and a sentence', async () => {
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
      const { code, out, err } = await person.run(args)
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
  test('[CLI-11] every command prints JSON and nothing else', async () => {
    const other = new Person()
    const input = `${PASSWORD}\n`
    const url = service.base_url
    const { email, id } = board.owner
    expect(await other.json(['login', '--url', url, '--email', email], { input })).toMatchObject({ url, user: { id } })
    expect(await other.json(['boards'])).toContainEqual(expect.objectContaining({ id: board.id }))
    expect(await other.json(['show', 'Plan'])).toMatchObject({ id: board.id, columns: [{}, {}] })
    const card = await other.json<{ id: string }>(['add', 'Plan', 'To do', 'for scripts', '--description', 'text'])
    expect(card).toMatchObject({ title: 'for scripts', description: 'text' })
    const moved = await other.json(['move', card.id, 'Done', '--position', '0'])
    expect(moved).toMatchObject({ id: card.id, column_id: board.columns[1].id })
    expect(await other.json(['seed', 'Seeded', '--new'])).toMatchObject({ title: 'Seeded', cards: 30 })
    expect(await other.json(['doctor'])).toMatchObject({ is_ok: true })
    expect(await other.json(['help'])).toHaveLength(9)
    expect(await other.json(['help', 'add'])).toMatchObject({ name: 'add' })
    expect(await other.json(['logout'])).toMatchObject({ url, is_logged_out: true })
    other.leave()
  })

  test('[CLI-11] failures are JSON on standard error', async () => {
    const failure = async (...args: string[]) => {
      const { code, out, err } = await person.run([...args, '--json'])
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

  test('[CLI-10] seed fills a board with a project, beside what is on it', async () => {
    const board_id = await newBoard('To be seeded')
    const { code, out, err } = await person.run(['seed', 'To be seeded'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^To be seeded has 30 cards and \d checklists more/)
    const { columns, labels } = await board.owner.api.call('getBoard', { params: { board_id } })
    const cards = columns.flatMap((column) => column.cards)
    expect(cards).toHaveLength(30)
    expect(labels).toHaveLength(5)
    expect(cards.some((card) => card.labels.length > 1 && card.assignees.length === 1)).toBe(true)
    const items = cards.flatMap((card) => card.checklists.flatMap((checklist) => checklist.items))
    expect(items.filter((item) => item.is_done).length).toBeGreaterThan(5)
    await newBoard('Seen')
    expect((await person.startOnTerminal(['seed', 'Seen']).ended).out).toMatch(/█{30} 40 of 40/)
  })
})
