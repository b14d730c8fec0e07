import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { OUTPUT } from '../../packages/server/testing/template-database.ts'
import type { Progress, Report } from './report.ts'

interface Run {
  testResults: {
    name: string
    assertionResults: { title: string; status: string; duration?: number; failureMessages: string[] }[]
  }[]
}

/** Every journey through the web client, as the tests walk it: real browsers on the real service, each ending with axe. */
export async function prove(progress: Progress): Promise<Report> {
  const file = fileURLToPath(new URL('web-journeys.json', OUTPUT))
  await runTests(file, progress)
  const { testResults } = JSON.parse(await readFile(file, 'utf8')) as Run
  const journeys = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((each) => ({ ...each, file: name.split('/').at(-1)?.replace('.test.ts', '') ?? '' })),
  )
  const rows = journeys.map(({ file: of, title, status, duration = 0 }) => [
    of,
    title,
    status,
    (duration / 1000).toFixed(1),
  ])
  return {
    title: 'Journeys',
    setting: { journeys: journeys.length, browser: 'chromium' },
    sections: [{ heading: 'All journeys', table: { columns: ['file', 'journey', 'outcome', 'seconds'], rows } }],
    violations: journeys
      .filter(({ status }) => status !== 'passed')
      .map(({ title, status, failureMessages: [reason = ''] }) => `${title}: ${status} ${reason.split('\n')[0]}`),
  }
}

async function runTests(file: string, progress: Progress) {
  const args = ['run', 'tests/web', '--reporter', 'verbose', '--reporter', 'json', '--outputFile.json', file]
  const child = spawn('vitest', args, {
    env: { ...process.env, NO_COLOR: '1', JOURNEYS: 'all' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface(child.stdout)) if (/^ *[✓×]/.test(line)) progress(line.trim())
}
