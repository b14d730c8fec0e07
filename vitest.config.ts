import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LONG_JOURNEYS, sharedFiles } from './scripts/suites.ts'

// Shared by the many processes that tests start: compiling is most of their start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

// The commit of the services that tests start in their own process, whatever the checkout is.
process.env['REVISION'] = '0123456789ab'

const settings = {
  pool: 'forks',
  maxWorkers: 3,
  // Generous: machines are shared, and a test that waits for nothing ends at once.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
} as const
const shared = sharedFiles()

export default defineConfig({
  test: {
    globalSetup: ['packages/testing/src/template-database.ts', 'scripts/build-web.ts'],
    reporters: ['default', ['json', { outputFile: '.test-output/report.json' }]],
    tags: [
      { name: 'journey', description: 'in a browser' },
      { name: 'smoke', description: 'a journey that every submission makes' },
    ],
    projects: [
      // One process runs one file after the other and keeps the modules, which would take a second or two to load again.
      { test: { ...settings, name: 'shared', include: shared, isolate: false } },
      {
        test: {
          ...settings,
          name: 'isolated',
          include: ['packages/*/src/**/*.test.ts', '{bench,tests}/**/*.test.ts'],
          exclude: [...shared, ...(process.env['TEST_SIZE'] === 'full' ? [] : LONG_JOURNEYS)],
          // Afterwards: a worker is only kept for the next file of its project.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
