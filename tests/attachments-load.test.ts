import { type Audience, makeAudience, type ProbedService, startProbed } from '@lockstep/testing/load/environment'
import { errorsIn } from '@lockstep/testing/log-errors'
import { endProcesses } from '@lockstep/testing/processes'
import { startService, type TestService } from '@lockstep/testing/service'
import { REDIS } from '@lockstep/testing/template-database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadByTurns, readAtRandom } from './attachments-load/board-loads.ts'
import { sendBrokenForms, sendByteByByte, writeBeforeReading } from './attachments-load/broken-forms.ts'
import {
  countLeftovers,
  type FilesEnvironment,
  MAX_FILE_BYTES,
  makeFilesEnvironment,
} from './attachments-load/environment.ts'
import { sendAtOnce, sendMixedFiles } from './attachments-load/file-traffic.ts'
import { watchSlowFiles } from './attachments-load/slow-files.ts'

const MIB = 2 ** 20
/**
 * Maximum growth of resident memory, independent of the transferred bytes. An upload holds a chunk of 64 KiB that
 * fills, one that is being written, and the last read of its connection; the rest is garbage. 2 to 97 MiB were
 * measured, with 32 and with 100 concurrent files. In memory, 100 files of 10 MiB would be 1000 MiB.
 */
const GROWTH_BYTES = 160 * MIB

let database: TestService
let audience: Audience
let service: ProbedService
let environment: FilesEnvironment
beforeAll(async () => {
  database = await startService()
  audience = await makeAudience(database.sql, 10)
  const settings = { DATABASE_URL: database.databaseUrl, REDIS_URL: REDIS, DATABASE_POOL_SIZE: '5' }
  service = await startProbed(settings)
  environment = await makeFilesEnvironment(service, database.sql, audience)
})
afterAll(async () => {
  environment?.client.close()
  await endProcesses()
  await database.stop()
})

test('[ATT-10] [ATT-4] files of all sizes are downloaded unchanged, and memory does not grow with them', async () => {
  const found = await sendMixedFiles(environment, { files: 40, atOnce: 16, seed: 1 })
  expect(found.broken).toBe(0)
  expect(found.mostRss - found.idleRss).toBeLessThan(GROWTH_BYTES)
  expect(await countLeftovers(database.sql)).toBe(0)
})

test('[ATT-10] concurrent large uploads use bounded memory and do not block the event loop', async () => {
  const found = await sendAtOnce(environment, { files: 10, bytes: MAX_FILE_BYTES, seed: 2 })
  expect(found.broken).toBe(0)
  expect(found.mostRss - found.idleRss).toBeLessThan(GROWTH_BYTES)
  // CPU time of the process, because wall-clock time would include other processes of the machine.
  expect(found.held).toBeLessThan(100)
})

test('[ATT-10] slow and stalled clients hold no database connection and little memory, and lose nothing', async () => {
  const size = { clients: 3, rate: 10_000, bytes: MAX_FILE_BYTES, stillMs: 500 }
  const found = await watchSlowFiles(environment, size)
  expect(found).toMatchObject({ busy: 0, in_transaction: 0, lost: 0, hasFinished: true, leftovers: 0 })
  expect(found.keptGrowth).toBeLessThan(8 * MIB)
})

test('[ATT-2] a client that sends far too much before it reads gets a response', async () => {
  expect(await writeBeforeReading(environment, 60_000_000)).toBe(400)
})

test('[ATT-9] [ATT-3] a damaged form is accepted or rejected, and leaves nothing behind', async () => {
  const found = await sendBrokenForms(environment, { forms: 200, atOnce: 8, seed: 3 })
  expect(found).toMatchObject({ serverErrors: [], hangs: [], silent: [], incomplete: 0, leftovers: 0 })
})

test('[ATT-10] single-byte chunks use no more memory than others', async () => {
  const clients = 8
  const { accepted, growth, isSame } = await sendByteByByte(environment, { clients, bytes: 6_000 })
  expect({ accepted, isSame }).toEqual({ accepted: clients, isSame: true })
  expect(growth / clients).toBeLessThan(512 * 1_024)
})

test('[READ-3] [READ-2] [READ-8] an unchanged board is served many times faster than one that is built, a changed one several times, and neither is stale', async () => {
  const size = { cards: 1_000, rounds: 10 }
  const found = await loadByTurns(service, database.sql, audience, size)
  expect(found).toMatchObject({ isFresh: true, isNameFresh: true })
  // The 10th percentile, because on a busy machine a small response mostly waits for a CPU.
  expect(found.built.p10 / found.unchanged.p10).toBeGreaterThan(10)
  // Measured: 2.9 and more.
  expect(found.built.p10 / found.updated.p10).toBeGreaterThan(1.5)
})

test('[READ-3] random reads never make the board cache exceed its limit', async () => {
  const size = { boards: 30, readers: 16, reads: 300, boundBytes: 30_000, seed: 4 }
  const found = await readAtRandom(database.databaseUrl, database.sql, audience, size)
  expect(found.allBytes).toBeGreaterThan(2 * size.boundBytes)
  expect(found.mostBytes).toBeLessThanOrEqual(size.boundBytes)
  expect(found.builds).toBeLessThan(found.reads)
  expect(found.stale).toBe(0)
})

test('[ATT-9] the service logged no error meanwhile', () => {
  expect(errorsIn(service.output())).toEqual([])
})
