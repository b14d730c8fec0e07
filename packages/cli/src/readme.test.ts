import { readFileSync } from 'node:fs'
import { CliUser } from '@lockstep/testing/cli/command'
import { PASSWORD, startService, type TestService } from '@lockstep/testing/service'
import { afterAll, beforeAll, expect, test } from 'vitest'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const [, session = ''] = /```console\n([\s\S]*?)```/.exec(readme) ?? []

let service: TestService
const user = new CliUser()
beforeAll(async () => {
  service = await startService()
  await service.user('ada')
})
afterAll(async () => {
  user.dispose()
  await service.stop()
})

/** Masks ids and times, which differ from run to run. */
const masked = (text: string) =>
  text
    .replaceAll(/[\da-f]{8}[\da-f-]*/g, '<id>')
    .replaceAll(/[\d.]+ (ms|s|min)\b/g, '<n> $1')
    .trimEnd()

test('[CLI-7] the session in the README has the documented output', async () => {
  const steps = session.split(/^\$ lockstep /m).slice(1)
  expect(steps.length).toBeGreaterThan(5)
  for (const step of steps) {
    const [line = '', ...shown] = step.split('\n')
    const words = [...line.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    const args = words.map((word) => word.replace('http://127.0.0.1:8000', service.baseUrl))
    const { code, out, err } = await user.run(args, { input: `${PASSWORD}\n` })
    expect({ line, code, err }).toEqual({ line, code: 0, err: '' })
    const expected = masked(shown.join('\n'))
    const printed = masked(out.replaceAll(service.baseUrl, 'http://127.0.0.1:8000'))
    // The README shortens long output.
    if (expected.endsWith('\n…')) expect(printed).toContain(expected.slice(0, -1))
    else expect(printed).toBe(expected)
  }
})
