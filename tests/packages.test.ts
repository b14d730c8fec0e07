import { execFile, execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@lockstep/client'
import { openBrowser } from '@lockstep/testing/browser'
import { openApp, startPages } from '@lockstep/testing/client/app-page'
import { nodeVersions } from '@lockstep/testing/node-versions'
import { installPackages } from '@lockstep/testing/packed-packages'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const TIMEOUT_MS = 180_000
const OLDEST_TYPESCRIPT = '5.2.2'
const OLDEST_REACT = '18.2.0'

/** A project outside the repository, with the two packed packages installed. */
let project: string
let service: TestService
let email: string
beforeAll(async () => {
  service = await startService({ CORS_ORIGINS: '*' })
  email = (await service.user('ada')).email
  project = mkdtempSync(join(tmpdir(), 'lockstep-packages-'))
  installPackages(project, 'client', 'cli')
}, TIMEOUT_MS)
afterAll(async () => {
  rmSync(project, { recursive: true, force: true })
  await service.stop()
})

const npm = (...args: string[]) =>
  execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: project, stdio: 'pipe', encoding: 'utf8' })
const installed = (name: string, file: string) => join(project, 'node_modules/@lockstep', name, file)
const manifestOf = (name: string) => JSON.parse(readFileSync(installed(name, 'package.json'), 'utf8'))

/** A program that creates a board and waits until its live view shows the change of another client. */
const program = (imports: string) => `${imports}
async function main() {
  const client = createClient({ baseUrl: ${JSON.stringify(service.baseUrl)} })
  await client.login({ username: ${JSON.stringify(email)}, password: ${JSON.stringify(PASSWORD)} })
  const { id: board_id } = await client.createBoard({ title: 'Plan' })
  const { id: column_id } = await client.createColumn({ board_id, title: 'To do' })
  const board = await openBoard(client, board_id)
  const { outcome } = await board.change('createCard', { column_id, title: 'Mine' }).done
  await client.createCard({ board_id, column_id, title: 'Theirs' })
  const titles = () => board.view.columns[0].cards.map(({ title }) => title).join()
  await new Promise((resolve) => {
    const look = () => titles() === 'Mine,Theirs' && resolve()
    board.subscribe(look)
    look()
  })
  const error = await client.getCard({ card_id: column_id }).catch((reason) => reason)
  console.log(outcome, titles(), isLockstepError(error, 'card_not_found'), error.message)
  await board.close()
  client.close()
}
main()
`
const programs = {
  'esm.mjs': `import { createClient, isLockstepError } from '@lockstep/client'\nimport { openBoard } from '@lockstep/client/live'`,
  'commonjs.cjs': `const { createClient, isLockstepError } = require('@lockstep/client')\nconst { openBoard } = require('@lockstep/client/live')`,
}

describe.each(Object.entries(nodeVersions()))('in Node.js %s', (_, node) => {
  test.each(Object.entries(programs))(
    '[SDK-14] the packed client runs in %s',
    { timeout: TIMEOUT_MS },
    async (name, imports) => {
      const file = join(project, name)
      writeFileSync(file, program(imports))
      const { stdout } = await promisify(execFile)(node, [file], { timeout: 60_000 })
      expect(stdout).toMatch(/^confirmed Mine,Theirs true getCard: .+ \(card_not_found\)\n$/)
    },
  )

  test('[CLI-19] the packed command runs, and finds nothing wrong with the service', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const home = join(project, 'home')
    mkdirSync(home, { recursive: true })
    const env = { PATH: `${dirname(node)}:${process.env['PATH']}`, HOME: home, XDG_CONFIG_HOME: home }
    const lockstep = (...args: string[]) =>
      promisify(execFile)('npx', ['--no-install', 'lockstep', ...args], { cwd: project, env, timeout: 60_000 })
    expect((await lockstep('help')).stdout).toContain('doctor')
    const { stdout } = await lockstep('doctor', service.baseUrl)
    expect(stdout).toMatch(/✓ service [\s\S]*✓ database .*\n✓ redis /)
    await expect(lockstep('boards')).rejects.toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Not logged in'),
    })
  })
})

test('[CLI-19] installed from the packed file, the command is named lockstep', () => {
  const env = { ...process.env, npm_config_prefix: join(project, 'global') }
  execFileSync('sh', ['-c', 'npm install --global ./lockstep-cli-*.tgz'], { cwd: project, env, stdio: 'pipe' })
  const version = execFileSync(join(project, 'global/bin/lockstep'), ['--version'], { encoding: 'utf8' })
  expect(version.trim()).toBe(manifestOf('cli').version)
})

test('[CLI-29] under an older Node.js the packed command says so in one sentence', async () => {
  // No older version is at hand: only the number is older.
  const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })"
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(older)}`,
    installed('cli', 'bin/lockstep.js'),
    'help',
  ]
  await expect(promisify(execFile)(process.execPath, args)).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'lockstep needs Node.js 20.19 or newer, and this is 18.20.8.\n',
  })
})

test('[SDK-14] the first program of the guide runs in a new project', { timeout: TIMEOUT_MS }, async () => {
  const guide = readFileSync('docs/guide.md', 'utf8')
  const create = 'npm init -y && npm pkg set type=module'
  expect(guide).toContain(create)
  const fresh = join(project, 'fresh')
  mkdirSync(fresh)
  execFileSync('sh', ['-c', `${create} && npm install --offline ../lockstep-client-*.tgz`], {
    cwd: fresh,
    stdio: 'pipe',
  })
  const [, code = ''] = /```ts first-call\.ts\n([\s\S]*?)```/.exec(guide) ?? []
  writeFileSync(
    join(fresh, 'first-call.ts'),
    code.replace('http://127.0.0.1:8000', service.baseUrl).replaceAll('ada', 'ida'),
  )
  const { stdout } = await promisify(execFile)(process.execPath, ['first-call.ts'], { cwd: fresh })
  expect(stdout).toMatch(/^[\da-f-]{36}\n$/)
})

test('[SDK-3] a client without the URL of the service is not created', () => {
  // @ts-expect-error: baseUrl is required
  expect(() => createClient({})).toThrow('createClient needs baseUrl')
})

test('[SDK-14] [CLI-19] the packages have no dependencies, and say what they need and are', () => {
  for (const name of ['client', 'cli']) {
    const { dependencies, devDependencies, scripts, private: isPrivate, ...manifest } = manifestOf(name)
    expect([dependencies, devDependencies, scripts, isPrivate]).toEqual([undefined, undefined, undefined, undefined])
    expect(manifest).toMatchObject({
      author: 'The Lockstep authors',
      engines: { node: '>=20.19' },
      license: 'Apache-2.0',
    })
    expect(manifest.keywords).toContain('lockstep')
    expect(readFileSync(installed(name, 'README.md'), 'utf8')).not.toMatch(/\]\(\.\./)
    expect(readFileSync(installed(name, 'LICENSE'), 'utf8')).toContain('Apache License')
  }
  expect(manifestOf('cli').bin).toEqual({ lockstep: 'bin/lockstep.js' })
  expect(globSync(installed('{client,cli}', '**/*.ts')).filter((file) => !file.endsWith('.d.ts'))).toEqual([])
})

test('[SDK-15] every JavaScript file has a source map that contains its sources', () => {
  const files = [...globSync(installed('client', '**/*.js')), installed('cli', 'bin/main.js')]
  expect(files.length).toBeGreaterThan(30)
  for (const file of files) {
    const { sources, sourcesContent } = JSON.parse(readFileSync(`${file}.map`, 'utf8'))
    expect(sourcesContent).toHaveLength(sources.length)
    expect(readFileSync(file, 'utf8')).toMatch(/\/\/# sourceMappingURL=\S+\.js\.map\s*$/)
  }
})

test('[SDK-15] no declaration has a private or protected member, and fields with several types keep their description', () => {
  const declarations = globSync(installed('client', '**/*.d.ts')).map((file) => readFileSync(file, 'utf8'))
  expect(declarations.filter((text) => /^\s+(private|protected) /m.test(text))).toEqual([])
  const types = readFileSync(installed('client', 'types.gen.d.ts'), 'utf8')
  expect(types).toMatch(/\/\*\* Index in the target list.*\*\/\n\s+position\?: number \| null/)
})

test('[SDK-16] the declarations compile in the oldest supported TypeScript', { timeout: TIMEOUT_MS }, () => {
  npm('install', '--no-save', '--prefer-offline', `typescript@${OLDEST_TYPESCRIPT}`)
  expect(readFileSync('packages/client/README.md', 'utf8')).toContain(
    `| TypeScript | ${OLDEST_TYPESCRIPT.replace(/\.\d+$/, '')} or newer |`,
  )
  const code = `import { createClient } from '@lockstep/client'
import { openBoard } from '@lockstep/client/live'
import { verifyWebhook } from '@lockstep/client/webhooks'
export async function titleOf(request: Request, secret: string) {
  const message = await verifyWebhook(await request.text(), request.headers, secret)
  return message.type === 'card.moved' && !message.truncated ? message.data.title : message.type
}
export async function titles() {
  const board = await openBoard(createClient({ baseUrl: '' }), 'id')
  for await (const event of board.events()) if (event.type === 'card.moved') console.log(event.data.title)
}
`
  writeFileSync(join(project, 'types.mts'), code)
  const options = [
    '--strict',
    '--noEmit',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.iterable',
    '--module',
    'nodenext',
  ]
  const tsc = join(project, 'node_modules/typescript/bin/tsc')
  expect(execFileSync(process.execPath, [tsc, ...options, 'types.mts'], { cwd: project, encoding: 'utf8' })).toBe('')
})

test('[REACT-11] the hooks run in the oldest supported React, and are a client module for server components', {
  timeout: TIMEOUT_MS,
}, async () => {
  // Fails if the range of the peer dependency does not allow it.
  npm('install', '--no-save', '--prefer-offline', `react@${OLDEST_REACT}`, `react-dom@${OLDEST_REACT}`)
  expect(readFileSync('packages/client/README.md', 'utf8')).toContain(
    `| React | ${OLDEST_REACT.replace(/\.0$/, '')} or newer |`,
  )
  expect(readFileSync(installed('client', 'react/index.js'), 'utf8')).toMatch(/^['"]use client['"];?\n/)

  const client = createClient({ baseUrl: service.baseUrl })
  const { access_token: token } = await client.login({ username: email, password: PASSWORD })
  const { id: board_id } = await client.createBoard({ title: 'Plan' })
  const { id: column_id } = await client.createColumn({ board_id, title: 'To do' })
  const given = JSON.stringify({ baseUrl: service.baseUrl, token })
  const file = join(project, 'react-page.mjs')
  const code = `import { createElement, StrictMode, version } from 'react'
import { createRoot } from 'react-dom/client'
import { createClient } from '@lockstep/client'
import { useBoard, useBoardEvents, useBoardSelector } from '@lockstep/client/react'
const client = createClient(${given})
function Board({ board_id }) {
  const { view, change } = useBoard(client, board_id)
  const count = useBoardSelector(client, board_id, ({ view }) => view?.columns[0].cards.length)
  useBoardEvents(client, board_id, ({ type }) => void (document.title = type))
  const add = () => change('createCard', { column_id: '${column_id}', title: 'Mine' })
  const titles = view?.columns[0].cards.map(({ title }) => title).join()
  return createElement('button', { onClick: add }, version, ': ', titles, ' ', count)
}
createRoot(document.querySelector('#root')).render(
  createElement(StrictMode, null, createElement(Board, { board_id: '${board_id}' })),
)
`
  writeFileSync(file, code)
  const { outputFiles } = await build({ entryPoints: [file], bundle: true, write: false, format: 'iife' })
  const pages = await startPages()
  const browser = await openBrowser()
  try {
    const { page, errors } = await openApp(browser, pages.url)
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
    await page.getByText(`${OLDEST_REACT}:  0`).click()
    await page.getByText(`${OLDEST_REACT}: Mine 1`).waitFor()
    await client.createCard({ board_id, column_id, title: 'Theirs' })
    await page.getByText(`${OLDEST_REACT}: Mine,Theirs 2`).waitFor()
    await page.waitForFunction("document.title === 'card.created'")
    expect(errors).toEqual([])
  } finally {
    await browser.close()
    await pages.stop()
    client.close()
  }
})
