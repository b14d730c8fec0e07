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

const USAGE = `npm run acceptance -- <base URL> [--quick] [--beside <base URL of a second instance>] [--json <file>]

Tries a running service against the specification, row by row, over HTTP and WebSocket alone. It makes users and boards.
--quick leaves out the rows that wait for heartbeats. Ends with 0 when no row failed, with 1 when one did.`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, beside: { type: 'string' }, json: { type: 'string' } },
})
const [baseUrl] = positionals
if (baseUrl === undefined || !URL.canParse(baseUrl)) {
  console.error(USAGE)
  process.exit(2)
}
const started = performance.now()
const results = await runRows(new Service(baseUrl, values.beside), values)
console.log(table(results))
console.log(`${baseUrl}, ${((performance.now() - started) / 1_000).toFixed(1)} s`)
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`)
process.exit(count(results).failed === 0 ? 0 : 1)
