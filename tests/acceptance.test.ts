import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { freePort } from '@lockstep/testing/ports'
import { endProcesses } from '@lockstep/testing/processes'
import { type Spoiling, startSpoilingProxy } from '@lockstep/testing/spoiling-proxy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failed, type Judgement, judge, startJudged } from './acceptance-suite.ts'

let service: Awaited<ReturnType<typeof startJudged>>
/** What the suite says of the service as it is. */
let whole: Judgement
beforeAll(async () => {
  service = await startJudged()
  whole = await judge(service.base_url, '--quick', '--beside', service.beside_url)
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await endProcesses()
})

describe('the acceptance suite', () => {
  test('[DOC-7] finds that the service does what the specification says', () => {
    console.log([...whole.summary, `in ${whole.seconds.toFixed(1)} s`].join('\n'))
    const unsuccessful = whole.results.filter(({ outcome }) => outcome === 'failed')
    expect(unsuccessful.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([])
    expect(whole.exit_code).toBe(0)
    expect(whole.summary).toHaveLength(2)
  })

  test('[DOC-7] runs every row but those that wait', () => {
    const left_out = whole.results.filter(({ outcome }) => outcome === 'not run')
    expect(left_out.map(({ reason }) => reason)).toEqual(left_out.map(() => 'it waits: run without --quick'))
    expect(left_out.length).toBeLessThanOrEqual(12)
  })

  test('[DOC-7] knows nothing of the code it judges', () => {
    const files = globSync('tests/acceptance/*.ts')
    const imports = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bfrom '([^']+)'|\bimport '([^']+)'|\bimport\(/g)].map(
        ([, from, bare]) => from ?? bare ?? 'something at run time',
      ),
    )
    expect(imports.length).toBeGreaterThan(20)
    expect(imports.filter((name) => !/^(\.\/[\w-]+\.ts|node:[\w/]+|ws)$/.test(name))).toEqual([])
  })
})

/** What a service could do wrong, in three places: a missing event, a wrong status and a leaked field. */
const broken: Spoiling = {
  tells: ({ type }, text) => (type === 'checklist.created' ? [] : [text]),
  answer: ({ method, path }, answer) => {
    if (path.endsWith('/invite') && answer.status === 409) return { ...answer, status: 400 }
    if (method !== 'GET' || !/^\/users\/[^/]+$/.test(path) || answer.status !== 200) return answer
    const user = { ...(JSON.parse(answer.content.toString()) as object), hashed_password: 'hush-hush' }
    return { ...answer, content: Buffer.from(JSON.stringify(user)) }
  },
}
/** The rows that speak of them. */
const rows = [
  ...['6.2-checklist.created', '6.3-checklist.created'],
  ...['4.4-invite-409', '7-409'],
  ...['2-user-hashed_password', '4.2-read-user'],
]
test('[DOC-7] before a broken service the suite finds what is wrong, and blames nothing else', async () => {
  await using proxy = await startSpoilingProxy(service.base_url, broken)
  const { results, exit_code } = await judge(proxy.base_url, '--quick', '--beside', service.beside_url)
  const before = failed(whole.results)
  expect(
    failed(results)
      .filter((id) => !before.includes(id))
      .sort(),
  ).toEqual(rows.sort())
  expect(exit_code).toBe(1)
})

/** Services that never did anything: whatever passes there is a row that could not fail. */
const empty: [what: string, status: number, content: object][] = [
  ['grants everything', 200, {}],
  ['refuses everything', 404, { detail: 'No.' }],
]
test.each(empty)('[DOC-7] no row passes before a service that %s', { timeout: 60_000 }, async (_, status, content) => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
    })
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { results, exit_code } = await judge(`http://127.0.0.1:${port}`, '--quick')
  server.closeAllConnections()
  server.close()
  expect(results.filter(({ outcome }) => outcome === 'passed').map(({ id }) => id)).toEqual([])
  expect(exit_code).toBe(1)
})
