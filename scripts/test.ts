import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { scanOutput } from './secrets.ts'

const OUTPUT = '.test-output'
const REPORT = `${OUTPUT}/report.json`

/** Runs the tests, then looks for secrets in all that the service said meanwhile. Arguments go to the runner. */
rmSync(OUTPUT, { recursive: true, force: true })
// On a shared machine a process may stand still for seconds. What needs the second attempt is listed at the end.
const args = ['run', '--retry', '1', ...process.argv.slice(2)]
// The service is started some hundred times: what the first start compiles, the others read.
const env = { ...process.env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/compiled') }
const { status } = spawnSync('vitest', args, { stdio: 'inherit', env })
const report = existsSync(REPORT) ? JSON.parse(readFileSync(REPORT, 'utf8')) : { numPassedTests: 0, numFailedTests: 0 }
let { numPassedTests: passed, numFailedTests: failed } = report as { numPassedTests: number; numFailedTests: number }

const { files, lines, findings } = existsSync(OUTPUT) ? scanOutput(OUTPUT) : { files: 0, lines: 0, findings: [] }
console.log(`Scanned ${lines} lines of logs and answers in ${files} files for secrets: ${findings.length} found`)
for (const finding of findings.slice(0, 20)) console.log(`  ${finding}`)
if (findings.length > 0) failed++
else passed++

// A file that could not be loaded, or an error outside a test, counts too.
if (status !== 0 && failed === 0) failed++
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
