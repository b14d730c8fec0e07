import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { FlakyReporter } from './scripts/flaky-reporter.ts'

// Shared by the many processes that tests start: compiling is most of their start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts', 'bench/**/*.test.ts'],
    // The longest journeys run with `JOURNEYS=all` only.
    exclude: process.env['JOURNEYS'] === 'all' ? [] : ['tests/web/{axe,files,layout,speed,undo}.test.ts'],
    globalSetup: ['packages/testing/src/template-database.ts', 'scripts/build-web.ts'],
    reporters: ['default', ['json', { outputFile: '.test-output/report.json' }], new FlakyReporter()],
    pool: 'forks',
    maxWorkers: 3,
    // Generous: machines are shared, and a test that waits for nothing ends at once.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
