import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { scanOutput } from './secrets.ts'

const OUTPUT = '.test-output'
const REPORT = `${OUTPUT}/report.json`

/** Runs the tests, then scans all output of the service for secrets. Arguments are passed to Vitest. */
rmSync(OUTPUT, { recursive: true, force: true })
// On a shared machine a process may be paused for seconds. Tests that pass only on the retry are listed at the end.
const args = ['run', '--retry', '1', ...process.argv.slice(2)]
// The service is started hundreds of times: cache the compiled code.
const env = { ...process.env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled') }
const { status } = spawnSync('vitest', args, { stdio: 'inherit', env })
const report = existsSync(REPORT) ? JSON.parse(readFileSync(REPORT, 'utf8')) : { numPassedTests: 0, numFailedTests: 0 }
let { numPassedTests: passed, numFailedTests: failed } = report as { numPassedTests: number; numFailedTests: number }

const { files, lines, findings } = existsSync(OUTPUT) ? scanOutput(OUTPUT) : { files: 0, lines: 0, findings: [] }
console.log(`Scanned ${lines} lines of logs and responses in ${files} files for secrets: ${findings.length} found`)
for (const finding of findings.slice(0, 20)) console.log(`  ${finding}`)
if (findings.length > 0) failed++
else passed++

// A file that failed to load, or an error outside a test, also counts as a failure.
if (status !== 0 && failed === 0) failed++
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
