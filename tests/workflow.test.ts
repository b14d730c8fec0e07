import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Workflow {
  jobs: Record<string, { steps: { run?: string }[] }>
}

test('every command of the workflow is a script of the repository', () => {
  const { jobs } = parse(readFileSync('.github/workflows/tests.yml', 'utf8'), { merge: true }) as Workflow
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
  expect(commands.length).toBeGreaterThan(1)
  for (const command of commands) {
    const name = /^npm run ([\w:]+)$/.exec(command)?.[1]
    expect({ command, exists: name ? name in scripts : existsSync(command) }).toEqual({ command, exists: true })
  }
})
