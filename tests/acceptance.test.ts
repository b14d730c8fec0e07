import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { freePort } from '@lockstep/testing/ports'
import { endProcesses } from '@lockstep/testing/processes'
import { isFullSize } from '@lockstep/testing/sample'
import { startTamperingProxy, type Tampering } from '@lockstep/testing/tampering-proxy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AcceptanceRun, failed, runAcceptance, startTwoInstances } from './acceptance-suite.ts'
import { checkDocumented } from './documented-response.ts'
import { operationsOf, readOpenApi } from './fuzz/document.ts'

/** Responses that the API document does not describe. */
const undocumented = new Set<string>()
const documented = operationsOf(readOpenApi())
let checked = 0
const compareWithDocument: Tampering = {
  replaceResponse: (request, response) => {
    for (const complaint of checkDocumented(documented, request, response)) undocumented.add(complaint)
    checked++
    return response
  },
}

let service: Awaited<ReturnType<typeof startTwoInstances>>
/** The results for the real service. */
let whole: AcceptanceRun
beforeAll(async () => {
  service = await startTwoInstances()
  await using proxy = await startTamperingProxy(service.baseUrl, compareWithDocument)
  whole = await runAcceptance(proxy.baseUrl, '--quick', '--beside', service.besideUrl)
})
afterAll(async () => {
  await service?.stop()
  await endProcesses()
})

describe('the acceptance suite', () => {
  test('[DOC-7] passes on the service for every row of the specification', () => {
    console.log([...whole.summary, `in ${whole.seconds.toFixed(1)} s`].join('\n'))
    const unsuccessful = whole.results.filter(({ outcome }) => outcome === 'failed')
    expect(unsuccessful.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([])
    expect(whole.exitCode).toBe(0)
    expect(whole.summary).toHaveLength(2)
  })

  test('[DOC-7] runs every row except the pending ones', () => {
    const leftOut = whole.results.filter(({ outcome }) => outcome === 'not run')
    expect(leftOut.map(({ reason }) => reason)).toEqual(leftOut.map(() => 'it waits: run without --quick'))
    expect(leftOut.length).toBeLessThanOrEqual(14)
  })

  test('[APIDOC-2] [APIDOC-3] sees no response, header or problem that the API document lacks', () => {
    expect(checked).toBeGreaterThan(1_000)
    expect([...undocumented]).toEqual([])
  })

  test('[DOC-7] imports nothing from the code under test', () => {
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

/** Three defects: a missing event, a wrong status and a leaked field. */
const broken: Tampering = {
  replaceMessage: ({ type }, text) => (type === 'checklist.created' ? [] : [text]),
  replaceResponse: ({ method, path }, response) => {
    if (path.endsWith('/invite') && response.status === 409) return { ...response, status: 400 }
    if (method !== 'GET' || !/^\/users\/[^/]+$/.test(path) || response.status !== 200) return response
    const user = { ...(JSON.parse(response.content.toString()) as object), hashed_password: 'hush-hush' }
    return { ...response, content: Buffer.from(JSON.stringify(user)) }
  },
}
/** The rows that must find them. */
const rows = [
  ...['6.2-checklist.created', '6.3-checklist.created'],
  ...['4.4-invite-409', '7-409'],
  ...['2-user-hashed_password', '4.2-read-user'],
]
test.runIf(isFullSize)('[DOC-7] on a broken service the suite reports exactly the broken rows', async () => {
  await using proxy = await startTamperingProxy(service.baseUrl, broken)
  const { results, exitCode } = await runAcceptance(proxy.baseUrl, '--quick', '--beside', service.besideUrl)
  const before = failed(whole.results)
  expect(
    failed(results)
      .filter((id) => !before.includes(id))
      .sort(),
  ).toEqual(rows.sort())
  expect(exitCode).toBe(1)
})

/** Services that do nothing: a row that passes on them could not fail. */
const empty: [what: string, status: number, content: object][] = [
  ['grants everything', 200, {}],
  ['refuses everything', 404, { detail: 'No.' }],
]
test.runIf(isFullSize).each(empty)('[DOC-7] no row passes on a service that %s', async (_, status, content) => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
    })
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { results, exitCode } = await runAcceptance(`http://127.0.0.1:${port}`, '--quick')
  server.closeAllConnections()
  server.close()
  expect(results.filter(({ outcome }) => outcome === 'passed').map(({ id }) => id)).toEqual([])
  expect(exitCode).toBe(1)
})
