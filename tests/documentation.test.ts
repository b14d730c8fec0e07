import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@lockstep/testing/ports'
import { inherited } from '@lockstep/testing/processes'
import { startService, type TestService } from '@lockstep/testing/service'
import { REDIS } from '@lockstep/testing/template-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminCommands, isAdminCommand, optionsOf } from '../packages/server/src/administration/admin-commands.ts'
import { SECRETS, Settings } from '../packages/server/src/config/settings.ts'
import {
  brokenLinks,
  missingPaths,
  readFiles,
  readPages,
  unknownOptions,
  unknownRules,
  unknownScripts,
  unknownSettings,
  unlistedPages,
} from '../scripts/documentation.ts'
import { suites } from './prove/suites.ts'

const pages = readPages()
const files = readFiles()
const read = (file: string) => (files.includes(file) ? readFileSync(file, 'utf8') : undefined)
const rules = read('docs/rules.md') ?? ''
const weaknesses = read('docs/known-weaknesses.md') ?? ''
const sources = files.filter(
  (file) => /\.(ts|tsx|lua|js)$|^\.ci\/run$/.test(file) && !file.startsWith('tests/documentation'),
)
// Docker Compose reads the last one.
const settings = [...Object.keys(Settings.properties), ...SECRETS.map((name) => `${name}_FILE`), 'COMPOSE_FILE']
const scripts = Object.fromEntries(
  ['', ...files.flatMap((file) => /^(packages\/\w+)\/package\.json$/.exec(file)?.[1] ?? [])].map((folder) => {
    const { scripts: named = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return [folder, Object.keys(named as object)]
  }),
)
/** Names that look like paths of this repository, but are not. */
const ELSEWHERE = ['lockstep/login.json']

/** The commands of each program, with their options. The command line tells its own in the completion for a shell. */
const completion = execFileSync(process.execPath, ['packages/cli/src/main.ts', 'completion', 'bash'], {
  encoding: 'utf8',
})
const admin = Object.keys(adminCommands).filter(isAdminCommand)
const programs = [
  {
    called: /(?:^|\$ |npm run )lockstep (?:-- )?/,
    commands: {
      ...Object.fromEntries(
        [...completion.matchAll(/^ +(\w+)\) words='(.+)' ;;$/gm)].map(([, name = '', words = '']) => [
          name,
          words.split(' '),
        ]),
      ),
      help: [],
    },
  },
  {
    called: /(?:npm run admin --|docker compose run --rm admin) /,
    commands: Object.fromEntries(
      admin.map((name) => [name, Object.keys(optionsOf(name)).map((option) => `--${option}`)]),
    ),
  },
  {
    called: /npm run prove -- /,
    commands: { all: [], ...Object.fromEntries(Object.keys(suites).map((name) => [name, []])) },
  },
]

test('[DOC-20] every link has a target, including its heading', () => {
  expect(pages.size).toBeGreaterThan(20)
  expect(brokenLinks(pages, files)).toEqual([])
})

test('[DOC-21] every file and folder exists', () => {
  expect(missingPaths(pages, files, ELSEWHERE)).toEqual([])
})

test('[DOC-22] every rule, known weakness, setting and script exists', () => {
  expect(unknownRules(pages, rules, weaknesses)).toEqual([])
  expect(unknownSettings(pages, settings, sources.map(read).join('\n'))).toEqual([])
  expect(unknownScripts(pages, scripts)).toEqual([])
})

test('[DOC-23] every command of lockstep, npm run admin and npm run prove exists, with its options', () => {
  expect(unknownOptions(pages, programs)).toEqual([])
})

test('[DOC-20] [DOC-21] [DOC-22] [DOC-23] an error of each kind is found', () => {
  const text =
    '[a](no.md) [b](#nowhere) `scripts/nothing.ts` CARD-999 V99 `DATABSE_URL` `npm run nothing` `lockstep fly` `npm run admin -- audit --csv`'
  const bad = new Map([['docs/page.md', text]])
  expect([
    ...brokenLinks(bad, ['docs/page.md']),
    ...missingPaths(bad, files),
    ...unknownRules(bad, rules, weaknesses),
    ...unknownSettings(bad, settings, ''),
    ...unknownScripts(bad, scripts),
    ...unknownOptions(bad, programs),
  ]).toEqual([
    'docs/page.md: no.md does not exist',
    'docs/page.md: no heading for #nowhere',
    'docs/page.md: scripts/nothing.ts does not exist',
    'docs/page.md: unknown rule CARD-999',
    'docs/page.md: unknown weakness V99',
    'docs/page.md: unknown setting DATABSE_URL',
    'docs/page.md: unknown script: npm run nothing',
    'docs/page.md: unknown command: lockstep fly',
    'docs/page.md: unknown option: npm run admin -- audit --csv',
  ])
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

test('[DOC-24] the index links to every page', () => {
  expect(unlistedPages(pages, 'docs/README.md')).toEqual([])
})

let service: TestService
const started = new Set<ChildProcess>()
beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  for (const { pid } of started) if (pid) process.kill(-pid, 'SIGKILL')
  await service.stop()
})

/** Runs lines of the documentation in a shell. */
function run(lines: string, settings: Record<string, string> = {}) {
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', lines], {
    env: { ...inherited, DATABASE_URL: service.databaseUrl, REDIS_URL: REDIS, ...settings },
    detached: true,
  })
  started.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()))
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      started.delete(child)
      resolve(code)
    })
  })
  return { child, ended, output: () => output }
}

test('[DOC-23] the requests of the README register a user and create a board', async () => {
  const [requests = ''] = /^api=[^`]+/m.exec(read('README.md') ?? '') ?? []
  const { ended, output } = run(requests.replace('http://127.0.0.1:8000', service.baseUrl))
  expect({ code: await ended, output: output() }).toMatchObject({ code: 0 })
  for (const part of ['"username":"ada"', '"title":"Plan"']) expect(output()).toContain(part)
})

test('[DOC-23] npm run seed prints an account', async () => {
  const { ended, output } = run('npm run seed -- --boards 1 --cards 1')
  expect({ code: await ended, output: output() }).toEqual({ code: 0, output: expect.stringContaining('Log in as ') })
})

test.each(['npm start', 'npm run dev'])('[DOC-23] %s serves', async (command) => {
  const port = String(await freePort())
  const { child, ended, output } = run(command, { PORT: port })
  const isHealthy = () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isHealthy, { timeout: 50_000, message: output() }).toBe(true)
  if (child.pid) process.kill(-child.pid, 'SIGTERM')
  await ended
})
