import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expressionOf, parseLog, withoutColons } from '../bench/bare-statements.ts'
import { exponent } from '../bench/growth.ts'
import { Load } from '../bench/load.ts'
import { byTurns, cpuOf, type Figure, figure, median, threadsCpuOf } from '../bench/measure.ts'
import { VERSUS, VERSUS_SMOKE } from '../bench/size.ts'
import { compare, judge, ratioOf, sentenceOf } from '../bench/versus.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../', import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lockstep-bench-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What lies in the folder of results, by name. */
const resultsOf = async (root: string) => {
  const names = await readdir(join(root, 'bench/results')).catch(() => [])
  const texts = await Promise.all(names.map((name) => readFile(join(root, 'bench/results', name), 'utf8')))
  return Object.fromEntries(names.map((name, i) => [name, texts[i] as string]))
}

test('[BENCH-1] [BENCH-4] a smoke run measures everything, checks what it measured, and leaves earlier results alone', {
  timeout: 400_000,
}, async () => {
  const before = await resultsOf(ROOT)
  const { stdout } = await run(process.execPath, ['bench/main.ts', '--smoke', '--out', folder], { cwd: ROOT })
  expect(stdout).toContain('; 0 of 8 benchmarks broken')
  expect(await resultsOf(ROOT)).toEqual(before)

  const kept = await resultsOf(folder)
  const figures = JSON.parse(kept['latest.json'] ?? '') as Figure[]
  expect(Array.isArray(figures)).toBe(true)
  for (const each of figures) {
    expect(Object.keys(each)).toEqual(expect.arrayContaining(['name', 'ours', 'bare', 'ratio', 'goal', 'met']))
    expect(each.met === null).toBe(each.goal === null)
    expect(Number.isFinite(each.ours)).toBe(true)
  }
  const names = figures.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const part of [
    'create card, 8 connections, to one function',
    'hot board',
    'full board of 20 cards, unchanged',
  ]) {
    expect(names.some((name) => name.startsWith(part))).toBe(true)
  }
  for (const part of ['fan-out to', 'write to a client', 'login', 'growth of create card with boards', 'to Planka']) {
    expect(names.some((name) => name.includes(part))).toBe(true)
  }
  expect(JSON.parse(kept['conditions.json'] ?? '')).toMatchObject({ rounds: 1, 'Node.js': process.versions.node })

  const page = await readFile(join(folder, 'docs/performance.md'), 'utf8')
  for (const name of names) expect(page).toContain(`| ${name} |`)
  const drawn = [...page.matchAll(/\]\((pictures\/bench-[\w-]+\.svg)\)/g)].map(([, path]) => path as string)
  expect(drawn.length).toBeGreaterThanOrEqual(4)
  for (const path of drawn) {
    const svg = await readFile(join(folder, 'docs', path), 'utf8')
    expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
    expect(svg).not.toMatch(/NaN|Infinity|undefined/)
  }
})

describe('measuring', () => {
  test('[BENCH-1] turns go back and forth, and a figure is the median of its own', async () => {
    const order: string[] = []
    const turn = (name: string) => async () => order.push(name)
    const found = await byTurns(3, { ours: turn('ours'), bare: turn('bare') })
    expect(order.join(' ')).toBe('ours bare bare ours ours bare')
    expect(found).toEqual({ ours: [1, 4, 5], bare: [2, 3, 6] })
    expect([median([5, 1, 4]), median([4, 1, 2, 3])]).toEqual([4, 2.5])
  })

  test('[BENCH-1] a goal is met from its bound on, and a figure without a goal is only told', () => {
    const goals = { ratio: { least: 0.75 }, ours: { most: 20 } }
    expect(figure('a', '/s', { ours: 15, bare: 20 }, goals)).toMatchObject({ ratio: 0.75, met: true, reached: 1 })
    expect(figure('a', '/s', { ours: 14, bare: 20 }, goals)).toMatchObject({ ratio: 0.7, met: false })
    expect(figure('a', '/s', { ours: 21, bare: 20 }, goals).met).toBe(false)
    expect(figure('a', '/s', { ours: 21, bare: 20 })).toMatchObject({ goal: null, met: null })
  })

  test('[BENCH-1] the exponent tells constant, proportional and square apart', () => {
    const over = (cost: (n: number) => number) => exponent([10, 100, 1_000].map((n) => [n, cost(n)]))
    expect(over(() => 7)).toBeCloseTo(0)
    expect(over((n) => 3 * n)).toBeCloseTo(1)
    expect(over((n) => n * n)).toBeCloseTo(2)
    expect(over((n) => n * Math.log(n))).toBeGreaterThan(1)
    expect(over((n) => n * Math.log(n))).toBeLessThan(1.3)
  })

  test('[BENCH-1] processor time is that of the process and of its children', async () => {
    const before = cpuOf(process.pid)
    const burn = 'const end = process.cpuUsage().user + 300000; while (process.cpuUsage().user < end);'
    await run(process.execPath, ['-e', burn])
    expect(cpuOf(process.pid) - before).toBeGreaterThanOrEqual(250)
  })
})

describe('load', () => {
  test('[BENCH-2] every request is counted, and one wrong answer among many breaks the run', async () => {
    let asked = 0
    const titles = new Set<string>()
    let wrong_at = Number.POSITIVE_INFINITY
    const server = createServer((request, response) => {
      const status = ++asked === wrong_at ? 500 : 201
      request.on('data', (chunk: Buffer) => titles.add(chunk.toString()))
      request.on('end', () => response.writeHead(status, { 'content-length': 2 }).end('{}'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    using load = new Load()
    await load.prepare('cards', [{ method: 'POST', path: '/cards', token: 'x', body: '{"title":"########"}' }])
    const window = { connections: 3, ms: 100 }
    const { sent } = await load.run('cards', base_url, window, 201)
    expect(sent).toBe(asked)
    expect(titles.size).toBe(sent)
    wrong_at = asked + 2
    await expect(load.run('cards', base_url, window, 201)).rejects.toThrow('"500":1')
    server.closeAllConnections()
    server.close()
  })
})

describe('versus', () => {
  /** Rounds in which the second version costs so many times as much, each with a disturbance of its own. */
  const roundsOf = (ratio: number, noise: number, count = 15) =>
    Array.from({ length: count }, (_, i) => {
      const disturbed = 1 + noise * Math.sin(i * 2.4)
      return {
        before: { node: 100, postgres: 50, count: 100 },
        after: { node: 100 * ratio * disturbed, postgres: 50 * ratio * disturbed, count: 100 },
      }
    })
  const verdictOf = (...rounds: Parameters<typeof roundsOf>) =>
    [...new Set(judge('create card', roundsOf(...rounds), VERSUS).map(({ verdict }) => verdict))].join()

  test('[BENCH-6] the interval of a version beside itself includes 1, and few disturbed rounds do not move it', () => {
    const same = ratioOf([0.99, 1.02, 1, 0.98, 1.01, 1.005, 0.995, 1.01, 0.99, 1, 1.02, 0.985, 1, 0.99, 1.01])
    expect(same.low).toBeLessThan(1)
    expect(same.high).toBeGreaterThan(1)
    expect(same.high / same.low).toBeLessThan(1.03)
    const { ratio, low, high } = ratioOf([...Array.from({ length: 20 }, (_, i) => 1.1 + 0.01 * Math.cos(i)), 9, 0.1])
    expect(ratio).toBeCloseTo(1.1, 2)
    expect(low).toBeGreaterThan(1.08)
    expect(high).toBeLessThan(1.12)
  })

  test('[BENCH-6] is met up to 3 % more, missed beyond, and noisy when the interval is wider than 2 % or rounds are few', () => {
    expect(verdictOf(1, 0.01)).toBe('met')
    expect(verdictOf(1.029, 0.001)).toBe('met')
    expect(verdictOf(1.035, 0.001)).toBe('missed')
    expect(verdictOf(1.1, 0.01)).toBe('missed')
    expect(verdictOf(1, 0.2)).toBe('noisy')
    expect(verdictOf(1, 0.001, 14)).toBe('noisy')
    expect(VERSUS).toMatchObject({ least_rounds: 15, most_rounds: 45 })
  })

  test('[BENCH-5] processor time is that of all threads, finer than a tick', () => {
    const before = threadsCpuOf(process.pid)
    const end = process.cpuUsage().user + 3_000
    while (process.cpuUsage().user < end);
    const used = threadsCpuOf(process.pid) - before
    expect(used).toBeGreaterThan(2)
    expect(used % 10).not.toBe(0)
  })

  test('[BENCH-5] [BENCH-7] two versions run side by side, and one that does more in Node is found out', {
    timeout: 200_000,
  }, async () => {
    const main = join(folder, 'busy.mjs')
    const burn = `import { Server } from 'node:http'
      const { emit } = Server.prototype
      Server.prototype.emit = function (name, ...rest) {
        const end = performance.now() + (name === 'request' ? 1 : 0)
        while (performance.now() < end);
        return emit.call(this, name, ...rest)
      }
      await import(${JSON.stringify(join(ROOT, 'packages/server/src/main.ts'))})`
    await writeFile(main, burn)
    const compared = await compare({ before: {}, after: { main } }, VERSUS_SMOKE, console.log)
    expect(compared.map(({ operation, measure }) => `${operation} ${measure}`)).toEqual(
      ['create card', 'move card', 'unchanged full board'].flatMap((name) =>
        ['Node', 'PostgreSQL', 'both'].map((measure) => `${name} ${measure}`),
      ),
    )
    for (const each of compared) {
      expect(Number.isFinite(each.ratio) && each.low <= each.ratio && each.ratio <= each.high).toBe(true)
      expect(each.verdict).toBe('noisy')
      if (each.measure === 'Node') expect([sentenceOf(each), each.low > 1.03]).toEqual([sentenceOf(each), true])
    }
  })

  test('[BENCH-5] says how it is used, and which commit is not there', async () => {
    const failing = (...args: string[]) =>
      run(process.execPath, ['bench/main.ts', 'versus', ...args], { cwd: ROOT }).then(
        () => '',
        ({ stderr }: { stderr: string }) => stderr,
      )
    expect(await failing()).toContain('npm run bench -- versus <commit>')
    expect(await failing('0'.repeat(40))).toContain('does not have the commit')
  })
})

describe('the statements of the bare engine', () => {
  const board = '00000000-0000-4000-8002-000000000001'
  const known = new Map([
    [board, ':board'],
    ['7000003', ':last_seq'],
  ])

  test("[BENCH-3] are read from PostgreSQL's log, with names, texts and values", () => {
    const log = `@7@LOG:  execute lock: select\n\tfrom boards where id = $1\n@7@DETAIL:  parameters: $1 = 'it''s', $2 = NULL\n@7@LOG:  statement: commit\n`
    expect(parseLog(log)).toEqual([
      { name: 'lock', text: 'select\nfrom boards where id = $1', values: ["it's", null] },
      { name: 'commit', text: 'commit', values: [] },
    ])
  })

  test('[BENCH-3] are given other values of the same kind, and none that nobody knows', () => {
    const of = (value: string | null) => expressionOf(value, known)
    expect([of(board), of('7000003'), of(null)]).toEqual([':board', ':last_seq', 'null'])
    expect(of(`{${board}}`)).toBe("('{' || :board || '}')")
    expect(of('2026-11-15 10:00:00.123+00')).toBe(':at')
    expect(of('card.created')).toBe("'card.created'")
    expect(of('01890000-0000-7000-8000-000000000009')).toContain(':made')
    expect(() => of('7000004')).toThrow('nobody knows')
  })

  test('[BENCH-3] keep their colons from pgbench', () => {
    expect(withoutColons(`to_char(at, 'HH24:MI') = :at and '":"' = ''`)).toBe(
      `to_char(at, ('HH24' || chr(58) || 'MI')) = :at and '":"' = ''`,
    )
  })
})
