import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@lockstep/testing/ports'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { REDIS } from '@lockstep/testing/template-database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SECRETS, Settings } from '../packages/server/src/config/settings.ts'
import {
  anchorsOf,
  brokenLinks,
  missingAtFirst,
  missingPaths,
  readFiles,
  readPages,
  unknownRules,
  unknownScripts,
  unknownSettings,
  unlistedPages,
} from '../scripts/documentation.ts'
import { commandsOf, uncovered } from '../scripts/documented-commands.ts'
import { registry } from './documented-commands.ts'

const pages = readPages()
const files = readFiles()
const read = (file: string) => (files.includes(file) ? readFileSync(file, 'utf8') : undefined)
const rules = read('docs/rules.md') ?? ''
const weaknesses = read('docs/known-weaknesses.md') ?? ''
const sources = files.filter(
  (file) => /\.(ts|tsx|lua|js)$|^\.ci\/run$/.test(file) && !file.startsWith('tests/documentation'),
)
const settings = [...Object.keys(Settings.properties), ...SECRETS.map((name) => `${name}_FILE`)]
const scripts = Object.fromEntries(
  ['', ...files.flatMap((file) => /^(packages\/\w+)\/package\.json$/.exec(file)?.[1] ?? [])].map((folder) => {
    const { scripts: named = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return [folder, Object.keys(named as object)]
  }),
)
const page = (text: string, name = 'docs/page.md') => new Map([[name, text]])

describe('links and names', () => {
  test('[DOC-20] every link has a target, including its heading', () => {
    expect(pages.size).toBeGreaterThan(20)
    expect(brokenLinks(pages, files)).toEqual([])
  })

  test('[DOC-20] a broken link is found', () => {
    const other = new Map([
      ['docs/page.md', '[a](other.md#two-words) [b](other.md#three) ![c](pictures/no.png) [d](https://[) `[e](no.md)`'],
      ['docs/other.md', '# One\n## Two words\n```\n# three\n```\n'],
    ])
    expect(brokenLinks(other, ['docs/page.md', 'docs/other.md'])).toEqual([
      'docs/page.md: no heading for other.md#three',
      'docs/page.md: pictures/no.png does not exist',
      'docs/page.md: https://[ is not a valid URL',
    ])
    expect([...anchorsOf('# What’s `new`, 1.0?\n# A [link](x.md)\n# A link\n')]).toEqual([
      'whats-new-10',
      'a-link',
      'a-link-1',
    ])
  })

  test('[DOC-21] every file and folder exists', () => {
    expect(missingPaths(pages, files, ELSEWHERE)).toEqual([])
  })

  test.each([
    ['`scripts/nothing.ts`', ['docs/page.md: scripts/nothing.ts does not exist']],
    ['`core/nothing.ts`', ['docs/page.md: core/nothing.ts does not exist']],
    ['`nothing.test.ts`', ['docs/page.md: nothing.test.ts does not exist']],
    [
      '`packages/server/src/<domain>/nothing.ts`',
      ['docs/page.md: packages/server/src/<domain>/nothing.ts does not exist'],
    ],
    [
      '`scripts/{seed,nothing}.ts` `packages/*/src` `core/authorize.ts` `app.ts` `packages/client/dist` `/auth/me` `and/or`',
      [],
    ],
  ])('[DOC-21] in %s', (text, complaints) => {
    expect(missingPaths(page(text), files)).toEqual(complaints)
  })

  test('[DOC-22] every rule, known weakness, setting and script exists', () => {
    expect(unknownRules(pages, rules, weaknesses)).toEqual([])
    expect(unknownSettings(pages, settings, sources.map(read).join('\n'))).toEqual([])
    expect(unknownScripts(pages, scripts)).toEqual([])
  })

  test('[DOC-22] the page of dependencies lists every dependency, and no other', () => {
    const manifests = files.filter((file) => /^(packages\/\w+\/)?package\.json$/.test(file))
    const used = manifests.flatMap((file) => {
      const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(read(file) ?? '')
      return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies })
    })
    const rows = [...(read('docs/dependencies.md') ?? '').matchAll(/^\| ([^|]+) \|/gm)].map(([, names = '']) => names)
    const listed = rows.flatMap((names) => names.split(', ')).filter((name) => !/^(Package|---)$/.test(name))
    expect(listed.toSorted()).toEqual([...new Set(used)].filter((name) => !name.startsWith('@lockstep/')).toSorted())
  })

  test('[DOC-22] an unknown rule, weakness, setting or script is found', () => {
    expect(unknownRules(page('CARD-1, CARD-999, UTF-8, CVE-2024-1, V01, V99'), rules, weaknesses)).toEqual([
      'docs/page.md: unknown rule CARD-999',
      'docs/page.md: unknown weakness V99',
    ])
    expect(
      unknownSettings(page('`DATABASE_URL` `DATABSE_URL=x`\n```sh\nREDIS_ULR=y npm start\n```\n'), settings, ''),
    ).toEqual(['docs/page.md: unknown setting DATABSE_URL', 'docs/page.md: unknown setting REDIS_ULR'])
    expect(
      unknownScripts(
        page('`npm run nothing` `npm run dev -w packages/web` `npm run -s seed -w packages/web`'),
        scripts,
      ),
    ).toEqual([
      'docs/page.md: unknown script: npm run nothing',
      'docs/page.md: unknown script: npm run seed packages/web',
    ])
  })
})

describe('README and index', () => {
  const readme = pages.get('README.md') ?? ''

  test('[DOC-24] the first screen of the README says what it is, for whom, what it guarantees and how to start, with a picture', () => {
    expect(missingAtFirst(readme)).toEqual([])
    expect(missingAtFirst(readme.replaceAll('![', '['))).toEqual(['the first screen of the README lacks a picture'])
    expect(missingAtFirst(`${'\n'.repeat(60)}${readme}`)).toHaveLength(5)
  })

  test('[DOC-24] the index links to every page', () => {
    expect(unlistedPages(pages, 'docs/README.md')).toEqual([])
    const more = new Map([...pages, ['docs/new.md', '# New']])
    expect(unlistedPages(more, 'docs/README.md')).toEqual(['docs/README.md does not link to docs/new.md'])
  })
})

/** Names that look like paths of this repository, but are not. */
const ELSEWHERE = ['lockstep/login.json']

describe('commands', () => {
  let service: TestService
  let environment: NodeJS.ProcessEnv
  const home = mkdtempSync(join(tmpdir(), 'lockstep-documentation-'))
  const started = new Set<ChildProcess>()
  beforeAll(async () => {
    service = await startService()
    const { access_token } = await login(service)
    environment = {
      PATH: `${join(process.cwd(), 'node_modules/.bin')}:${process.env['PATH']}`,
      HOME: home,
      DATABASE_URL: service.databaseUrl,
      REDIS_URL: REDIS,
      LOCKSTEP_URL: service.baseUrl,
      LOCKSTEP_TOKEN: access_token,
      NO_UPDATE_NOTIFIER: '1',
    }
  })
  afterAll(async () => {
    for (const { pid } of started) if (pid) process.kill(-pid, 'SIGKILL')
    await service.stop()
    rmSync(home, { recursive: true, force: true })
  })

  /** Runs lines in one shell, and types a password if a command prompts for one. */
  const run = (lines: string[], more: NodeJS.ProcessEnv = {}) => {
    const text = lines
      .join('\n')
      .replaceAll('http://127.0.0.1:8000', service.baseUrl)
      .replaceAll('<url>', service.baseUrl)
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', text], {
      env: { ...environment, ...more },
      detached: true,
    })
    started.add(child)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()))
    // A command that reads no input may exit before this is written.
    child.stdin.on('error', () => {})
    child.stdin.end(`${PASSWORD}\n`)
    const ended = new Promise<number | null>((resolve) => {
      child.once('close', (code) => {
        started.delete(child)
        resolve(code)
      })
    })
    return { child, ended, output: () => output }
  }

  test('[DOC-23] every command is run by a test, or has a reason why not', () => {
    expect(uncovered(pages, registry, read)).toEqual([])
  })

  test('[DOC-23] an untested command and an outdated registry entry are found', () => {
    const text =
      '```sh\nnpm run a \\\n  --b # why\n# nothing\n```\n\n```console\n$ lockstep c\nsays\n```\n\n`curl d` `words`'
    expect(commandsOf(text)).toEqual([['npm run a --b'], ['lockstep c'], ['curl d']])
    const some = { 'npm run a --b': { by: 'x.ts', words: 'a' }, 'curl d': { not: '' }, 'npm e': { here: '' } }
    expect(uncovered(page(text), some, () => 'b')).toEqual([
      'docs/page.md: no test runs “lockstep c”: add it to tests/documented-commands.ts',
      '“npm run a --b”: x.ts does not contain “a”',
      '“curl d” is not run, and no reason is given',
      '“npm e” is no longer in any page',
    ])
    expect(
      uncovered(page('`npm run a --b`'), { 'npm run a --b': { by: 'x.ts', words: 'a' } }, () => undefined),
    ).toEqual(['“npm run a --b” is run by x.ts, which does not exist'])
  })

  const blocks = [...pages].flatMap(([name, text]) => commandsOf(text).map((lines) => ({ name, lines })))
  const runnable = new Map(
    blocks.flatMap(({ lines }) => {
      const own = lines.filter((line) => 'here' in (registry[line] ?? {}))
      return own.length > 0 ? [[own.join('\n'), own] as const] : []
    }),
  )

  test.each([...runnable.keys()])('[DOC-23] %s', async (key) => {
    const lines = runnable.get(key) ?? []
    const { ended, output } = run(lines)
    expect({ code: await ended, output: output() }).toMatchObject({ code: 0 })
    for (const line of lines) {
      const covering = registry[line]
      if (covering && 'here' in covering) expect(output()).toContain(covering.here)
    }
  })

  const serving = Object.keys(registry).filter((line) => 'serves' in (registry[line] ?? {}))
  test.each(serving)('[DOC-23] %s', async (line) => {
    const port = String(await freePort())
    const { child, ended, output } = run([line], { PORT: port })
    const isHealthy = () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    await expect.poll(isHealthy, { timeout: 50_000, message: output() }).toBe(true)
    if (child.pid) process.kill(-child.pid, 'SIGTERM')
    await ended
  })
})

async function login(service: TestService): Promise<{ access_token: string }> {
  const { email } = await service.user('reader')
  const form = new URLSearchParams({ username: email, password: PASSWORD })
  const response = await fetch(`${service.baseUrl}/auth/login`, { method: 'POST', body: form })
  return (await response.json()) as { access_token: string }
}
