import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { inherited } from '@lockstep/testing/processes'
import { expect, test } from 'vitest'

const { version, scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  scripts: Record<string, string>
}

/** Runs an npm script without npm. */
const run = (script: string, ...args: string[]) =>
  new Promise((resolve) => {
    const [, ...command] = scripts[script]?.replace(/^exec /, '').split(' ') ?? []
    const child = execFile(process.execPath, [...command, ...args], { env: inherited }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })

test.each(['seed', 'demo', 'acceptance', 'prove', 'bench', 'screenshots', 'lockstep'])(
  '[RUN-12] %s has --help and --version, and rejects an unknown option in one sentence',
  { timeout: 180_000 },
  async (script) => {
    const [help, printed, unknown] = await Promise.all([
      run(script, '--help'),
      run(script, '--version'),
      run(script, ...(script === 'lockstep' ? ['boards'] : []), '--nonsense'),
    ])
    expect(help).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/--version +print the version/) })
    expect(printed).toEqual({ code: 0, stderr: '', stdout: `${version}\n` })
    expect(unknown).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/^[^\n]*Unknown option[^\n]*\n$/) })
  },
)
