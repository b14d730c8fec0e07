import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import './part-1-what-it-does.ts'
import './part-2-resources.ts'
import './part-4-accounts.ts'
import './part-4-boards.ts'
import './part-4-cards.ts'
import './part-4-checklists.ts'
import './part-4-attachments.ts'
import './part-4-automations.ts'
import './part-4-realtime.ts'
import './part-5-authentication.ts'
import './part-5-access.ts'
import './part-6-kinds.ts'
import './part-6-delivery.ts'
import './part-6-socket.ts'
import './part-7-errors.ts'
import './part-8-limits.ts'
import './part-9-versioning.ts'
import './decided.ts'
import { runRows } from './run.ts'
import { Service } from './service.ts'
import { count, table } from './table.ts'

const USAGE = `npm run acceptance -- <base URL> [options]

Tries a running service against the specification, row by row, over HTTP and WebSocket alone. It makes users and boards, so the
service needs high rate limits: for this one, development settings or RATE_LIMITS=off.
Ends with 0 when no row failed, with 1 when one did.

  --quick          leave out the rows that wait for heartbeats
  --beside <url>   base URL of a second instance
  --json <file>    also write the results to a file
  --version        print the version
  --help           show this help`

const { positionals, values } = readArguments()
const [baseUrl] = positionals
if (baseUrl === undefined || !URL.canParse(baseUrl)) exitWith(2, 'Usage: npm run acceptance -- <base URL> [options]')
const started = performance.now()
const results = await runRows(new Service(baseUrl, values.beside), values)
console.log(table(results))
console.log(`${baseUrl}, ${((performance.now() - started) / 1_000).toFixed(1)} s`)
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`)
process.exit(count(results).failed === 0 ? 0 : 1)

/** Not the service's own parser, because the suite imports nothing from the code under test. */
function readArguments() {
  const flag = { type: 'boolean', default: false } as const
  const options = {
    quick: flag,
    help: flag,
    version: flag,
    beside: { type: 'string' },
    json: { type: 'string' },
  } as const
  try {
    const read = parseArgs({ allowPositionals: true, options })
    if (read.values.help) exitWith(0, USAGE)
    if (read.values.version) exitWith(0, JSON.parse(readFileSync('package.json', 'utf8')).version)
    return read
  } catch (error) {
    return exitWith(2, `${(error as Error).message.split('. ')[0]}. See --help.`)
  }
}

function exitWith(code: number, text: string): never {
  console[code === 0 ? 'log' : 'error'](text)
  process.exit(code)
}
