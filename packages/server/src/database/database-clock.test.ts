import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@lockstep/testing/client'
import { endProcesses, eventually, type ServiceProcess, startServiceProcess } from '@lockstep/testing/processes'
import { MARK, PASSWORD, startService, type TestBoard, type TestService } from '@lockstep/testing/service'
import { openSocket } from '@lockstep/testing/socket'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Tokens } from '../security/tokens.ts'

const SECRET = `${MARK}-secret-of-the-clock-tests-0123456789`
const METRICS_TOKEN = `${MARK}-metrics-0123456789`
const tokensOf = (lifetimeSeconds: number) => new Tokens({ secret: SECRET, algorithm: 'HS256', lifetimeSeconds })
const nowSeconds = () => Math.floor(Date.now() / 1_000)

let service: TestService
let board: TestBoard
let folder: string
beforeAll(async () => {
  service = await startService({ JWT_SECRET: SECRET })
  board = await service.board()
  folder = await mkdtemp(join(tmpdir(), 'clock-'))
})
afterAll(async () => {
  await endProcesses()
  await service.stop()
  await rm(folder, { recursive: true })
})

/** Sets the offset of the fake clock. */
async function setClock(offset: string) {
  await writeFile(join(folder, 'next'), offset)
  await rename(join(folder, 'next'), join(folder, 'clock'))
}
/** An instance with a wrong clock. The clocks of the database and this test are right. */
async function startWithClock(offset: string) {
  const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')
  assert(library, 'apt-get install faketime')
  await setClock(offset)
  return startServiceProcess({
    DATABASE_URL: service.databaseUrl,
    REDIS_URL: '',
    JWT_SECRET: SECRET,
    METRICS_TOKEN,
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: join(folder, 'clock'),
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  })
}
async function skewOf({ baseUrl }: ServiceProcess) {
  const answer = await fetch(`${baseUrl}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  return Number(/^lockstep_clock_skew_seconds (\S+)$/m.exec(await answer.text())?.[1])
}
const linesAbout = ({ output }: ServiceProcess, word: string) =>
  output()
    .split('\n')
    .filter((line) => line.includes(`and the database ${word}`))
    .map((line) => JSON.parse(line) as { level: string | number; skewSeconds: number })

test('[AUTH-27] [OBS-14] [OBS-15] tokens and tickets are issued and expire by the database clock, and a skewed instance clock is logged and measured', {
  timeout: 120_000,
}, async () => {
  const { member, id } = board
  const wrong = await startWithClock('+35s')
  const { baseUrl } = wrong
  expect(await skewOf(wrong)).toBeCloseTo(-35, 0)
  expect(linesAbout(wrong, 'differ')).toHaveLength(1)
  expect(linesAbout(wrong, 'differ')[0]?.skewSeconds).toBeCloseTo(-35, 0)

  const goesOn = async () => {
    const api = new Client(baseUrl)
    api.token = (await api.call('login', { body: { username: member.email, password: PASSWORD } })).access_token
    await api.call('getMe', {})
    api.token = (await api.call('refresh', {})).access_token
    const { ticket } = await api.call('createTicket', {})
    const socket = openSocket(api, id, { token: ticket })
    await socket.next('user_joined')
    return socket
  }
  const ends = async () => {
    const issued_at = nowSeconds()
    const api = new Client(baseUrl, await tokensOf(3).issue(member.id, issued_at))
    await api.call('getMe', {})
    using socket = openSocket(api, id)
    await socket.next('user_joined')
    const { code } = await socket.closed
    // Checked once per second.
    expect([code, Math.abs(Date.now() / 1_000 - (issued_at + 3.5)) < 2.5]).toEqual([1008, true])
    await expect.poll(nowSeconds).toBeGreaterThanOrEqual(issued_at + 3)
    for (const name of ['getMe', 'refresh', 'createTicket'] as const)
      expect(await api.fail(name, {})).toMatchObject({ status: 401, code: 'not_authenticated' })
    expect((await openSocket(api, id).closed).code).toBe(1008)
    // A ticket that was issued half a minute ago, for a token that is still valid.
    const tokens = tokensOf(3600)
    const credential = await tokens.verify(await tokens.issue(member.id, nowSeconds()))
    assert(credential)
    const late = await tokens.issueTicket(credential, nowSeconds() - 31)
    expect((await openSocket(api, id, { token: late }).closed).code).toBe(1008)
  }
  const patient = await goesOn()
  await ends()

  await setClock('+3700s')
  await eventually('the skew is measured', async () => Math.round(await skewOf(wrong)) === -3_700)
  ;(await goesOn()).terminate()

  await setClock('-60s')
  await eventually('the skew is measured', async () => Math.round(await skewOf(wrong)) === 60)
  ;(await goesOn()).terminate()
  await ends()

  // It is logged when the skew appears and when it is gone, and not in between.
  await setClock('+0s')
  await eventually('the clocks agree', () => linesAbout(wrong, 'agree').length === 1)
  await setClock('-30s')
  await eventually('the skew is told again', () => linesAbout(wrong, 'differ').length === 2)
  expect(linesAbout(wrong, 'differ')[1]?.skewSeconds).toBeCloseTo(30, 0)
  expect(patient.closing).toBeUndefined()
  patient.terminate()
})
