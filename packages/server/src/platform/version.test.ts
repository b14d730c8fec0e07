import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const COMMIT = '3df1bfedd16cff61ba14a5c00dfa122fd39a1d33'
const SHORT = '3df1bfedd16c'

test.each([
  ['a branch', { HEAD: 'ref: refs/heads/main\n', 'refs/heads/main': `${COMMIT}\n` }, {}, SHORT],
  ['a commit', { HEAD: `${COMMIT}\n` }, {}, SHORT],
  ['a branch in packed references', { HEAD: 'ref: refs/heads/main\n' }, {}, undefined],
  ['nothing, in an image', {}, { REVISION: COMMIT }, SHORT],
  ['nothing, in an image that was built without a commit', {}, { REVISION: 'unknown' }, undefined],
  ['another commit than the setting', { HEAD: `${COMMIT}\n` }, { REVISION: '0123abc' }, '0123abc'],
] as const)('[OBS-19] the commit with %s checked out', (_, git, env, revision) => {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-revision-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const server = join(root, 'packages/server')
  mkdirSync(join(server, 'src/platform'), { recursive: true })
  cpSync(join(import.meta.dirname, 'version.ts'), join(server, 'src/platform/version.ts'))
  writeFileSync(join(server, 'package.json'), '{"type":"module","version":"1.2.3"}')
  for (const [file, text] of Object.entries(git)) {
    mkdirSync(dirname(join(root, '.git', file)), { recursive: true })
    writeFileSync(join(root, '.git', file), text)
  }
  const code = `import { BUILD, REVISION } from './src/platform/version.ts'; console.log(JSON.stringify({ BUILD, REVISION }))`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: server,
    env,
    encoding: 'utf8',
  })
  expect(JSON.parse(output)).toEqual({
    BUILD: revision === undefined ? '1.2.3' : `1.2.3 (commit ${revision})`,
    REVISION: revision,
  })
})
