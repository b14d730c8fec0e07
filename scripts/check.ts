import { spawnSync } from 'node:child_process'
import { brokenImports, readImports } from './architecture.ts'
import { checkMigrations } from './migrations.ts'
import { checkRepositoryRules } from './rules.ts'
import { checkSizes } from './sizes.ts'
import { missingPaths } from './suites.ts'

/** A step of the check: a command that must succeed, or a function that returns problems. */
type Step = [name: string, run: string[] | (() => string[])]

const steps: Step[] = [
  ['format and lint', ['biome', 'ci', '.']],
  ['lint with types', ['oxlint', '--type-aware', '--deny-warnings']],
  ['types', ['tsc', '-p', '.']],
  ['types of the web client', ['tsc', '-p', 'packages/web']],
  ['architecture', () => brokenImports(readImports())],
  ['rules and tests', checkRepositoryRules],
  ['migrations', () => checkMigrations()],
  ['paths of the test suites', () => missingPaths()],
  ['generated files', ['node', 'scripts/generate.ts', '--check']],
  ['sizes', checkSizes],
  ['published client', ['node', 'scripts/build-client.ts', '--check']],
  ['published command line', ['node', 'scripts/build-cli.ts', '--check']],
  ['dead code', ['knip']],
  [
    'API documents',
    ['redocly', 'lint', 'docs/api/openapi.json', 'docs/api/asyncapi.json', '--config', 'docs/api/redocly.yaml'],
  ],
  ['dependency audit', audit],
]

/** `npm audit`. Passes with a message if the registry offers no audits, or without a network. */
function audit(): string[] {
  const { stdout } = spawnSync('npm', ['audit', '--omit', 'dev', '--audit-level', 'high', '--json'], {
    encoding: 'utf8',
  })
  try {
    const { metadata } = JSON.parse(stdout) as { metadata?: { vulnerabilities: { high: number; critical: number } } }
    if (!metadata) throw new Error('no report')
    const { high, critical } = metadata.vulnerabilities
    return high + critical === 0 ? [] : [`${high} high and ${critical} critical advisories: see npm audit`]
  } catch {
    console.log('  (skipped: the registry offers no audits)')
    return []
  }
}

let failed = 0
for (const [name, run] of steps) {
  const started = performance.now()
  const problems = typeof run === 'function' ? run() : runCommand(run)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${problems.length === 0 ? '✓' : '✗'} ${name} (${seconds} s)`)
  for (const problem of problems) console.log(`  ${problem}`)
  if (problems.length > 0) failed++
}
process.exit(failed === 0 ? 0 : 1)

function runCommand([command, ...args]: string[]): string[] {
  const env = { ...process.env, NO_COLOR: '1', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { status, stdout, stderr } = spawnSync(command as string, args, { encoding: 'utf8', env })
  return status === 0 ? [] : `${stdout}${stderr}`.trimEnd().split('\n')
}
