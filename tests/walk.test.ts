import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

/** A copy of the repository, in which the steps of “Add an operation” in CONTRIBUTING are executed. */
const root = fileURLToPath(new URL('..', import.meta.url))
const copy = join(root, '.test-output/walk')
const cards = 'packages/server/src/cards'
const TEMPLATE = 'packages/testing/src/template-database.ts'

/** The steps: each names a file and has one block of code. */
const steps = [
  ...readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(
    /^\d\. \*\*`([^`]+)`\*\*[\s\S]*?```ts\n([\s\S]*?)```/gm,
  ),
].map(([, file, code]) => ({ file: file as string, code: (code as string).replaceAll(/^ {3}/gm, '') }))

// For each attempt: a retry needs files without the steps.
beforeEach(() => {
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(join(copy, 'node_modules'), { recursive: true })
  // The copy is in a folder that git ignores; as a repository of its own it is not ignored by the linter.
  mkdirSync(join(copy, '.git'))
  for (const part of ['packages', 'tests', 'scripts', 'package.json', 'tsconfig.json', '.oxlintrc.json']) {
    cpSync(join(root, part), join(copy, part), { recursive: true, filter: (path) => !path.endsWith('node_modules') })
  }
  for (const name of readdirSync(join(root, 'node_modules')).filter((entry) => entry !== '@lockstep')) {
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  }
  mkdirSync(join(copy, 'node_modules/@lockstep'))
  for (const name of readdirSync(join(copy, 'packages')))
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@lockstep', name))
  // Only what the steps can break: it is compiled three times.
  const include = ['packages/server/src/main.ts', cards, 'tests/access.test.ts']
  edit('tsconfig.json', (text) => JSON.stringify({ ...JSON.parse(text), include }))
  const test = {
    include: ['packages/server/src/**/*.test.ts', 'tests/*.test.ts'],
    globalSetup: [TEMPLATE],
    // Other tests run at the same time.
    hookTimeout: 60_000,
    testTimeout: 60_000,
  }
  writeFileSync(join(copy, 'vitest.config.ts'), `export default { test: ${JSON.stringify(test)} }`)
})
afterEach(() => rmSync(copy, { recursive: true }))

function edit(file: string, change: (text: string) => string) {
  const before = readFileSync(join(copy, file), 'utf8')
  const after = change(before)
  expect(after).not.toBe(before)
  writeFileSync(join(copy, file), after)
}
/** Inserts code at the end of the object literal that starts at `opening`. */
const intoObject = (opening: RegExp, code: string) => (text: string) => {
  const start = opening.exec(text)?.index ?? Number.NaN
  const end = start + text.slice(start).search(/\n\}\)?\n/)
  return `${text.slice(0, end)}\n${code}${text.slice(end)}`
}
/** The part of `npm run generate` that affects compilation: the types of the client. */
const generate = () => {
  const { status, stderr } = spawnSync('node', ['scripts/generate.ts', 'packages/client'], {
    cwd: copy,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
}
const lint = () =>
  spawnSync('oxlint', ['--type-aware', '--deny-warnings', cards], { cwd: copy, encoding: 'utf8' }).stdout
/** Incremental: only what depends on the last step is checked again. */
const compile = () => {
  const flags = ['--pretty', 'false', '--incremental', '--tsBuildInfoFile', join(copy, 'tsbuildinfo')]
  return spawnSync('tsc', ['-p', copy, ...flags], { cwd: copy, encoding: 'utf8' }).stdout
}

test('[DOC-5] the steps in CONTRIBUTING add an operation in four files, and the compiler asks for each', () => {
  const [contract, operations, queries, tests] = steps
  expect(steps.map((step) => step.file)).toEqual([
    'packages/contract/src/cards.ts',
    `${cards}/card-operations.ts`,
    `${cards}/card-queries.ts`,
    `${cards}/cards.test.ts`,
  ])

  edit('packages/contract/src/cards.ts', intoObject(/export const cardOperations/, contract?.code ?? ''))
  edit('packages/contract/src/cards.ts', (text) => text.replace('link, move, ', 'link, move, other, '))
  expect(compile()).toMatch(/Property 'copyCard' is missing/)
  generate()

  edit(`${cards}/card-operations.ts`, intoObject(/export const cardHandlers/, operations?.code ?? ''))
  edit(`${cards}/card-operations.ts`, (text) => text.replace('  readCardMove,\n', '  readCardMove,\n  readOriginal,\n'))
  expect(compile()).toMatch(/has no exported member (named )?'readOriginal'/)

  edit(`${cards}/card-queries.ts`, (text) => `${text}\n${queries?.code}`)
  edit(`${cards}/cards.test.ts`, (text) => `${text}\n${tests?.code}`)
  expect(compile()).toBe('')
  expect(lint()).toMatch(/Found 0 warnings and 0 errors/)

  const run = spawnSync(
    'vitest',
    ['run', '--root', copy, `${cards}/cards.test.ts`, 'tests/access.test.ts', '-t', 'copy'],
    { cwd: copy, encoding: 'utf8' },
  )
  expect(run.stdout + run.stderr).toMatch(/Tests\s+.*[2-9]\d* passed/)
  expect(run.status).toBe(0)
  // Compiles the server, while other tests run.
}, 240_000)
